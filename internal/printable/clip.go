package printable

import (
	"strings"
	"unicode/utf8"
)

// Cut returns no more than most bytes of s, cut between characters. Bytes that are not UTF-8 become U+FFFD: AMQP
// demands UTF-8, and some clients check it.
func Cut(s string, most int) string {
	return cut(strings.ToValidUTF8(cut(s, most), "\uFFFD"), most)
}

// Clip is Cut that appends dots if the text was longer.
func Clip(s string, most int) string {
	if len(s) > most {
		return Cut(s, most) + "..."
	}
	return Cut(s, most)
}

// cut cuts s. It steps back over at most the rest of one character: anything longer is not UTF-8.
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
