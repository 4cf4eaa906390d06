package ledger

import (
	"strings"
	"testing"
)

// The ledger judges the kill -9 test, so it is tested itself: each kind of fault must be found, and each state that a
// kill may leave behind must pass.
func TestLedgerFindsFaults(t *testing.T) {
	for name, c := range map[string]struct {
		story func(*Ledger)
		found map[string][]Place
		fault string // empty: none
	}{
		"acknowledged and there":     {sentOne, map[string][]Place{"a": {InQueue}}, ""},
		"acknowledged and lost":      {sentOne, nil, "a is lost"},
		"stored twice":               {sentOne, map[string][]Place{"a": {InQueue, InQueue}}, "a is there 2 times"},
		"no answer, not stored":      {func(l *Ledger) { l.Sending("a", InQueue) }, nil, ""},
		"no answer, stored":          {func(l *Ledger) { l.Sending("a", InQueue) }, map[string][]Place{"a": {InQueue}}, ""},
		"completed and gone":         {completed, nil, ""},
		"completed and there":        {completed, map[string][]Place{"a": {InQueue}}, "a is in queue; it should be nowhere"},
		"complete without answer":    {func(l *Ledger) { sentOne(l); l.Settling("a", Nowhere) }, nil, ""},
		"late answer to the send":    {func(l *Ledger) { completed(l); l.Sent("a") }, nil, ""},
		"completed and delivered":    {func(l *Ledger) { completed(l); l.Delivered("a") }, nil, "a was delivered"},
		"one number, two messages":   {func(l *Ledger) { l.Seen("a", 7); l.Seen("b", 7) }, nil, "number 7 names a and b"},
		"number of a finished round": {func(l *Ledger) { l.Seen("q/a", 7); l.Rest(); l.Seen("q/b", 7) }, nil, "number 7 of q/b was given"},
		"the next round":             {func(l *Ledger) { l.Seen("q/a", 7); l.Rest(); l.Seen("q/b", 8); l.Seen("r/c", 1) }, nil, ""},
		"broken off, one lost":       {func(l *Ledger) { sentTwo(l); l.BrokeOff("q", 1) }, map[string][]Place{"q/a": {InQueue}}, ""},
		"broken off, two lost":       {func(l *Ledger) { sentTwo(l); l.BrokeOff("q", 1) }, nil, "is lost"},
		"lost in another entity":     {func(l *Ledger) { sentTwo(l); l.BrokeOff("r", 2) }, nil, "is lost"},
		"resolved, then lost":        {func(l *Ledger) { halfBatch(l); l.Resolve(map[string][]Place{"a": {InQueue}}, stays) }, nil, "a is lost"},
		"resolved, then there":       {func(l *Ledger) { halfBatch(l); l.Resolve(nil, stays) }, map[string][]Place{"a": {InQueue}}, "a was never sent"},
		"resolved, then expired":     {expiring, map[string][]Place{"a": {InDeadLetters}}, ""},
		"resolved, then somewhere":   {expiring, map[string][]Place{"a": {AsDeferred}}, "a is in deferred"},
		"never sent":                 {func(*Ledger) {}, map[string][]Place{"x": {InQueue}}, "x was never sent"},
		"half a batch":               {halfBatch, map[string][]Place{"a": {InQueue}}, "1 of the 2 messages of batch x"},
		"half a batch, broken off": {func(l *Ledger) {
			l.Sending("q/a", InQueue)
			l.Sending("q/b", InQueue)
			l.DoubtfulBatch("x", []string{"q/a", "q/b"})
			l.BrokeOff("q", 1)
		}, map[string][]Place{"q/a": {InQueue}}, ""},
		"a whole batch without answer": {halfBatch, map[string][]Place{"a": {InQueue}, "b": {InQueue}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := New()
			c.story(l)
			l.Audit(c.found)
			got := strings.Join(l.faults, "; ")
			if (c.fault == "") != (got == "") || !strings.Contains(got, c.fault) {
				t.Errorf("faults are %q, want %q", got, c.fault)
			}
		})
	}
}

func sentOne(l *Ledger) {
	l.Sending("a", InQueue)
	l.Sent("a")
}

func completed(l *Ledger) {
	sentOne(l)
	l.Settling("a", Nowhere)
	l.SettledAt("a", Nowhere)
}

func sentTwo(l *Ledger) {
	for _, id := range []string{"q/a", "q/b"} {
		l.Sending(id, InQueue)
		l.Sent(id)
	}
}

func stays(string, Place) Place { return 0 }

func expiring(l *Ledger) {
	l.Sending("a", InQueue|AsDeferred|InDeadLetters)
	l.Resolve(map[string][]Place{"a": {InQueue}}, func(string, Place) Place { return InDeadLetters })
}

func halfBatch(l *Ledger) {
	l.Sending("a", InQueue)
	l.Sending("b", InQueue)
	l.DoubtfulBatch("x", []string{"a", "b"})
}
