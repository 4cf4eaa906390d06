package printable

import (
	"strings"
	"testing"
)

// family is an emoji of three.
const family = "\U0001F469\u200d\U0001F469\u200d\U0001F467"

func TestScreenShowsWhatWouldSteerATerminal(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nc\r\nd":            "a\tb\nc\nd",
		"\x1b]0;title\x07":        "\uFFFD]0;title\uFFFD",
		"c1 \u009b31m raw \x9b1m": "c1 \uFFFD31m raw \uFFFD1m",
		"\u202eabc\u2066\u200f":   "\uFFFDabc\uFFFD\uFFFD",
		"over\rwritten\x7f":       "over\uFFFDwritten\uFFFD",
		"äöü € \U0001F600":        "äöü € \U0001F600",
		"a\u200db\u200d":          "a\uFFFDb\uFFFD",
		family + "\u200d" + "x":   family + "\uFFFDx",
		"\u2764\ufe0f\u200d\U0001F525 \U0001F44D\U0001F3FD": "\u2764\ufe0f\u200d\U0001F525 \U0001F44D\U0001F3FD",
	} {
		var whole, pieces strings.Builder
		want += "."
		text += "."
		w := Screen(&whole)
		if n, err := w.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
		w = Screen(&pieces)
		for i := range len(text) {
			if n, err := w.Write([]byte(text)[i : i+1]); n != 1 || err != nil {
				t.Errorf("%q: %d, %v", text, n, err)
			}
		}
		if whole.String() != want || pieces.String() != want {
			t.Errorf("%q is shown as %q, in pieces as %q, want %q", text, whole.String(), pieces.String(), want)
		}
	}
}

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\r\nc": "a b  c", "\x1b]0;t\x07\u202e": "\uFFFD]0;t\uFFFD\uFFFD", "\xffa\xe2\x82": "\uFFFDa\uFFFD\uFFFD", family: family, "a\u200d" + family + "\u200d": "a\uFFFD" + family + "\uFFFD",
	} {
		if got := Line(text); got != want {
			t.Errorf("Line(%q) = %q, want %q", text, got, want)
		}
	}
}
