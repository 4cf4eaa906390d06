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

// waitTime is how long [Server.Wait] waits without [Within].
const waitTime = 10 * time.Second

// Condition is what [Server.Wait] waits for, or how long.
type Condition struct {
	entity string
	text   string
	apply  func(*waiting)
}

// waiting is a wait that is put together.
type waiting struct {
	emulator.Await
	ofEvents int // conditions
	long     time.Duration
}

// Idle holds when no message of an entity is available or locked, or waits to be forwarded: "all orders are processed".
func Idle(entity string) Condition {
	return Condition{entity, entity + " is idle", func(w *waiting) { w.Idle = true }}
}

// Exactly holds when an entity has so many messages.
func Exactly(entity string, of emulator.Counted, n int64) Condition {
	return counted(entity, of, n, n, fmt.Sprintf("%s has %s", entity, of.Words(n)))
}

// AtLeast holds when an entity has so many messages or more.
func AtLeast(entity string, of emulator.Counted, n int64) Condition {
	return counted(entity, of, n, -1, fmt.Sprintf("%s has %s or more", entity, of.Words(n)))
}

func counted(entity string, of emulator.Counted, least, most int64, text string) Condition {
	return Condition{entity, text, func(w *waiting) {
		w.Counts = append(w.Counts, emulator.CountCondition{Of: of, Least: least, Most: most})
	}}
}

// Happened holds when there were so many such events, or more. Those before the wait count too; a wait for later ones sets Events.From.
func Happened(times int, which Events) Condition {
	return Condition{"", fmt.Sprintf("%d of: %s happened", times, which.text()), func(w *waiting) {
		f := which.filter()
		w.ofEvents++
		w.Events, w.Times, w.From = &f, times, max(which.From, 1)
	}}
}

// Holds holds when a message that is selected is in an entity or a sub-queue: "an order of Ann's is dead-lettered". A locked one counts. The numbers and
// the most of the selection are unused.
//
//	bus.Wait(t, sbtest.Holds("orders/$DeadLetterQueue", sbtest.Select{Text: "Ann"}))
func Holds(entity string, which Select) Condition {
	path, sub := entitypath.CutSubQueue(entity)
	selection := which.options(emulator.JobOptions{}).Select
	return Condition{"", entity + " has a message that is selected", func(w *waiting) {
		w.Message = &emulator.AwaitMessage{Entity: path, Sub: sub, Select: selection}
	}}
}

// Within sets how long a wait may take; without it ten seconds. It is real time, whatever the namespace's clock does.
func Within(d time.Duration) Condition {
	return Condition{apply: func(w *waiting) { w.long = d }}
}

// Wait waits until all conditions hold at one moment in the default namespace. It fails the test when the time is over, and says how it stands. The conditions may
// name one entity, and one of them may be of events.
//
//	bus.Wait(t, sbtest.Idle("orders"), sbtest.Exactly("orders", emulator.CountedDeadLetter, 1))
func (s *Server) Wait(t testing.TB, conditions ...Condition) {
	t.Helper()
	wait(t, s.server, s.Default(), conditions)
}

// Wait is [Server.Wait] in this namespace.
func (n *Namespace) Wait(t testing.TB, conditions ...Condition) {
	t.Helper()
	wait(t, n.server, n.Namespace, conditions)
}

// WaitIdle waits until an entity of the default namespace is [Idle].
func (s *Server) WaitIdle(t testing.TB, entity string) {
	t.Helper()
	s.Wait(t, Idle(entity))
}

// WaitIdle is [Server.WaitIdle] in this namespace.
func (n *Namespace) WaitIdle(t testing.TB, entity string) {
	t.Helper()
	n.Wait(t, Idle(entity))
}

func wait(t testing.TB, a inspector, ns *emulator.Namespace, conditions []Condition) {
	t.Helper()
	w := waiting{long: waitTime}
	var texts []string
	for _, c := range conditions {
		if c.entity != "" && w.Entity != "" && !strings.EqualFold(c.entity, w.Entity) {
			t.Fatalf("sbtest: wait: one wait can have conditions of one entity, not of %s and %s: wait twice", w.Entity, c.entity)
		}
		if c.entity != "" {
			w.Entity = c.entity
		}
		if c.apply(&w); c.text != "" {
			texts = append(texts, c.text)
		}
	}
	switch {
	case len(texts) == 0:
		t.Fatalf("sbtest: wait: no condition says what for")
	case w.Entity == "" && (w.Idle || len(w.Counts) > 0):
		t.Fatalf("sbtest: wait until %s: name the entity", strings.Join(texts, " and "))
	case w.ofEvents > 1:
		t.Fatalf("sbtest: wait: found %d conditions of events; one wait can have one: wait twice", w.ofEvents)
	}
	ctx, cancel := context.WithTimeout(t.Context(), w.long)
	defer cancel()
	stands, err := ns.Wait(ctx, w.Await)
	if err != nil {
		t.Fatalf("sbtest: wait until %s: %v", strings.Join(texts, " and "), err)
	}
	if stands.Met {
		return
	}
	diagnosis := ""
	if w.Entity != "" {
		diagnosis = "\n" + why(t, a, ns, w.Entity, nil).String()
	}
	t.Fatalf("sbtest: waited %s in vain until %s: it has %s%s", w.long, strings.Join(texts, " and "), stands, diagnosis)
}
