package arm

import (
	"encoding/base64"
	"encoding/binary"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"minibus/internal/jsontree"
)

// secrets are texts that no answer may have: the values that a deployment was given as secure ones, and what its
// template makes of them.
type secrets struct {
	known  map[string]bool
	begins map[string]bool // of those with at least shortest bytes, up to telling bytes
	marks  []uint64        // a bit for each hash of the first bytes of a beginning
	sorted []string        // all that are known; nil: not sorted yet
}

const (
	hidden   = "*******" // stands for a secret in what clients see
	shortest = 4         // of shorter secrets only the whole text is one: they are part of too many words
	telling  = 16        // so many bytes of the beginning of a secret tell it: messages cut what is long
)

// add notes the texts in a value, and what is often made of them.
func (s *secrets) add(v *jsontree.Node) {
	if v.Kind == jsontree.String && v.Unknown == "" && v.Text != "" && !s.known[v.Text] {
		s.note(v.Text)
		if len(v.Text) >= shortest {
			for _, form := range []string{strings.ToUpper(v.Text), strings.ToLower(v.Text), url.QueryEscape(v.Text),
				base64.StdEncoding.EncodeToString([]byte(v.Text))} {
				s.note(form)
			}
		}
	}
	for _, item := range v.Items {
		s.add(item)
	}
	for _, m := range v.Members {
		s.add(m.Value)
	}
}

// note notes a text, as it is and with the escapes of a text in quotation marks.
func (s *secrets) note(text string) {
	if s.known == nil {
		s.known, s.begins, s.marks = make(map[string]bool), make(map[string]bool), make([]uint64, 1<<10)
	}
	quoted := strconv.Quote(text)
	for _, form := range []string{text, quoted[1 : len(quoted)-1]} {
		if s.known[form] {
			continue
		}
		s.known[form] = true
		if at, _ := slices.BinarySearch(s.sorted, form); s.sorted != nil {
			s.sorted = slices.Insert(s.sorted, at, form)
		}
		if len(form) >= shortest {
			s.begins[form[:min(len(form), telling)]] = true
			at, bit := mark(form)
			s.marks[at] |= bit
		}
	}
}

// mark returns where the bit of a text is that has at least shortest bytes.
func mark(text string) (at int, bit uint64) {
	hash := binary.LittleEndian.Uint32([]byte(text[:shortest])) * 2_654_435_761 >> 16
	return int(hash >> 6), 1 << (hash & 63)
}

// begin reports whether a text begins with enough of a secret to tell it.
func (s *secrets) begin(text string) bool {
	if at, bit := mark(text); s.marks[at]&bit == 0 {
		return false
	}
	for n := shortest; n <= min(len(text), telling); n++ {
		if s.begins[text[:n]] {
			return true
		}
	}
	return false
}

// places yields where a text has enough of a secret to tell it.
func (s *secrets) places(text string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for at := 0; at+shortest <= len(text) && len(s.begins) > 0; at++ {
			if s.begin(text[at:]) && !yield(at) {
				return
			}
		}
	}
}

// in reports whether a text is a secret or tells one.
func (s *secrets) in(text string) bool {
	for range s.places(text) {
		return true
	}
	return s.known[text]
}

// shows reports whether a text is a secret or has a whole one in it.
func (s *secrets) shows(text string) bool {
	for at := range s.places(text) {
		if _, whole := s.common(text[at:]); whole {
			return true
		}
	}
	return s.known[text]
}

// without returns a text without the secrets in it.
func (s *secrets) without(text string) string {
	switch {
	case len(s.known) == 0:
		return text
	case s.known[text]:
		return hidden
	}
	open, until := "", 0 // what was looked at, and where the secret ends that is hidden last
	for at := range s.places(text) {
		if at >= until {
			open += text[until:at] + hidden
		}
		most, _ := s.common(text[at:])
		until = max(until, at+most)
	}
	return open + text[until:]
}

// common returns how many bytes at the beginning of a text a secret has too, and whether that is all of the secret.
func (s *secrets) common(text string) (most int, whole bool) {
	if s.sorted == nil {
		for one := range s.known {
			s.sorted = append(s.sorted, one)
		}
		slices.Sort(s.sorted)
	}
	at, _ := slices.BinarySearch(s.sorted, text) // the one with most bytes in common is beside that place
	for _, one := range s.sorted[max(at-1, 0):min(at+1, len(s.sorted))] {
		n := 0
		for n < min(len(one), len(text)) && one[n] == text[n] {
			n++
		}
		if n >= most {
			most, whole = n, n == len(one)
		}
	}
	return most, whole
}

// derive notes the texts that a function has made of a secret, unless they show it as it is known.
func (s *secrets) derive(function string, args []*jsontree.Node, v *jsontree.Node) {
	if len(s.known) == 0 || function == "uniquestring" || function == "guid" { // which nobody turns back
		return
	}
	given, secret := make(map[string]bool), false
	for _, a := range args {
		eachText(a, func(text string) {
			given[text] = true
			secret = secret || s.in(text)
		})
	}
	if !secret {
		return
	}
	eachText(v, func(text string) {
		if len(text) >= shortest && !given[text] && !s.shows(text) {
			s.add(asText(text))
		}
	})
}

// eachText calls a function for the texts in a value that are known.
func eachText(v *jsontree.Node, do func(string)) {
	if v.Kind == jsontree.String && v.Unknown == "" {
		do(v.Text)
	}
	for _, item := range v.Items {
		eachText(item, do)
	}
	for _, m := range v.Members {
		eachText(m.Value, do)
	}
}

// redacted returns an error without secrets.
func (s *deploymentRun) redacted(e *Error) *Error {
	if e == nil || len(s.secrets.known) == 0 {
		return e
	}
	r := *e
	r.Message, r.Target = s.secrets.without(e.Message), s.secrets.without(e.Target)
	r.Details = nil
	for _, d := range e.Details {
		r.Details = append(r.Details, s.redacted(d))
	}
	return &r
}

// redactedNode returns a value without secrets.
func (s *deploymentRun) redactedNode(n *jsontree.Node) *jsontree.Node {
	if n == nil || len(s.secrets.known) == 0 {
		return n
	}
	v := *n
	v.Text, v.Items, v.Members = s.secrets.without(n.Text), nil, nil
	for _, item := range n.Items {
		v.Items = append(v.Items, s.redactedNode(item))
	}
	for _, m := range n.Members {
		m.Value = s.redactedNode(m.Value)
		v.Members = append(v.Members, m)
	}
	return &v
}
