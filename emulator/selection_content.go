package emulator

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"minibus/emulator/filter"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// fits reports whether a message is what is selected, as far as that shows without its content.
func (s *selectionMatcher) fits(e *entry) bool {
	switch {
	case s.want.Before != 0 && e.enqueued >= s.want.Before, s.want.After != 0 &&
		e.enqueued < s.want.After, s.want.Reason != nil && e.extras().reason != *s.want.Reason:
		return false
	case s.want.DueBefore != 0 && (e.state != Scheduled || e.extras().due >= s.want.DueBefore), s.want.DueAfter != 0 &&
		(e.state != Scheduled || e.extras().due < s.want.DueAfter):
		return false
	case s.want.SessionID != nil && e.session != nil:
		return SameSession(e.session.id, *s.want.SessionID)
	}
	return true
}

// reads reports whether only the content of a message shows that it is selected.
func (s *selectionMatcher) reads() bool {
	return s.matcher != nil || s.want.Text != "" || s.want.SessionID != nil &&
		(s.sub != Main || !s.q.options.RequiresSession)
}

// matching leaves those messages whose content is selected.
func (s *selectionMatcher) matching(found []*Delivery) ([]*Delivery, error) {
	if !s.reads() || len(found) == 0 {
		return found, nil
	}
	if err := s.q.bodies.readAll(found); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(d *Delivery) bool { return d.body == nil || !s.selects(d) }), nil
}

// readAll reads the bodies that are not in memory, and waits for them. They do not stay there. A message that was
// removed meanwhile has none.
func (b *bodies) readAll(ds []*Delivery) error {
	var missing []*Delivery
	for _, d := range ds {
		if d.body == nil {
			missing = append(missing, d)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return await(func(done Completion) { b.read(missing, done.Completed) })
}

// selects reports whether the content of a message is what is selected.
func (s *selectionMatcher) selects(d *Delivery) bool {
	seen, err := d.filterMessage()
	if err != nil {
		return false
	}
	info, err := seen.m.Info()
	if err != nil {
		return false
	}
	if s.want.SessionID != nil && (!info.HasGroupID || !SameSession(info.GroupID, *s.want.SessionID)) {
		return false
	}
	if s.want.Text != "" && !contains(&seen.m, s.want.Text) {
		return false
	}
	if s.matcher == nil {
		return true
	}
	seen.info = &info
	answer, err := s.matcher.Eval(&seen)
	return err == nil && answer == filter.True
}

// propertyTexts is how many fields the properties section has.
const propertyTexts = 13

// containsFold reports whether b contains want, which is in lower case, in letters of any case. It makes no copy of b
// if want is ASCII: bodies are large and many.
func containsFold(b, want []byte) bool {
	if len(want) == 0 || bytes.ContainsFunc(want, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return bytes.Contains(bytes.ToLower(b), want)
	}
	lower, upper := want[0], byte(unicode.ToUpper(rune(want[0])))
	nextLower, nextUpper := -1, -1 // where the first letter is next in each case, from i on
	for i := 0; i+len(want) <= len(b); i++ {
		nextLower, nextUpper = nextByte(b, lower, i, nextLower), nextByte(b, upper, i, nextUpper)
		i = min(nextLower, nextUpper)
		if i+len(want) > len(b) {
			return false
		}
		if equalFoldASCII(b[i:i+len(want)], want) {
			return true
		}
	}
	return false
}

// nextByte finds the first c in b from i on, and returns len(b) without one. known is the result for an earlier i.
func nextByte(b []byte, c byte, i, known int) int {
	if known >= i {
		return known
	}
	if n := bytes.IndexByte(b[i:], c); n >= 0 {
		return i + n
	}
	return len(b)
}

// equalFoldASCII reports whether b is want, which is in lower case.
func equalFoldASCII(b, want []byte) bool {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != want[i] {
			return false
		}
	}
	return true
}

// contains reports whether a text, in letters of any case, is in the body of a message, in a property or in the name
// of one.
func contains(m *message.Message, text string) bool {
	want := bytes.ToLower([]byte(text))
	has := func(b []byte) bool { return containsFold(b, want) }
	for i := range propertyTexts {
		if s, ok := m.Field(i).TextOf(); ok && has([]byte(s)) {
			return true
		}
	}
	for e := m.UserProperties(); e.Next(); {
		if s, ok := e.Value().TextOf(); has(e.Key()) || ok && has([]byte(s)) {
			return true
		}
	}
	for r := amqp.NewReader(m.Bytes(m.Body)); r.Len() > 0; {
		if _, _, err := r.Descriptor(); err != nil {
			return false
		}
		raw, err := r.Raw()
		if err != nil {
			return false
		}
		if has(contentOf(raw)) {
			return true
		}
	}
	return false
}

// contentOf returns the bytes of an encoded text or binary without its type and length; others as they are encoded.
func contentOf(raw []byte) []byte {
	switch raw[0] {
	case amqp.CodeBinary8, amqp.CodeString8, amqp.CodeSymbol8:
		return raw[2:]
	case amqp.CodeBinary32, amqp.CodeString32, amqp.CodeSymbol32:
		return raw[5:]
	}
	return raw
}
