package sas

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClipBoundsWhatIsLogged(t *testing.T) {
	if got := Clip("orders"); got != "orders" {
		t.Errorf("%q", got)
	}
	got := Clip(strings.Repeat("ü", 100_000) + "x")
	if len(got) > maxShown+3 || !strings.HasSuffix(got, "...") || !utf8.ValidString(got) {
		t.Errorf("%d bytes: %q", len(got), got)
	}
	if got := Clip("x" + strings.Repeat("ü", 200)); !utf8.ValidString(got) {
		t.Errorf("a letter was cut: %q", got)
	}
}
