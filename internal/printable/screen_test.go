package printable

import (
	"strings"
	"testing"
)

func TestScreenShowsWhatWouldSteerATerminal(t *testing.T) {
	for text, want := range map[string]string{
		"a\tb\nc\r\nd":            "a\tb\nc\nd",
		"\x1b]0;title\x07":        "\uFFFD]0;title\uFFFD",
		"c1 \u009b31m raw \x9b1m": "c1 \uFFFD31m raw \uFFFD1m",
		"\u202eabc\u2066\u200f":   "\uFFFDabc\uFFFD\uFFFD",
		"over\rwritten\x7f":       "over\uFFFDwritten\uFFFD",
		"äöü € \U0001F600":        "äöü € \U0001F600",
	} {
		var whole, pieces strings.Builder
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
