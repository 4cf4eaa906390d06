package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"minibus/internal/printable"
)

// Check reports what encoding/json would pass over in a document: a name that an object has twice, and text that is
// no Unicode. It takes the syntax for right, and stops where it is not.
func Check(text []byte) error {
	_, err := names(text)
	return err
}

// names is Check, and returns the names of the object that the document is.
func names(text []byte) (map[string]bool, error) {
	if !utf8.Valid(text) {
		return nil, errors.New("the text is not UTF-8")
	}
	s := scanner{text: text}
	for s.at < len(text) {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	return s.outer, nil
}

// scanner goes over the strings and brackets of a document.
type scanner struct {
	text []byte
	at   int
	open []map[string]bool // the names in each open object so far; nil: an array
	name bool              // a string that comes is a name

	outer map[string]bool // the names of the outermost object, once it is closed
}

// step goes over one character outside of strings, or over a string.
func (s *scanner) step() error {
	c := s.text[s.at]
	s.at++
	switch c {
	case '"':
		return s.str()
	case '{':
		s.open, s.name = append(s.open, make(map[string]bool)), true
	case '[':
		s.open, s.name = append(s.open, nil), false
	case ',':
		s.name = len(s.open) > 0 && s.open[len(s.open)-1] != nil
	case '}', ']':
		if len(s.open) == 1 {
			s.outer = s.open[0]
		}
		s.open, s.name = s.open[:max(0, len(s.open)-1)], false
	}
	return nil
}

// str goes over a string, whose first quotation mark is behind it already.
func (s *scanner) str() error {
	begin, escaped := s.at, false
	for {
		next := bytes.IndexAny(s.text[s.at:], `"\`)
		if next < 0 {
			s.at = len(s.text)
			return nil
		}
		s.at += next + 1
		if s.text[s.at-1] == '"' {
			break
		}
		escaped = true
		s.at = min(s.at+1, len(s.text)) // what the backslash is for
	}
	raw := s.text[begin : s.at-1]
	if escaped && brokenPair(raw) {
		return fmt.Errorf("the text %s has half of a surrogate pair, which is no character",
			printable.Clip(string(raw), 60))
	}
	if !s.name {
		return nil
	}
	s.name = false
	name := string(raw)
	if escaped {
		_ = json.Unmarshal(s.text[begin-1:s.at], &name) // the reader of the document finds what is wrong with it
	}
	names := s.open[len(s.open)-1]
	if names[name] {
		return fmt.Errorf("found %q twice in one object", printable.Clip(name, 60))
	}
	names[name] = true
	return nil
}

// brokenPair reports whether \u in a string has half of a surrogate pair.
func brokenPair(raw []byte) bool {
	for i := 0; i+6 <= len(raw); {
		if raw[i] != '\\' {
			i++
			continue
		}
		first, ok := unit(raw[i:])
		switch {
		case !ok:
			i += 2
		case first < 0xD800 || first > 0xDFFF:
			i += 6
		default:
			second, ok := unit(raw[i+6:])
			if !ok || first > 0xDBFF || second < 0xDC00 || second > 0xDFFF {
				return true
			}
			i += 12
		}
	}
	return false
}

// unit reads \u and four digits.
func unit(raw []byte) (u uint16, ok bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	for _, c := range raw[2:6] {
		d := bytes.IndexByte([]byte("0123456789abcdef"), c|0x20)
		if c < 'A' {
			d = bytes.IndexByte([]byte("0123456789"), c)
		}
		if d < 0 {
			return 0, false
		}
		u = u<<4 | uint16(d)
	}
	return u, true
}
