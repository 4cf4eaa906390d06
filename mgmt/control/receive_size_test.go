package control_test

import (
	"strings"
	"testing"

	"minibus/emulator"
)

// TestControlAPIReceivesBoundedAnswers of large messages: one at least, and no more once they reach 16 MiB.
func TestControlAPIReceivesBoundedAnswers(t *testing.T) {
	a := controlAPI(t)
	large := strings.Repeat("x", 9<<20)
	a.queueWith("large", emulator.QueueOptions{MaxMessageSizeInKilobytes: 20 << 10}, large, large, large, large[:1<<10])
	const at = inDefault + "large/"
	settle := func(r receipt, outcome string) {
		var tokens []string
		for _, m := range r.Messages {
			tokens = append(tokens, m.LockToken)
		}
		wants(t, a.as("root", "POST", at+"settle", `{"lockTokens": ["`+strings.Join(tokens, `", "`)+`"], "outcome": "`+outcome+`"}`), 204)
	}
	first := decoded[receipt](t, a.as("root", "POST", at+"receive", `{"max": 64}`))
	rest := decoded[receipt](t, a.as("root", "POST", at+"receive", `{"max": 64}`))
	if len(first.Messages) != 2 || len(rest.Messages) != 2 {
		t.Fatalf("received %d and %d messages of 9 MiB, 9 MiB, 9 MiB and 1 KiB", len(first.Messages), len(rest.Messages))
	}
	settle(first, "defer")
	settle(rest, "complete")
	wants(t, a.as("root", "POST", at+"receive", `{"sequenceNumbers": [1, 2]}`), 400, "at most 16777216", "Name fewer")
	settle(decoded[receipt](t, a.as("root", "POST", at+"receive", `{"sequenceNumbers": [2]}`)), "complete")
	wants(t, a.as("root", "POST", at+"receive", `{"sequenceNumbers": [1], "mode": "receiveAndDelete"}`), 200, `"sequenceNumber":1`)
	a.bus.wantCounts("large", 0, 0)
}
