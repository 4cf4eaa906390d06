package printable

import (
	"strings"
	"unicode/utf8"
)

// Cut returns at most so many bytes of a text, cut between characters. What is not UTF-8, which a string of AMQP must be and some
// clients check, becomes U+FFFD.
func Cut(s string, most int) string {
	return cut(strings.ToValidUTF8(cut(s, most), "\uFFFD"), most)
}

// Clip is Cut with dots behind a text that was longer.
func Clip(s string, most int) string {
	if len(s) > most {
		return Cut(s, most) + "..."
	}
	return Cut(s, most)
}

// cut steps back over the rest of one character at most: what is longer is no UTF-8.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := most
	for end > 0 && end > most-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}
