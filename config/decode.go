package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// decoder turns nodes into entities and collects findings.
type decoder struct {
	file   string
	report *Report

	profile  Limits // the chosen profile
	limits   limits // its ranges
	emulator limits // those of Microsoft's emulator, for the note
	relaxed  limits // those of the widest profile, for cures
	choose   string // how to choose the widest profile
	strict   bool   // unknown keys are errors

	beyondEmulator int      // number of values that Microsoft's emulator would refuse
	examples       []string // paths of the first ones
	entities       []*entity
	names          map[string]*entity // queues and topics by lower-case path
	policies       map[string]*node   // of the namespace, by lower-case name
	named          bool               // the namespace has got a name
}

func newDecoder(profile Limits) *decoder {
	return &decoder{report: &Report{}, profile: profile, limits: profile.table(), emulator: LimitsEmulator.table(),
		relaxed: LimitsRelaxed.table(), choose: "start with --limits relaxed", names: map[string]*entity{}, policies: map[string]*node{}}
}

func (d *decoder) add(s Severity, n *node, found, allowed, cure string) {
	d.report.add(Finding{Severity: s, File: d.file, Line: n.pos.line, Column: n.pos.column, Path: n.path,
		Found: found, Allowed: allowed, Cure: cure})
}

func (d *decoder) fail(n *node, found, allowed, cure string) { d.add(Error, n, found, allowed, cure) }

func (d *decoder) warn(n *node, found, cure string) { d.add(Warning, n, found, "", cure) }

// object reports whether n is an object, and adds an error if it is something else; nil is neither.
func (d *decoder) object(n *node) bool {
	if n == nil {
		return false
	}
	if n.kind != kindObject {
		d.fail(n, "found "+n.describe(), "an object, { ... }", "")
		return false
	}
	return true
}

// array returns the items of n; an absent section has none.
func (d *decoder) array(n *node) []*node {
	if n == nil {
		return nil
	}
	if n.kind != kindArray {
		cure := ""
		if n.kind == kindObject {
			cure = "put [ ] around it"
		}
		d.fail(n, "found "+n.describe(), "an array, [ ... ]", cure)
		return nil
	}
	return n.items
}

// keys warns of unknown keys (a setting under a misspelt key silently keeps its default), of duplicate keys, and of the keys in
// inert, which are known but have no effect.
func (d *decoder) keys(n *node, known []string, inert ...string) {
	seen := map[string]bool{}
	for _, m := range n.members {
		lower := strings.ToLower(m.key)
		at := &node{pos: m.pos, path: childPath(n.path, m.key)}
		if strings.HasPrefix(lower, "$") || strings.HasPrefix(lower, "//") {
			continue // $schema and comments in the form of keys
		}
		switch {
		case seen[lower]:
			d.warn(at, "found the key "+strconv.Quote(clip(m.key))+" a second time", "the last one counts")
		case containsFold(inert, m.key):
			d.warn(at, "this property is known and has no effect here", "")
		case !containsFold(known, m.key):
			d.unknownKey(at, m.key, known)
		}
		seen[lower] = true
	}
}

func (d *decoder) unknownKey(at *node, key string, known []string) {
	cure := "known here: " + strings.Join(known, ", ")
	if guess := closest(key, known); guess != "" {
		cure = "did you mean " + guess + "?"
	}
	found := "found the unknown key " + strconv.Quote(clip(key))
	if d.strict {
		d.fail(at, found, "", cure)
		return
	}
	d.warn(at, found+", it is ignored", cure)
}

func (d *decoder) text(n *node, fallback string) string {
	if n == nil {
		return fallback
	}
	if n.kind != kindString {
		d.fail(n, "found "+n.describe(), "text in double quotes", "")
		return fallback
	}
	return n.text
}

func (d *decoder) boolean(n *node) bool {
	if n == nil {
		return false
	}
	if n.kind != kindBool {
		cure := ""
		if n.kind == kindString {
			cure = "write it without quotes"
		}
		d.fail(n, "found "+n.describe(), "true or false", cure)
	}
	return n.boolean
}

// optional is boolean for a setting whose default is not false; nil means not given.
func (d *decoder) optional(n *node) *bool {
	if n == nil {
		return nil
	}
	v := d.boolean(n)
	return &v
}

// duration reads a duration in the range that of picks from a profile.
func (d *decoder) duration(n *node, fallback time.Duration, of func(limits) durationRange) time.Duration {
	if n == nil {
		return fallback
	}
	allowed := of(d.limits)
	if n.kind != kindString {
		d.fail(n, "found "+n.describe(), isoForm+allowed.String(), "")
		return fallback
	}
	v, err := ParseDuration(n.text)
	switch {
	case err != nil:
		cure := ""
		if guess := suggestDuration(n.text); guess != "" {
			cure = "write " + guess
		}
		d.fail(n, "found "+n.describe(), isoForm+allowed.String(), cure)
		return fallback
	case !allowed.takes(v):
		d.fail(n, "found "+n.describe(), allowed.String(), d.relaxedCure(of(d.relaxed).Contains(v)))
		return fallback
	}
	d.beyond(n, of(d.emulator).Contains(v))
	return v
}

const isoForm = "an ISO 8601 duration such as PT1M; "

// integer reads a whole number in the range that of picks from a profile.
func (d *decoder) integer(n *node, fallback int64, of func(limits) intRange) int64 {
	if n == nil {
		return fallback
	}
	allowed := of(d.limits)
	v, ok := wholeNumber(n)
	switch {
	case !ok:
		cure := ""
		if _, err := strconv.ParseInt(strings.TrimSpace(n.text), 10, 64); n.kind == kindString && err == nil {
			cure = "write it without quotes"
		}
		d.fail(n, "found "+n.describe(), allowed.String(), cure)
		return fallback
	case !allowed.Contains(v):
		d.fail(n, "found "+n.describe(), allowed.String(), d.relaxedCure(of(d.relaxed).Contains(v)))
		return fallback
	}
	d.beyond(n, of(d.emulator).Contains(v))
	return v
}

// relaxedCure suggests the widest profile if that helps.
func (d *decoder) relaxedCure(helps bool) string {
	if helps {
		return "change it, or " + d.choose
	}
	return ""
}

// wholeNumber reads 10, 10.0 and 1e1.
func wholeNumber(n *node) (int64, bool) {
	if n.kind != kindNumber {
		return 0, false
	}
	if v, err := strconv.ParseInt(n.text, 10, 64); err == nil {
		return v, true
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil || f > 1<<53 || f < -(1<<53) || f != math.Trunc(f) {
		return 0, false
	}
	return int64(f), true
}

// beyond counts a value that works here but not in Microsoft's emulator (DEC-5: one log line).
func (d *decoder) beyond(n *node, inside bool) {
	if inside {
		return
	}
	d.beyondEmulator++
	if len(d.examples) < 3 {
		d.examples = append(d.examples, n.path)
	}
}

// noteBeyond reports the values counted by beyond, all in one line.
func (d *decoder) noteBeyond() {
	if d.beyondEmulator == 0 {
		return
	}
	examples := strings.Join(d.examples, ", ")
	if d.beyondEmulator > len(d.examples) {
		examples += ", ..."
	}
	d.report.add(Finding{Severity: Note, File: d.file,
		Found: fmt.Sprintf("accepted %d values that Microsoft's emulator does not take (%s)", d.beyondEmulator, examples)})
}
