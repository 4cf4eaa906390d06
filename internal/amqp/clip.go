package amqp

import (
	"strings"
	"unicode/utf8"
)

// Clip makes a text fit for the wire: it returns at most so many bytes of it, cut between characters. What is not UTF-8, which an AMQP
// string must be and some clients check, becomes U+FFFD.
func Clip(s string, most int) string {
	return cut(strings.ToValidUTF8(cut(s, most), "\uFFFD"), most)
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
