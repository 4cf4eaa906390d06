package management

import (
	"strings"
	"testing"
)

// .NET and Java read the header of every message, a peeked one too, and its last field. compat-tests/cases/traps.txt
// lists all traps with their tests.
func TestTrap_PeekedMessagesHaveAHeaderWithADeliveryCount(t *testing.T) {
	inBubble(t, func(f *fixture) {
		f.send("a")
		entry := field[[]any](f, peek(f, int64(0), int32(1)), "messages")[0].(map[string]any)
		raw := entry["message"].([]byte)
		// The section, a list of five fields, four nulls, and the nought of an unsigned integer.
		const header = "\x00\x53\x70" + "\xd0\x00\x00\x00\x09\x00\x00\x00\x05" + "\x40\x40\x40\x40" + "\x43"
		if !strings.HasPrefix(string(raw), header) {
			f.Errorf("a peeked message begins with % x, want % x", raw[:min(len(raw), 20)], header)
		}
	})
}
