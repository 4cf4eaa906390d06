package closest

import (
	"strings"
	"testing"
)

func TestTo(t *testing.T) {
	words := []string{"orders", "Order", "send", "peek"}
	for word, want := range map[string]string{
		"ordrs": "orders", "ORDER": "Order", "sned": "send", "peak": "peek", "nothing": "", "": "", "x": "", strings.Repeat("orders", 1000): "",
	} {
		if got := To(word, words); got != want {
			t.Errorf("To(%.20q) = %q, want %q", word, got, want)
		}
	}
}
