package emulator

import (
	"sync/atomic"

	"minibus/internal/amqp/message"
)

// mark says what the broker is doing with an entry at the moment. Together with entry.state, the state in the journal,
// it gives the message's place in the life cycle.
type mark uint8

const (
	markFree    mark = iota // available, deferred or scheduled: no consumer or change has it in hand
	markPending             // being written, not visible yet
	markLocked              // locked by a consumer
	markBusy                // a change of it is being written: settled, moved, activated or removed
	markMoving              // a forwarder has it in hand, or, in a dead-letter queue, has parked it
	markRemoved             // no longer in any log
)

// entry is one message in memory. There is one for every stored message that is not packed (see packedEntry), so its
// size matters: 80 bytes, with what few messages have in extra and what only locked ones have in lock.
type entry struct {
	seq      int64
	first    int64 // number at its first submission, of copies and forwarded messages (SEQ-15, SEQ-16); else 0
	enqueued int64 // ms
	ttl      int64 // ms; 0: does not expire
	row      int64
	body     *payload
	extra    *extra   // nil on most messages
	lock     *Lock    // not nil while mark is markLocked
	session  *session // nil where the queue has no sessions, and in dead-letter queues (DLQ-6)
	count    uint32   // delivery count (DC-1)
	state    State
	mark     mark
	sub      SubQueue
	returned bool // stands in its sub-queue's heap of returned messages
}

// owners are the sessions of neighbouring entries whose numbers alone are kept; nil if none is of a session.
type owners []*session

func (o owners) at(i int) *session {
	if o == nil {
		return nil
	}
	return o[i]
}

// put notes the session of one of n entries.
func (o *owners) put(i int, s *session, n int) {
	if *o == nil {
		*o = make(owners, n)
	}
	(*o)[i] = s
}

// extra holds the fields that only some messages need.
type extra struct {
	due     int64  // ms; of scheduled messages
	overlay []byte // changed application properties
	system  []byte // broker properties that an action changed (TOP-6)
	reason  string // dead-letter reason
	hops    uint8  // transfers so far (FWD-9)
	source  string // where it was dead-lettered before it was forwarded (DLQ-10)
	until   int64  // ms; the end of the lock with which it was deferred (PROP-3). It is not in the journal
}

// Lock is a peek-lock (LOCK-1). Once a delivery is written its receiver has to keep only the Lock.
type Lock struct {
	token LockToken // immutable

	// guarded by q.mu
	until         int64        // ms; of a message in a session, the session's lock counts instead
	tx            *Transaction // that will settle it; nil: none
	holder        *Consumer    // of the session, or who took the message from the queue; else nil
	kept          bool         // the holder has the delivery among its own, and has to know when the lock ends
	blocksSession bool         // without holder: others must not leave the message's session before it (SESS-20)
	// without holder: when it ends the broker tries again what it does by itself, and counts no failed delivery
	retries bool

	// owned by the goroutine of the consumer
	over bool   // it was told that the lock has ended
	ID   uint32 // for the receiver, to tell its deliveries apart
}

// Token returns the lock's token (LOCK-3).
func (l *Lock) Token() LockToken { return l.token }

func seqOf(e *entry) int64 { return e.seq }

// ready reports whether a receive may take the message.
func (e *entry) ready() bool { return e.mark == markFree && e.state == Active }

// noExtra stands for the extra data of an entry that has none. Nothing is written to it.
var noExtra extra

// extras returns what few messages have, to be read only.
func (e *entry) extras() *extra {
	if e.extra == nil {
		return &noExtra
	}
	return e.extra
}

// overlayOf returns the changed application properties; of nil, none.
func (x *extra) overlayOf() []byte {
	if x == nil {
		return nil
	}
	return x.overlay
}

// kept returns x to be kept, nil if nothing is set in it.
func (x extra) kept() *extra {
	if x.due == 0 && x.overlay == nil && x.system == nil && x.reason == "" && x.hops == 0 && x.source == "" &&
		x.until == 0 {
		return nil
	}
	kept := x // x itself would be allocated in every call
	return &kept
}

// record returns the journal's record of e in the entity.
func (e *entry) record(entity int64) MessageRecord {
	x := e.extras()
	return MessageRecord{
		Row: e.row, Entity: entity, Sub: e.sub, Seq: e.seq, Body: e.body.id, State: e.state,
		Enqueued: e.enqueued, TTL: e.ttl, Scheduled: x.due, Size: int64(e.body.size),
		DeliveryCount: e.count, Overlay: x.overlay, System: x.system, Reason: x.reason, EnqueuedSeq: e.first,
		Hops: x.hops, Source: x.source,
	}
}

// incoming is a message on its way in, checked but not numbered.
type incoming struct {
	m    message.Message
	info message.Info
	hops uint8 // transfers so far (FWD-9)
}

// waits reports whether the message is scheduled for later (SCHED-5, SCHED-11).
func (in *incoming) waits(now int64) bool {
	return in.info.HasScheduled && int64(in.info.Scheduled) > now
}

// payload is the encoded message as the sender sent it, as one copy of the message has it. The copies that a topic
// makes stand in different entities, each with its own mutex, so each has a payload of its own; the stored body is
// one.
//
// What counts against the budget of the namespace is the bytes that are in memory, once, however many copies have
// them. The data is never a part of something larger, which would stay in memory with it.
type payload struct {
	id     int64
	data   []byte  // nil when it is only on disk
	size   uint32  // bytes of the message
	copies *copies // nil if no other copy has the body
}

// newPayload makes the payload of a message of which there is no other copy.
func newPayload(id int64, data []byte) *payload {
	return &payload{id: id, data: data, size: uint32(len(data))}
}

// copies counts the copies of a message that share a body.
type copies struct {
	stored   *atomic.Int32 // copies anywhere; the last one to go takes the stored body with it
	inMemory *atomic.Int32 // copies that have the same bytes in memory, which count once; nil if none ever had
	inTopic  atomic.Int32  // of the stored ones, those in the subscriptions of the topic that made them (QUO-4)
}

// newCopies counts n copies in the subscriptions of one topic.
func newCopies(n int32) *copies {
	counts := new(struct{ stored, shown atomic.Int32 })
	c := &copies{stored: &counts.stored, inMemory: &counts.shown}
	c.stored.Store(n)
	c.inTopic.Store(n)
	return c
}

// last reports whether no other copy has the body, so that it goes with this one. The caller, and no other
// goroutine, is about to remove the copy.
//
// Of two last copies that are being removed at once neither takes the body along: whichever was removed later drops it
// then, in a change of its own. To decide earlier, the changes of both would have to be appended in the order of the
// decisions, although they belong to different entities.
func (p *payload) last() bool {
	if p.copies != nil && p.copies.stored.Load() == 1 {
		p.copies = nil
	}
	return p.copies == nil
}

// count changes the count of the stored copies that have the body. A copy that is being made counts already, until
// its change fails; so does one that is handed on, until that is committed.
func (p *payload) count(by int32) {
	if p.copies != nil {
		p.copies.stored.Add(by)
	}
}

// addInTopic changes the count of the copies in the subscriptions of a topic, and returns it.
func (p *payload) addInTopic(by int32) int {
	if p.copies == nil {
		return int(max(by, 0)) // this one alone
	}
	return int(p.copies.inTopic.Add(by))
}

// largeBody is the size above which a body counts once more with each copy (QUO-3).
const largeBody = 1 << 20

// counted returns the bytes that the message counts against the size of its entity: a large one counts twice (QUO-3).
func (p *payload) counted() int64 {
	if p.size > largeBody {
		return 2 * int64(p.size)
	}
	return int64(p.size)
}

// joint returns the bytes that n copies count together against the size of a topic: the body once, a large one n times
// more (QUO-3, QUO-4).
func (p *payload) joint(n int) int64 {
	switch {
	case n == 0:
		return 0
	case p.size > largeBody:
		return int64(n+1) * int64(p.size)
	}
	return int64(p.size)
}
