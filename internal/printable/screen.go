package printable

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Screen returns a writer for text that people read. What steers a terminal or turns text around becomes U+FFFD on
// the way to w: control characters other than line ends and tabs, bidirectional controls, bytes that are not UTF-8.
// The writer keeps the beginning of a character until it gets the rest, and a joiner until it gets what is joined.
func Screen(w io.Writer) io.Writer { return &screen{w: w} }

type screen struct {
	w    io.Writer
	rest []byte // the beginning of a character or of a line end, or a joiner and such a beginning
	last rune
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
		case r == joiner && !utf8.FullRune(text[n:]):
			s.rest = append([]byte(nil), text...)
			return len(p), s.put(out)
		case r == joiner && s.joins(text[n:]):
			out = utf8.AppendRune(out, r)
		case r == '\r' && text[1] == '\n': // the line end alone
		case Plain(r) || r == '\n' || r == '\t':
			out = utf8.AppendRune(out, r)
		default:
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		s.last = r
		text = text[n:]
	}
	s.rest = nil
	return len(p), s.put(out)
}

// joins reports whether a joiner here makes one emoji of the character before it and the first of next.
func (s *screen) joins(next []byte) bool {
	r, _ := utf8.DecodeRune(next)
	return isEmoji(s.last) && isEmoji(r)
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

// joiner stands between emoji that are shown as one, such as those of a family.
const joiner = '\u200d'

// isEmoji reports whether a character is an emoji or belongs to the one before it: a skin tone, or the selector of
// the coloured form.
func isEmoji(r rune) bool {
	const selector, firstTone, lastTone, firstSymbol = 0xfe0f, 0x1f3fb, 0x1f3ff, 0x2190
	return r == selector || firstTone <= r && r <= lastTone ||
		r >= firstSymbol && r != utf8.RuneError && unicode.In(r, unicode.So, unicode.Sm)
}

// Line is what [Screen] makes of a text for one line: line ends and tabs become spaces.
func Line(text string) string {
	var b strings.Builder
	last := rune(0)
	for i, r := range text {
		var next rune
		if r == joiner {
			next, _ = utf8.DecodeRuneInString(text[i+len(string(joiner)):])
		}
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case Plain(r) || r == joiner && isEmoji(last) && isEmoji(next):
			b.WriteRune(r)
		default:
			b.WriteRune(utf8.RuneError)
		}
		last = r
	}
	return b.String()
}
