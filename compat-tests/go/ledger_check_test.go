package compat

import (
	"strings"
	"testing"
)

// The ledger is what judges the kill -9 test, so it is tested itself: each kind of fault must be found, and each state that a
// kill may leave behind must pass.
func TestLedgerFindsFaults(t *testing.T) {
	for name, c := range map[string]struct {
		story func(*ledger)
		found map[string][]place
		fault string // empty: none
	}{
		"acknowledged and there":       {sentOne, map[string][]place{"a": {inQueue}}, ""},
		"acknowledged and lost":        {sentOne, nil, "a is lost"},
		"stored twice":                 {sentOne, map[string][]place{"a": {inQueue, inQueue}}, "a is there 2 times"},
		"no answer, not stored":        {func(l *ledger) { l.sending("a", inQueue) }, nil, ""},
		"no answer, stored":            {func(l *ledger) { l.sending("a", inQueue) }, map[string][]place{"a": {inQueue}}, ""},
		"completed and gone":           {completed, nil, ""},
		"completed and there":          {completed, map[string][]place{"a": {inQueue}}, "a is in queue; it should be nowhere"},
		"complete without answer":      {func(l *ledger) { sentOne(l); l.settling("a", nowhere) }, nil, ""},
		"late answer to the send":      {func(l *ledger) { completed(l); l.sent("a") }, nil, ""},
		"completed and delivered":      {func(l *ledger) { completed(l); l.delivered("a") }, nil, "a was delivered"},
		"one number, two messages":     {func(l *ledger) { l.seen("a", 7); l.seen("b", 7) }, nil, "number 7 names a and b"},
		"never sent":                   {func(*ledger) {}, map[string][]place{"x": {inQueue}}, "x was never sent"},
		"half a batch":                 {halfBatch, map[string][]place{"a": {inQueue}}, "1 of the 2 messages of batch x"},
		"a whole batch without answer": {halfBatch, map[string][]place{"a": {inQueue}, "b": {inQueue}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedger()
			c.story(l)
			l.audit(c.found)
			got := strings.Join(l.faults, "; ")
			if (c.fault == "") != (got == "") || !strings.Contains(got, c.fault) {
				t.Errorf("faults are %q, want %q", got, c.fault)
			}
		})
	}
}

func sentOne(l *ledger) {
	l.sending("a", inQueue)
	l.sent("a")
}

func completed(l *ledger) {
	sentOne(l)
	l.settling("a", nowhere)
	l.settledAt("a", nowhere)
}

func halfBatch(l *ledger) {
	l.sending("a", inQueue)
	l.sending("b", inQueue)
	l.doubtfulBatch("x", []string{"a", "b"})
}
