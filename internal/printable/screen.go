package printable

import (
	"io"
	"unicode"
	"unicode/utf8"
)

// Screen returns a writer for text that people read. What steers a terminal or turns text around becomes U+FFFD on
// the way to w: control characters other than line ends and tabs, bidirectional controls, bytes that are not UTF-8.
// The writer keeps the beginning of a character until it gets the rest.
func Screen(w io.Writer) io.Writer { return &screen{w: w} }

type screen struct {
	w    io.Writer
	rest []byte // the beginning of a character or of a line end
}

// Write implements io.Writer.
func (s *screen) Write(p []byte) (int, error) {
	text := append(s.rest, p...)
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == utf8.RuneError && !utf8.FullRune(text), r == '\r' && len(text) == 1:
			s.rest = append([]byte(nil), text...)
			return len(p), s.put(out)
		case r == '\r' && text[1] == '\n': // the line end alone
		case Plain(r) || r == '\n' || r == '\t':
			out = utf8.AppendRune(out, r)
		default:
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		text = text[n:]
	}
	s.rest = nil
	return len(p), s.put(out)
}

func (s *screen) put(out []byte) error {
	if len(out) == 0 {
		return nil
	}
	_, err := s.w.Write(out)
	return err
}

// Plain reports whether a terminal shows the character and does nothing else.
func Plain(r rune) bool { return unicode.IsPrint(r) }
