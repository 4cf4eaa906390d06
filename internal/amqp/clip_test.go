package amqp_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"minibus/internal/amqp"
)

func TestClip_CutsBetweenCharacters(t *testing.T) {
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
		if got := amqp.Clip(c.text, c.most); got != c.want {
			t.Errorf("Clip(%q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
	}
	for most := range 200 {
		got := amqp.Clip(strings.Repeat("ä€\xe2\x82\x80\xff", 20), most)
		if len(got) > most || !utf8.ValidString(got) {
			t.Errorf("%d bytes: %q", most, got)
		}
	}
}
