package sbtest

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/entitypath"
)

// EventKind says what happened to a message. Printed with %s it is in plain words.
type EventKind uint8

// What happens to messages.
const (
	EventSent              = EventKind(emulator.EventSent)              // stored; by a topic too, whose copies follow
	EventScheduled         = EventKind(emulator.EventScheduled)         // stored, to be sent later
	EventCopied            = EventKind(emulator.EventCopied)            // a topic's copy arrived in a subscription
	EventForwardedHere     = EventKind(emulator.EventForwardedHere)     // arrived from an entity that forwards
	EventActivated         = EventKind(emulator.EventActivated)         // scheduled, and now sent
	EventDelivered         = EventKind(emulator.EventDelivered)         // given to a client and locked
	EventDeliveredDeleted  = EventKind(emulator.EventDeliveredDeleted)  // given to a client and removed
	EventRenewed           = EventKind(emulator.EventRenewed)           // its lock was renewed
	EventCompleted         = EventKind(emulator.EventCompleted)         // removed by a client
	EventAbandoned         = EventKind(emulator.EventAbandoned)         // available again, or else the next event says
	EventReleased          = EventKind(emulator.EventReleased)          // available again, as if never delivered
	EventDeferred          = EventKind(emulator.EventDeferred)          // set aside
	EventLockExpired       = EventKind(emulator.EventLockExpired)       // available again: nobody settled it in time
	EventReturned          = EventKind(emulator.EventReturned)          // available again: it did not reach the client
	EventDeadLettered      = EventKind(emulator.EventDeadLettered)      // moved to the dead-letter queue
	EventExpired           = EventKind(emulator.EventExpired)           // its time to live was over
	EventForwarded         = EventKind(emulator.EventForwarded)         // moved to the entity that is forwarded to
	EventDuplicate         = EventKind(emulator.EventDuplicate)         // not stored: its message id came before
	EventCancelled         = EventKind(emulator.EventCancelled)         // a scheduled one was removed
	EventPurged            = EventKind(emulator.EventPurged)            // removed by a batch deletion
	EventRescheduled       = EventKind(emulator.EventRescheduled)       // scheduled for another time
	EventRefusedSend       = EventKind(emulator.EventRefusedSend)       // not stored
	EventRefusedSettlement = EventKind(emulator.EventRefusedSettlement) // not settled
	EventFault             = EventKind(emulator.EventFault)             // an injected fault hit an operation
	EventSessionBroken     = EventKind(emulator.EventSessionBroken)     // a session's lock was taken from its holder
)

// String returns the kind in plain words, such as dead-lettered.
func (k EventKind) String() string { return emulator.EventKind(k).String() }

// Event is something that happened to a message. Printed with %s it is a sentence: "number 1 of orders was moved to
// the dead-letter queue because of spoilt". A server remembers the last events in 16 MiB, about 400,000, also of
// messages that are no longer there.
type Event struct {
	Number              int64 // of the event, among all of the process
	Time                time.Time
	Kind                EventKind
	Entity              string // path, with its sub-queue
	SequenceNumber      int64  // 0 if the message has none
	FirstSequenceNumber int64  // at its first submission, if it was another one; else 0
	NextSequenceNumber  int64  // that the message has from now on, if it is another one; else 0
	MessageID           string // of messages that come; else empty
	DeliveryCount       int
	Until               time.Time // end of the lock, or the instant for which it is scheduled
	Copies              int       // that a topic made of it
	Connection          string    // of the client that did it; empty: Minibus, or an HTTP request
	Container           string    // what that client calls itself
	Text                string    // the reason, the rule, the other entity of a forward, or the error

	event emulator.Event
}

// String says in a sentence what happened, without the time.
func (e Event) String() string { return e.event.String() }

func eventOf(e emulator.Event) Event {
	out := Event{
		Number:              e.Number,
		Time:                instant(e.At),
		Kind:                EventKind(e.Kind),
		Entity:              e.Sub.Join(e.Entity),
		SequenceNumber:      e.Sequence,
		FirstSequenceNumber: e.FirstSequence,
		NextSequenceNumber:  e.NextSequence,
		MessageID:           e.MessageID,
		DeliveryCount:       int(e.DeliveryCount),
		Until:               instant(e.Until),
		Copies:              e.Copies,
		Text:                e.Text,
		event:               e,
	}
	if e.Client != nil {
		out.Connection, out.Container = e.Client.Connection, e.Client.Container
	}
	return out
}

// EventFilter selects events. The zero value selects all that the server remembers of a namespace.
type EventFilter struct {
	Entity         string // a path, such as "orders", "events/Subscriptions/all" or "orders/$DeadLetterQueue"
	SequenceNumber int64  // of the message, in the entity
	MessageID      string // of messages that come; [Namespace.History] finds what became of them
	Client         string // the id of a [Connection], its container or its address
	Kinds          []EventKind
	Since, Before  time.Time
	From           int64 // the number of the first event
}

func (e *EventFilter) filter() emulator.EventFilter {
	f := emulator.EventFilter{
		Sequence: e.SequenceNumber, MessageID: e.MessageID, Client: e.Client,
		Since: millis(e.Since), Before: millis(e.Before),
	}
	path, sub := entitypath.CutSubQueue(e.Entity)
	f.Entity = path
	if path != e.Entity {
		f.Sub = &sub
	}
	for _, k := range e.Kinds {
		f.Kinds = append(f.Kinds, emulator.EventKind(k))
	}
	return f
}

// text names the events, for people.
func (e *EventFilter) text() string {
	kinds := make([]string, len(e.Kinds))
	for i, k := range e.Kinds {
		kinds[i] = k.String()
	}
	words := cmp.Or(strings.Join(kinds, " or "), "anything")
	if e.Entity != "" {
		words += " in " + e.Entity
	}
	if e.MessageID != "" {
		words += " to a message with the id " + e.MessageID
	}
	if e.Client != "" {
		words += " by " + e.Client
	}
	return words
}

// History returns what happened to the messages that came with a message id, oldest first: through topics, forwards and
// dead-letter queues, to the end. It is empty if the server knows of none.
func (n *Namespace) History(t testing.TB, messageID string) []Event {
	t.Helper()
	if messageID == "" {
		t.Fatalf("sbtest: history: a message without an id is named by its entity and number: call HistoryOf")
	}
	return n.history(EventFilter{MessageID: messageID})
}

// HistoryOf is [Namespace.History] of the message with a sequence number in an entity.
func (n *Namespace) HistoryOf(t testing.TB, entity string, sequenceNumber int64) []Event {
	t.Helper()
	if entity == "" || sequenceNumber == 0 {
		t.Fatalf("sbtest: history: which message? Found number %d of %q", sequenceNumber, entity)
	}
	return n.history(EventFilter{Entity: entity, SequenceNumber: sequenceNumber})
}

func (n *Namespace) history(which EventFilter) (all []Event) {
	for _, e := range n.ns.History().Life(which.filter()) {
		all = append(all, eventOf(e))
	}
	return all
}

// Events returns what happened to all messages that a filter selects, oldest first.
//
//	dead := bus.Events(t, sbtest.EventFilter{Entity: "orders", Kinds: []sbtest.EventKind{sbtest.EventDeadLettered}})
func (n *Namespace) Events(t testing.TB, which EventFilter) (all []Event) {
	t.Helper()
	events, _ := n.ns.History().Events(which.From, which.filter())
	for e := range events {
		all = append(all, eventOf(e))
	}
	return all
}
