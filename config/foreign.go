package config

import (
	"strconv"
	"strings"

	"minibus/emulator"
)

// Microsoft's emulator ignores the keys that only Minibus reads, whatever their values are, and files made for it have
// them in the shape that templates of Azure or other tools give them. The functions here read a value in such a shape
// as what it means, or leave it out, with a warning. They leave every other value as it is, and all of them with
// another profile than the widest one and in what a program writes: their faults are errors.

const ignored = "Microsoft's emulator ignores this key"

// lenient reports whether a file may have what Microsoft's emulator ignores.
func (r *reader) lenient() bool { return !r.strict && r.profile == ProfileRelaxed }

// instead warns that another value is taken for n, and returns that.
func (r *reader) instead(n *node, allowed string, k kind, text string) *node {
	r.add(Warning, n, "found "+n.Describe(), allowed, text+" is taken instead, since "+ignored)
	return &node{Kind: k, Text: text, Bool: text == "true", Pos: n.Pos, Path: n.Path}
}

// leaveOut warns that n counts as absent.
func (r *reader) leaveOut(n *node, allowed string) *node {
	r.instead(n, allowed, kindNull, "the default")
	return nil
}

// ours returns n if it has the kind that a key of ours needs.
func (r *reader) ours(n *node, k kind, allowed string) *node {
	if n == nil || n.Kind == k || !r.lenient() {
		return n
	}
	return r.leaveOut(n, allowed)
}

func (r *reader) ourText(n *node) *node { return r.ours(n, kindString, "text in double quotes") }

// ourBoolean also takes true and false as text.
func (r *reader) ourBoolean(n *node) *node {
	const allowed = "true or false"
	if n != nil && n.Kind == kindString && r.lenient() {
		if word := known([]string{"true", "false"}, strings.TrimSpace(n.Text)); word != "" {
			return r.instead(n, allowed, kindBool, word)
		}
	}
	return r.ours(n, kindBool, allowed)
}

// ourInteger also takes a number as text.
func (r *reader) ourInteger(n *node, of func(limits) intRange) *node {
	allowed := of(r.limits)
	if n != nil && n.Kind == kindString && r.lenient() {
		if v, err := strconv.ParseInt(strings.TrimSpace(n.Text), 10, 64); err == nil && allowed.Contains(v) {
			return r.instead(n, allowed.String(), kindNumber, strconv.FormatInt(v, 10))
		}
	}
	return r.ours(n, kindNumber, allowed.String())
}

// ourDuration also takes durations of other forms, and the shortest one of the range for a shorter one.
func (r *reader) ourDuration(n *node, of func(limits) durationRange) *node {
	allowed := of(r.limits)
	if n == nil || n.Kind != kindString || !r.lenient() {
		return r.ours(n, kindString, isoForm+allowed.String())
	}
	form, text := "", n.Text
	if _, err := ParseDuration(text); err != nil {
		form, text = isoForm, suggestDuration(text)
	}
	v, err := ParseDuration(text)
	switch {
	case err != nil:
		return r.leaveOut(n, form+allowed.String())
	case v < allowed.Least:
		text = FormatDuration(allowed.Least)
	case form == "":
		return n
	}
	return r.instead(n, form+allowed.String(), kindString, text)
}

// ourStatus also takes the states that Azure has beyond those that an entity can be given.
func (r *reader) ourStatus(n *node, allowed []string) *node {
	others := []string{"Enabled", "Unknown", "Creating", "Deleting", "Renaming", "Restoring"}
	if n != nil && n.Kind == kindString && r.lenient() && containsFold(others, n.Text) {
		return r.instead(n, strings.Join(allowed, ", "), kindString, string(emulator.StatusActive))
	}
	return r.ours(n, kindString, strings.Join(allowed, ", "))
}

// ourRules returns an array with those authorization rules that have a key or the name of one. Templates have neither.
func (r *reader) ourRules(n *node) *node {
	ours := func(item *node) bool {
		named := item.Get("KeyName") != nil || item.Get("PrimaryKey") != nil || item.Get("SecondaryKey") != nil
		return named || item.Kind != kindObject
	}
	return r.ourItems(n, ours, "found an authorization rule without KeyName and keys", "")
}

// ourTexts returns an array with those items that are text.
func (r *reader) ourTexts(n *node) *node {
	ours := func(item *node) bool { return item.Kind == kindString }
	return r.ourItems(n, ours, "found no text", "text in double quotes")
}

// ourItems returns an array without the items that are not ours. One in which nothing else was counts as absent, since
// an empty array takes away what there is.
func (r *reader) ourItems(n *node, ours func(*node) bool, found, allowed string) *node {
	n = r.ours(n, kindArray, "an array, [ ... ]")
	if n == nil || n.Kind != kindArray || len(n.Items) == 0 || !r.lenient() {
		return n
	}
	rest := *n
	rest.Items = nil
	for _, item := range n.Items {
		if ours(item) {
			rest.Items = append(rest.Items, item)
			continue
		}
		r.add(Warning, item, found, allowed, "it is left out, since "+ignored)
	}
	if len(rest.Items) == 0 {
		return nil
	}
	return &rest
}
