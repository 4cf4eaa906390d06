package sbtest

import (
	"slices"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/entitypath"
)

// Event is something that happened to a message. Printed with %s it is a sentence: "number 1 of orders was moved to the dead-letter queue because of spoilt".
// A server remembers the last events in 16 MiB, about 400,000, also of messages that are gone.
type Event = emulator.Event

// Events select events. The zero value selects all that the server remembers of a namespace.
type Events struct {
	Entity         string // a path, such as "orders", "events/Subscriptions/all" or "orders/$DeadLetterQueue"
	SequenceNumber int64  // of the message, in the entity
	MessageID      string // of messages that come; [Server.Life] finds what became of them
	Client         string // the id of a [Connection], its container or its address
	Kinds          []emulator.EventKind
	Since, Before  time.Time
	From           int64 // the number of the first event
}

func (e *Events) filter() emulator.EventFilter {
	f := emulator.EventFilter{Sequence: e.SequenceNumber, MessageID: e.MessageID, Client: e.Client, Kinds: e.Kinds}
	path, sub := entitypath.CutSubQueue(e.Entity)
	f.Entity = path
	if path != e.Entity {
		f.Sub = &sub
	}
	if !e.Since.IsZero() {
		f.Since = e.Since.UnixMilli()
	}
	if !e.Before.IsZero() {
		f.Before = e.Before.UnixMilli()
	}
	return f
}

// text names the events, for people.
func (e *Events) text() string {
	words := "anything"
	for i, k := range e.Kinds {
		if i == 0 {
			words = k.String()
		} else {
			words += " or " + k.String()
		}
	}
	for _, more := range [][2]string{{" in ", e.Entity}, {" to a message with the id ", e.MessageID}, {" by ", e.Client}} {
		if more[1] != "" {
			words += more[0] + more[1]
		}
	}
	return words
}

// Life returns what happened to the messages that came with a message id to the default namespace, oldest first: through topics, forwards and dead-letter queues, to
// the end. It is empty if the server knows of none.
func (s *Server) Life(t testing.TB, messageID string) []Event {
	t.Helper()
	return life(t, s.Default(), messageID)
}

// Life is [Server.Life] in this namespace.
func (n *Namespace) Life(t testing.TB, messageID string) []Event {
	t.Helper()
	return life(t, n.Namespace, messageID)
}

func life(t testing.TB, ns *emulator.Namespace, messageID string) []Event {
	t.Helper()
	if messageID == "" {
		t.Fatalf("sbtest: life: a message without an id is named by its entity and number: call LifeOf")
	}
	return ns.History().Life(emulator.EventFilter{MessageID: messageID})
}

// LifeOf is [Server.Life] of the message with a sequence number in an entity.
func (s *Server) LifeOf(t testing.TB, entity string, sequenceNumber int64) []Event {
	t.Helper()
	return lifeOf(t, s.Default(), entity, sequenceNumber)
}

// LifeOf is [Server.LifeOf] in this namespace.
func (n *Namespace) LifeOf(t testing.TB, entity string, sequenceNumber int64) []Event {
	t.Helper()
	return lifeOf(t, n.Namespace, entity, sequenceNumber)
}

func lifeOf(t testing.TB, ns *emulator.Namespace, entity string, number int64) []Event {
	t.Helper()
	if entity == "" || number == 0 {
		t.Fatalf("sbtest: life: which message? Found number %d of %q", number, entity)
	}
	e := Events{Entity: entity, SequenceNumber: number}
	return ns.History().Life(e.filter())
}

// History returns what happened in the default namespace, oldest first.
//
//	dead := bus.History(t, sbtest.Events{Entity: "orders", Kinds: []emulator.EventKind{emulator.EventDeadLettered}})
func (s *Server) History(t testing.TB, which Events) []Event {
	t.Helper()
	return history(s.Default(), which)
}

// History is [Server.History] in this namespace.
func (n *Namespace) History(t testing.TB, which Events) []Event {
	t.Helper()
	return history(n.Namespace, which)
}

func history(ns *emulator.Namespace, which Events) []Event {
	all, _ := ns.History().Events(which.From, which.filter())
	return slices.Collect(all)
}
