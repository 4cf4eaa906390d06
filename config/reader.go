package config

import (
	"fmt"
	"minibus/internal/jsontree"
	"strconv"
	"strings"
	"time"

	"minibus/internal/printable"
)

// reader reads the values of nodes and collects findings about them.
type reader struct {
	file   string
	report *Report

	profile  Profile // the chosen profile
	limits   limits  // its ranges
	emulator limits  // those of Microsoft's emulator, for the note
	relaxed  limits  // those of the widest profile, for fixes
	choose   string  // how to choose the widest profile
	strict   bool    // unknown keys are errors

	beyondEmulator int      // number of values that Microsoft's emulator would refuse
	examples       []string // paths of the first ones
}

func (r *reader) add(s Severity, n *node, found, allowed, fix string) {
	r.report.add(Finding{Severity: s, File: r.file, Line: n.Pos.Line, Column: n.Pos.Column, Path: n.Path,
		Found: found, Allowed: allowed, Fix: fix})
}

func (r *reader) fail(n *node, found, allowed, fix string) { r.add(Error, n, found, allowed, fix) }

func (r *reader) warn(n *node, found, fix string) { r.add(Warning, n, found, "", fix) }

// object reports whether n is an object, and adds an error if it is something else; nil is neither.
func (r *reader) object(n *node) bool {
	if n == nil {
		return false
	}
	if n.Kind != kindObject {
		r.fail(n, "found "+n.Describe(), "an object, { ... }", "")
		return false
	}
	return true
}

// array returns the items of n; an absent section has none.
func (r *reader) array(n *node) []*node {
	if n == nil {
		return nil
	}
	if n.Kind != kindArray {
		fix := ""
		if n.Kind == kindObject {
			fix = "put [ ] around it"
		}
		r.fail(n, "found "+n.Describe(), "an array, [ ... ]", fix)
		return nil
	}
	return n.Items
}

// keys warns of unknown keys (a setting under a misspelt key silently keeps its default), of duplicate keys, and of
// the keys in inert, which are known but have no effect. Where the reader is strict, the first two are errors.
func (r *reader) keys(n *node, known []string, inert ...string) {
	seen := map[string]bool{}
	for _, m := range n.Members {
		lower := strings.ToLower(m.Key)
		at := &node{Pos: m.Pos, Path: jsontree.ChildPath(n.Path, m.Key)}
		if strings.HasPrefix(lower, "$") || strings.HasPrefix(lower, "//") {
			continue // $schema and comments in the form of keys
		}
		switch {
		case seen[lower] && r.strict:
			r.fail(at, "found the key "+quote(m.Key)+" a second time", "", "leave one of them out")
		case seen[lower]:
			r.warn(at, "found the key "+quote(m.Key)+" a second time", "the last one counts")
		case containsFold(inert, m.Key):
			r.warn(at, "this property is known and has no effect here", "")
		case !containsFold(known, m.Key):
			r.unknownKey(at, m.Key, known)
		}
		seen[lower] = true
	}
}

func (r *reader) unknownKey(at *node, key string, known []string) {
	fix := "known here: " + strings.Join(known, ", ")
	if guess := printable.Closest(key, known); guess != "" {
		fix = "did you mean " + guess + "?"
	}
	found := "found the unknown key " + quote(key)
	if r.strict {
		r.fail(at, found, "", fix)
		return
	}
	r.warn(at, found+", it is ignored", fix)
}

func (r *reader) text(n *node, fallback string) string {
	if n == nil {
		return fallback
	}
	if n.Kind != kindString {
		r.fail(n, "found "+n.Describe(), "text in double quotes", "")
		return fallback
	}
	return n.Text
}

func (r *reader) boolean(n *node) bool {
	if n == nil {
		return false
	}
	if n.Kind != kindBool {
		fix := ""
		if n.Kind == kindString {
			fix = "write it without quotes"
		}
		r.fail(n, "found "+n.Describe(), "true or false", fix)
	}
	return n.Bool
}

// optional is boolean for a setting whose default is not false; nil means not given.
func (r *reader) optional(n *node) *bool {
	if n == nil {
		return nil
	}
	v := r.boolean(n)
	return &v
}

// duration reads a duration in the range that of picks from a profile.
func (r *reader) duration(n *node, fallback time.Duration, of func(limits) durationRange) time.Duration {
	if n == nil {
		return fallback
	}
	allowed := of(r.limits)
	if n.Kind != kindString {
		r.fail(n, "found "+n.Describe(), isoForm+allowed.String(), "")
		return fallback
	}
	v, err := ParseDuration(n.Text)
	switch {
	case err != nil:
		fix := ""
		if guess := suggestDuration(n.Text); guess != "" {
			fix = "write " + guess
		}
		r.fail(n, "found "+n.Describe(), isoForm+allowed.String(), fix)
		return fallback
	case !allowed.takes(v):
		r.fail(n, "found "+n.Describe(), allowed.String(), r.relaxedFix(of(r.relaxed).Contains(v)))
		return fallback
	}
	r.beyond(n, of(r.emulator).Contains(v))
	return v
}

const isoForm = "an ISO 8601 duration such as PT1M; "

// integer reads a whole number in the range that of picks from a profile.
func (r *reader) integer(n *node, fallback int64, of func(limits) intRange) int64 {
	if n == nil {
		return fallback
	}
	allowed := of(r.limits)
	v, ok := jsontree.Whole(n)
	switch {
	case !ok:
		fix := ""
		if _, err := strconv.ParseInt(strings.TrimSpace(n.Text), 10, 64); n.Kind == kindString && err == nil {
			fix = "write it without quotes"
		}
		r.fail(n, "found "+n.Describe(), allowed.String(), fix)
		return fallback
	case !allowed.Contains(v):
		r.fail(n, "found "+n.Describe(), allowed.String(), r.relaxedFix(of(r.relaxed).Contains(v)))
		return fallback
	}
	r.beyond(n, of(r.emulator).Contains(v))
	return v
}

// unique adds an error for a name that was used before in the same place, without regard to case.
func (r *reader) unique(seen map[string]*node, name string, at *node, what string) {
	if name == "" {
		return // already reported
	}
	key := strings.ToLower(name)
	if first := seen[key]; first != nil {
		found := fmt.Sprintf("found the %s %s a second time", what, quote(name))
		if line := first.Pos.Line; line > 0 {
			found += fmt.Sprintf(" (first on line %d)", line)
		}
		r.fail(at, found, "names that differ in more than case", "rename or remove one of the two")
		return
	}
	seen[key] = at
}

// quota adds an error for a count above the profile's ceiling; 0 means none.
func (r *reader) quota(n *node, count, most int, what string) {
	if n == nil || most == 0 || count <= most {
		return
	}
	r.fail(n, fmt.Sprintf("found %d %s", count, what), fmt.Sprintf("up to %d", most), r.relaxedFix(true))
}

// relaxedFix suggests the widest profile if that helps.
func (r *reader) relaxedFix(helps bool) string {
	if helps {
		return "change it, or " + r.choose
	}
	return ""
}

// beyond counts a value that works here but not in Microsoft's emulator (DEC-5: one log line).
func (r *reader) beyond(n *node, inside bool) {
	if inside {
		return
	}
	r.beyondEmulator++
	if len(r.examples) < 3 {
		r.examples = append(r.examples, n.Path)
	}
}

// noteBeyond reports the values counted by beyond, all in one line.
func (r *reader) noteBeyond() {
	if r.beyondEmulator == 0 {
		return
	}
	examples := strings.Join(r.examples, ", ")
	if r.beyondEmulator > len(r.examples) {
		examples += ", ..."
	}
	found := fmt.Sprintf("accepted %s that Microsoft's emulator does not take (%s)",
		plural(r.beyondEmulator, "value"), examples)
	r.report.add(Finding{Severity: Note, File: r.file, Found: found})
}
