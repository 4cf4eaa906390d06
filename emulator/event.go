package emulator

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// EventKind says what happened to a message.
type EventKind uint8

// What happens to messages.
const (
	EventNone              EventKind = iota // nothing that anybody counts or asks for
	EventSent                               // stored; by a topic too, whose copies follow
	EventScheduled                          // stored, to be sent later
	EventCopied                             // a topic's copy arrived in a subscription
	EventForwardedHere                      // arrived from an entity that forwards
	EventActivated                          // scheduled, and now sent
	EventDelivered                          // given to a consumer and locked
	EventDeliveredDeleted                   // given to a consumer and removed
	EventRenewed                            // its lock was renewed
	EventCompleted                          // removed by a consumer
	EventAbandoned                          // available again, unless the next event says otherwise
	EventReleased                           // available again, as if it had not been delivered
	EventDeferred                           // set aside
	EventLockExpired                        // the same: it was not settled in time
	EventReturned                           // available again: it was removed for a consumer and did not reach it
	EventDeadLettered                       // moved to the dead-letter queue
	EventExpired                            // removed or dead-lettered: its time to live was over
	EventForwarded                          // moved to the entity that is forwarded to
	EventDuplicate                          // not stored: its message id came before
	EventCancelled                          // a scheduled one was removed
	EventPurged                             // removed by a batch deletion
	EventRescheduled                        // scheduled for another time
	EventRefusedSend                        // not stored
	EventRefusedSettlement                  // not settled
	EventFault                              // an injected fault hit an operation
	EventSessionBroken                      // the lock of a session was taken from its holder
)

// LastEventKind is the last one.
const LastEventKind = EventSessionBroken

// Event is something that happened to a message.
type Event struct {
	Number        int64 // of the event, among all of the process
	At            int64 // ms
	Kind          EventKind
	Namespace     int64  // id
	Entity        string // path
	Sub           SubQueue
	Sequence      int64 // 0 if the message has none
	FirstSequence int64 // the number at its first submission, if it is another one; else 0
	Body          int64 // the same for all copies of a message and after forwards; 0: unknown
	DeliveryCount uint32
	Until         int64   // ms; end of the lock, or the instant for which it is scheduled; else 0
	NextSequence  int64   // number that the message has from now on, if it is another one; else 0
	Topic         bool    // a topic passed it on
	Copies        int     // that the topic made of it
	Client        *Client // did it; nil: the broker, or unknown
	MessageID     string  // of messages that come; [History.Name] fills in those of later events
	TraceParent   string  // the sender's trace context, of messages that are sent, if the record keeps it
	Text          string  // the reason, the rule, the other entity of a forward, or the error
}

// EventFilter selects events of a namespace. Its zero value selects all.
type EventFilter struct {
	Entity    string      // path, in letters of any case
	Sub       *SubQueue   // nil: any
	Sequence  int64       // a number that the message had or got; 0: any
	MessageID string      // of messages that come; [History.Life] finds their later events
	Client    string      // as of [Client.Is]
	Kinds     []EventKind // none: any
	Since     int64       // ms
	Before    int64       // ms; 0: no end
}

// selects reports whether the filter selects an event.
func (f *EventFilter) selects(e *Event) bool {
	switch {
	case f.Entity != "" && !strings.EqualFold(f.Entity, e.Entity):
		return false
	case f.Sub != nil && *f.Sub != e.Sub:
		return false
	case f.Sequence != 0 && f.Sequence != e.Sequence && f.Sequence != e.NextSequence:
		return false
	case f.MessageID != "" && f.MessageID != e.MessageID:
		return false
	case len(f.Kinds) > 0 && !slices.Contains(f.Kinds, e.Kind):
		return false
	case e.At < f.Since || f.Before != 0 && e.At >= f.Before:
		return false
	}
	return f.Client == "" || e.Client.Is(f.Client)
}

// eventWords are the kinds of events in plain words.
var eventWords = [...]string{
	EventNone:              "nothing",
	EventSent:              "sent",
	EventScheduled:         "scheduled",
	EventCopied:            "copied",
	EventForwardedHere:     "forwarded here",
	EventActivated:         "activated",
	EventDelivered:         "delivered",
	EventDeliveredDeleted:  "received and deleted",
	EventRenewed:           "lock renewed",
	EventCompleted:         "completed",
	EventAbandoned:         "abandoned",
	EventReleased:          "released",
	EventDeferred:          "deferred",
	EventLockExpired:       "lock expired",
	EventReturned:          "returned",
	EventDeadLettered:      "dead-lettered",
	EventExpired:           "expired",
	EventForwarded:         "forwarded",
	EventDuplicate:         "duplicate",
	EventCancelled:         "cancelled",
	EventPurged:            "purged",
	EventRescheduled:       "rescheduled",
	EventRefusedSend:       "send refused",
	EventRefusedSettlement: "settlement refused",
	EventFault:             "fault",
	EventSessionBroken:     "session broken",
}

// String returns the kind in plain words.
func (k EventKind) String() string {
	if int(k) < len(eventWords) {
		return eventWords[k]
	}
	return "unknown"
}

// String says in a sentence what happened, without the time.
func (e Event) String() string {
	var b strings.Builder
	b.WriteString(e.what())
	switch {
	case e.Kind == EventDelivered, e.Kind == EventDeliveredDeleted:
		b.WriteString(" to " + e.Client.String())
	case e.Client != nil:
		b.WriteString(" by " + e.Client.String())
	}
	switch e.Kind {
	case EventDelivered, EventRenewed:
		b.WriteString(", locked until " + clockTime(e.Until))
	case EventScheduled, EventRescheduled:
		b.WriteString(" for " + clockTime(e.Until))
	case EventAbandoned, EventLockExpired, EventDeferred:
		fmt.Fprintf(&b, ", delivery count %d", e.DeliveryCount)
	}
	if e.Kind == EventRefusedSend || e.Kind == EventRefusedSettlement {
		b.WriteString(" was refused: " + e.Text)
	}
	if e.Topic {
		fmt.Fprintf(&b, "; %s got a copy", count(int64(e.Copies), "subscription"))
	}
	return b.String()
}

// what says what happened where.
func (e *Event) what() string {
	at := e.Sub.Join(e.Entity)
	number := fmt.Sprintf("number %d", e.Sequence)
	switch e.Kind {
	case EventSent:
		return fmt.Sprintf("sent to %s as %s", at, number)
	case EventScheduled:
		return fmt.Sprintf("scheduled in %s as %s", at, number)
	case EventActivated:
		if e.NextSequence == 0 {
			return fmt.Sprintf("came due in %s as %s", at, number)
		}
		return fmt.Sprintf("came due in %s: %s is number %d from now on", at, number, e.NextSequence)
	case EventCopied:
		return fmt.Sprintf("copied to %s as %s by the rule %s", at, number, e.Text)
	case EventForwardedHere:
		return fmt.Sprintf("arrived in %s as %s", at, number) + from(e.Text)
	case EventForwarded:
		return fmt.Sprintf("left %s, where it had %s, for %s", at, number, e.Text)
	case EventDelivered:
		return fmt.Sprintf("%s of %s was delivered", number, at)
	case EventDeliveredDeleted:
		return fmt.Sprintf("%s of %s was delivered and deleted", number, at)
	case EventDeadLettered:
		return fmt.Sprintf("%s of %s was moved to the dead-letter queue", number, at) + because(e.Text)
	case EventExpired:
		return fmt.Sprintf("%s of %s expired", number, at) + because(e.Text)
	case EventDuplicate:
		return fmt.Sprintf("dropped by %s: the message id came before", at)
	case EventRefusedSend:
		return "a send to " + at
	case EventRefusedSettlement:
		return "a settlement in " + at
	case EventFault:
		if at == "" {
			return e.Text
		}
		if e.Sequence != 0 {
			return fmt.Sprintf("%s, %s of %s", e.Text, number, at)
		}
		return e.Text + " in " + at
	case EventSessionBroken:
		return fmt.Sprintf("the lock of %s, in %s was broken", e.Text, at)
	case EventLockExpired:
		return fmt.Sprintf("the lock of %s of %s ended", number, at)
	case EventRenewed:
		return fmt.Sprintf("the lock of %s of %s was renewed", number, at)
	case EventReturned:
		return fmt.Sprintf("%s of %s did not reach its receiver and is available again", number, at)
	}
	return fmt.Sprintf("%s of %s was %s", number, at, e.Kind)
}

func from(text string) string {
	if text == "" {
		return ""
	}
	return " from " + text
}

func because(text string) string {
	if text == "" {
		return ""
	}
	return " because of " + text
}

func clockTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("15:04:05.000") + "Z" }
