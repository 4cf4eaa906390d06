package emulator

import (
	"bytes"
	"sync/atomic"
	"time"

	"minibus/internal/amqp/message"
)

// payload is the encoded message as the sender sent it, as one copy of the message has it. The copies that a topic makes
// stand in different entities, each with its own mutex, so each has a payload of its own; the stored body is one.
//
// What counts against the budget of the namespace is the bytes that are in memory, once, however many copies have them. The
// data is never a part of something larger, which would stay in memory with it.
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
	stored *atomic.Int32 // copies anywhere; the last one to go takes the stored body with it
	shown  *atomic.Int32 // copies that have the same bytes in memory, which count once; nil if none ever had
	here   atomic.Int32  // of the stored ones, those in the subscriptions of the topic that made them (QUO-4)
}

// newCopies counts n copies in the subscriptions of one topic.
func newCopies(n int32) *copies {
	counts := new(struct{ stored, shown atomic.Int32 })
	c := &copies{stored: &counts.stored, shown: &counts.shown}
	c.stored.Store(n)
	c.here.Store(n)
	return c
}

// last reports whether no other copy has the body, so that it goes with this one. The caller is about to remove the
// copy, and nobody else may be.
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

// bodies keeps the bodies of an entity's messages in memory while there is room, and reads those that are on disk only. The entity's mutex guards it.
type bodies struct {
	q    *Entity
	held int64 // bytes in memory
}

// removeCopy gives up a copy that is no longer stored, and with it the body if it was the last and the body is still
// there.
func (b *bodies) removeCopy(p *payload) {
	b.evict(p)
	if p.copies == nil || p.copies.stored.Add(-1) > 0 {
		return
	}
	op := &bodyRemoval{ns: b.q.ns}
	op.change.Done = op
	op.change.Ops = append(op.change.Single[:0], Op{Kind: OpDelete, DropBody: true, Record: MessageRecord{Body: p.id}})
	b.q.ns.append(&op.change)
}

// bodyRemoval is a stored body that is being removed after the last of its copies. It belongs to no entity.
type bodyRemoval struct {
	change Change
	ns     *Namespace
}

// Completed has it tried again later if it failed: nothing else would ever remove the body.
func (op *bodyRemoval) Completed(err error) {
	if err != nil {
		op.ns.logger.Debug("a body without messages could not be removed; trying again", "error", err)
		op.ns.clock.At(op.ns.clock.Now().Add(retryAfter*time.Millisecond), op.again)
	}
}

// again is the next try.
func (op *bodyRemoval) again() {
	if !op.ns.closed.Load() {
		op.ns.append(&op.change)
	}
}

// evict takes a body out of memory.
func (b *bodies) evict(p *payload) {
	if p.data == nil {
		return
	}
	p.data = nil
	b.held -= int64(p.size)
	if p.copies == nil || p.copies.shown.Add(-1) == 0 {
		b.q.ns.inMemory.Add(-int64(p.size))
	}
}

// keep keeps the body of a message that is now on disk in memory, if there is room. For a copy of one that is in
// memory anyway there is.
func (b *bodies) keep(p *payload) {
	if p.data == nil {
		return
	}
	size := int64(p.size)
	alone := p.copies == nil || p.copies.shown.Load() == 0
	if b.q.gone || alone && !b.q.ns.keep(size, b.held) {
		p.data = nil
		return
	}
	b.held += size
	if p.copies == nil || p.copies.shown.Add(1) == 1 {
		b.q.ns.inMemory.Add(size)
	}
}

// ownBytes returns the bytes of a message that comes in as they may stay in memory, nil if they may not. A message of a batch
// is a part of the transfer, which one that stays behind would hold as a whole: it is copied, unless there is no room anyway.
// (To count the transfer as long as anyone has a part of it costs no copy; but then a few hundred messages that wait for
// their time use up the budget of all.)
func (ns *Namespace) ownBytes(m *message.Message) []byte {
	switch {
	case !m.Part:
		return m.Raw
	case ns.keep(int64(len(m.Raw)), 0):
		return bytes.Clone(m.Raw)
	}
	return nil
}

// count changes the count of the stored copies that have the body. A copy that is being made counts already, until its change
// fails; so does one that is handed on, until that is committed.
func (p *payload) count(by int32) {
	if p.copies != nil {
		p.copies.stored.Add(by)
	}
}

// largeBody is the size above which a body counts once more with each copy (QUO-3).
const largeBody = 1 << 20

// counted is what the message counts against the size of its entity: a large one counts twice (QUO-3).
func (p *payload) counted() int64 {
	if p.size > largeBody {
		return 2 * int64(p.size)
	}
	return int64(p.size)
}

// joint is what n copies count together against the size of a topic: the body once, a large one n times more (QUO-3,
// QUO-4).
func (p *payload) joint(n int) int64 {
	switch {
	case n == 0:
		return 0
	case p.size > largeBody:
		return int64(n+1) * int64(p.size)
	}
	return int64(p.size)
}

// count counts a message that has come into a subscription to its topic's size.
func (b *bodies) count(p *payload) {
	if b.q.subscription != nil {
		n := p.hereAdd(1)
		b.q.subscription.topic.bytes.Add(p.joint(n) - p.joint(n-1))
	}
}

// uncount counts a message that leaves a subscription out of its topic's size.
func (b *bodies) uncount(p *payload) {
	if b.q.subscription != nil {
		n := p.hereAdd(-1)
		b.q.subscription.topic.bytes.Add(p.joint(n) - p.joint(n+1))
	}
}

// hereAdd changes the count of the copies in the subscriptions of a topic, and returns it.
func (p *payload) hereAdd(by int32) int {
	if p.copies == nil {
		return int(max(by, 0)) // this one alone
	}
	return int(p.copies.here.Add(by))
}

// removeAll gives up the bodies of everything in an entity that was deleted.
func (b *bodies) removeAll() {
	for i := range b.q.messages.boxes {
		b.q.messages.boxes[i].look(-1<<63, func(e *entry) bool {
			if e.mark == markPending {
				return true // only a new self of another entry that stands in the log as well
			}
			b.uncount(e.body)
			b.removeCopy(e.body)
			return true
		})
	}
}
