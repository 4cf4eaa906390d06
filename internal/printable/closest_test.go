package printable

import (
	"strings"
	"testing"
)

func TestClosest(t *testing.T) {
	words := []string{"orders", "Order", "send", "seed", "peek"}
	for word, want := range map[string]string{
		"ordrs": "orders", "ORDER": "Order", "sned": "send", "peak": "peek", "nothing": "", "": "", "x": "", strings.Repeat("orders", 1000): "",
	} {
		if got := Closest(word, words); got != want {
			t.Errorf("Closest(%.20q) = %q, want %q", word, got, want)
		}
	}
}
