package printable

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCut_BetweenCharacters(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"short", 10, "short"},
		{"exactly", 7, "exactly"},
		{"aäb", 2, "a"},
		{"aäb", 3, "aä"},
		{"€€", 5, "€"},
		{"\U0001F600x", 3, ""},
		{"a\xffb", 10, "a\uFFFDb"},
		{"a\xff", 3, "a"},
		{"text", 0, ""},
	} {
		if got := Cut(c.text, c.most); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
	}
	for most := range 200 {
		got := Cut(strings.Repeat("ä€\xe2\x82\x80\xff", 20), most)
		if len(got) > most || !utf8.ValidString(got) {
			t.Errorf("%d bytes: %q", most, got)
		}
	}
}

func TestClip_MarksWhatIsLeftOut(t *testing.T) {
	for text, want := range map[string]string{"four": "four", "five.": "five...", "aäöü": "aä...", "\xff": "\uFFFD"} {
		if got := Clip(text, 4); got != want {
			t.Errorf("Clip(%q, 4) = %q, want %q", text, got, want)
		}
	}
}
