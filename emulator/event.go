package emulator

import (
	"encoding/binary"
	"iter"
	"slices"
	"strings"
	"unsafe"
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
	EventLockExpired                        // the same: nobody settled it in time
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
	EventFault                              // an injected fault struck an operation
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
	MessageID     string  // of messages that come; else empty
	Text          string  // the reason, the rule, the other entity of a forward, or the error
}

// Events returns the events from a number on, oldest first. Those that come meanwhile are not among them. The second result is the number
// of the next event after them, from which to go on.
func (r *Record) Events(from int64) (iter.Seq[Event], int64) {
	if r == nil {
		return func(func(Event) bool) {}, from
	}
	chunks, next := r.now(from)
	return func(yield func(Event) bool) {
		for i := range chunks {
			if !chunks[i].each(from, yield) {
				return
			}
		}
	}, next
}

// now returns the chunks that have events from a number on, as they are at this moment, and the number of the next event.
func (r *Record) now(from int64) (chunks []chunkOfEvents, next int64) {
	if r == nil {
		return nil, from
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.chunks) - 1; i >= 0 && r.chunks[i].first+int64(r.chunks[i].events) > from; i-- {
		chunks = append(chunks, *r.chunks[i]) // with the lengths of this moment
	}
	slices.Reverse(chunks)
	return chunks, r.next
}

// Oldest returns the number of the oldest event that is kept, or would be.
func (r *Record) Oldest() int64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.chunks) == 0 {
		return r.next
	}
	return r.chunks[0].first
}

// Next returns the number of the next event.
func (r *Record) Next() int64 {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

// Changed returns a channel that is closed once there is an event with the number or a later one. done says that nobody waits any more.
func (r *Record) Changed(number int64) (changed <-chan struct{}, done func()) {
	if r == nil {
		return nil, func() {}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next > number {
		now := make(chan struct{})
		close(now)
		return now, func() {}
	}
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	r.waiting.Add(1)
	return r.changed, func() { r.waiting.Add(-1) }
}

// each yields the events of a chunk and reports whether to go on.
func (c *chunkOfEvents) each(from int64, yield func(Event) bool) bool {
	d := eventReader{c.buf}
	for number := c.first; number < c.first+int64(c.events); number++ {
		e := d.event(c)
		e.Number = number
		if number >= from && !yield(e) {
			return false
		}
	}
	return true
}

// eachBack is each for all events, the last one first.
func (c *chunkOfEvents) eachBack(yield func(Event) bool) bool {
	starts := make([]int, c.events) // the events have no fixed length
	d := eventReader{c.buf}
	for i := range starts {
		starts[i] = len(c.buf) - len(d.b)
		d.event(c)
	}
	for i := len(starts) - 1; i >= 0; i-- {
		d.b = c.buf[starts[i]:]
		e := d.event(c)
		e.Number = c.first + int64(i)
		if !yield(e) {
			return false
		}
	}
	return true
}

// eventReader reads what append wrote.
type eventReader struct{ b []byte }

func (d *eventReader) int() int64 {
	v, n := binary.Varint(d.b)
	d.b = d.b[n:]
	return v
}

func (d *eventReader) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	d.b = d.b[n:]
	return v
}

func (d *eventReader) event(c *chunkOfEvents) Event {
	e := Event{Kind: EventKind(d.b[0]), Sub: SubQueue(d.b[1])}
	d.b = d.b[2:]
	e.At = c.base + d.int()
	at := c.places[d.uint()]
	e.Namespace, e.Entity = at.namespace, at.entity
	e.Sequence, e.FirstSequence, e.Body = d.int(), d.int(), d.int()
	e.DeliveryCount = uint32(d.uint())
	switch value := d.int(); {
	case value < 0:
		e.Topic, e.Copies = true, int(-value-1)
	case e.Kind == EventActivated:
		e.NextSequence = value
	default:
		e.Until = value
	}
	e.Client = c.clients[d.uint()]
	n := d.uint()
	e.setText(unsafe.String(unsafe.SliceData(d.b), n)) // what is in a chunk never changes
	d.b = d.b[n:]
	return e
}

func (e *Event) setText(text string) {
	switch {
	case e.Topic, e.Kind == EventSent, e.Kind == EventScheduled, e.Kind == EventDuplicate:
		e.MessageID = text
	case e.Kind == EventRefusedSend:
		e.MessageID, e.Text, _ = strings.Cut(text, refusedFor)
	default:
		e.Text = text
	}
}

// refusedFor stands between the id of a refused message and the reason.
const refusedFor = "\x00"

// eventWords are the kinds of events in plain words.
var eventWords = [...]string{
	EventNone: "nothing", EventSent: "sent", EventScheduled: "scheduled", EventCopied: "copied", EventForwardedHere: "forwarded here", EventActivated: "activated",
	EventDelivered: "delivered", EventDeliveredDeleted: "received and deleted", EventRenewed: "lock renewed", EventCompleted: "completed",
	EventAbandoned: "abandoned", EventReleased: "released", EventDeferred: "deferred", EventLockExpired: "lock expired", EventReturned: "returned",
	EventDeadLettered: "dead-lettered", EventExpired: "expired", EventForwarded: "forwarded", EventDuplicate: "duplicate", EventCancelled: "cancelled",
	EventPurged: "purged", EventRescheduled: "rescheduled", EventRefusedSend: "send refused", EventRefusedSettlement: "settlement refused", EventFault: "fault",
	EventSessionBroken: "session broken",
}

// String returns the kind in plain words.
func (k EventKind) String() string {
	if int(k) < len(eventWords) {
		return eventWords[k]
	}
	return "unknown"
}
