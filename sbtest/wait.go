package sbtest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/entitypath"
)

// waitTime is how long [Namespace.WaitFor] waits without [Within].
const waitTime = 10 * time.Second

// Condition tells [Namespace.WaitFor] what to wait for, or how long.
type Condition struct {
	entity string
	text   string
	apply  func(*waiting)
}

// waiting is a wait that is put together.
type waiting struct {
	emulator.Await
	t        testing.TB
	ofEvents int // conditions
	long     time.Duration
}

// Idle holds when no message of an entity is available or locked, or waits to be forwarded: "all orders are processed".
//
//	bus.WaitFor(t, sbtest.Idle("orders"))
func Idle(entity string) Condition {
	return Condition{entity, entity + " is idle", func(w *waiting) { w.Idle = true }}
}

// Counted names one of the [Counts].
type Counted string

// The counts.
const (
	CountedActive             = Counted(emulator.CountedActive)
	CountedDeferred           = Counted(emulator.CountedDeferred)
	CountedScheduled          = Counted(emulator.CountedScheduled)
	CountedDeadLetter         = Counted(emulator.CountedDeadLetter)
	CountedTransfer           = Counted(emulator.CountedTransfer)
	CountedTransferDeadLetter = Counted(emulator.CountedTransferDeadLetter)
)

// Exactly holds when an entity has so many messages.
func Exactly(entity string, of Counted, n int64) Condition {
	return counted(entity, of, n, n, "")
}

// AtLeast holds when an entity has so many messages or more.
func AtLeast(entity string, of Counted, n int64) Condition {
	return counted(entity, of, n, -1, " or more")
}

func counted(entity string, of Counted, least, most int64, more string) Condition {
	c := emulator.CountCondition{Of: emulator.Counted(of), Least: least, Most: most}
	text := entity + " has " + c.Of.Words(least) + more
	return Condition{entity, text, func(w *waiting) { w.Counts = append(w.Counts, c) }}
}

// Happened holds when there were so many such events, or more. Those before the wait count too; a wait for later ones
// sets [EventFilter].From.
func Happened(times int, which EventFilter) Condition {
	return Condition{"", fmt.Sprintf("%d of: %s happened", times, which.text()), func(w *waiting) {
		f := which.filter()
		w.ofEvents++
		w.Events = &f
		w.Times = times
		w.From = max(which.From, 1)
	}}
}

// Holds holds when a message that is selected is in an entity or a sub-queue: "an order of Ann's is dead-lettered". A
// locked one counts. The numbers and the most of the selection are unused.
//
//	bus.WaitFor(t, sbtest.Holds("orders/$DeadLetterQueue", sbtest.Select{Text: "Ann"}))
func Holds(entity string, which Select) Condition {
	path, sub := entitypath.CutSubQueue(entity)
	return Condition{"", entity + " has a message that is selected", func(w *waiting) {
		w.Message = &emulator.AwaitMessage{Entity: path, Sub: sub, Select: which.selection(w.t)}
	}}
}

// Within sets how long a wait may take; without it ten seconds. It is real time, whatever the namespace's clock does.
func Within(d time.Duration) Condition {
	return Condition{apply: func(w *waiting) { w.long = d }}
}

// WaitFor waits until all conditions hold at one moment. It fails the test when the time is over, and says how it
// stands. The conditions may name one entity, and one of them may be of events.
//
//	bus.WaitFor(t, sbtest.Idle("orders"), sbtest.Exactly("orders", sbtest.CountedDeadLetter, 1))
func (n *Namespace) WaitFor(t testing.TB, conditions ...Condition) {
	t.Helper()
	w := waiting{t: t, long: waitTime}
	var texts []string
	for _, c := range conditions {
		if c.entity != "" && w.Entity != "" && !strings.EqualFold(c.entity, w.Entity) {
			t.Fatalf("sbtest: wait: one wait can have conditions of one entity, not of %s and %s: wait twice",
				w.Entity, c.entity)
		}
		if c.entity != "" {
			w.Entity = c.entity
		}
		c.apply(&w)
		if c.text != "" {
			texts = append(texts, c.text)
		}
	}
	until := strings.Join(texts, " and ")
	switch {
	case len(texts) == 0:
		t.Fatalf("sbtest: wait: no condition says what for")
	case w.Entity == "" && (w.Idle || len(w.Counts) > 0):
		t.Fatalf("sbtest: wait until %s: name the entity", until)
	case w.ofEvents > 1:
		t.Fatalf("sbtest: wait: found %d conditions of events; one wait can have one: wait twice", w.ofEvents)
	}
	ctx, cancel := context.WithTimeout(t.Context(), w.long)
	defer cancel()
	stands, err := n.ns.Wait(ctx, w.Await)
	check(t, "wait until "+until, err)
	if stands.Met {
		return
	}
	diagnosis := ""
	if w.Entity != "" {
		diagnosis = "\n" + n.Why(t, w.Entity).String()
	}
	t.Fatalf("sbtest: waited %s in vain until %s: it has %s%s", w.long, until, stands, diagnosis)
}
