package emulator

import (
	"bytes"
	"sync/atomic"
	"time"

	"minibus/internal/amqp/message"
)

// bodyBudget bounds the bytes of bodies in memory.
type bodyBudget struct {
	limit int64
	used  atomic.Int64
}

// hasRoom decides whether a body of that size stays in memory once it is on disk, for a queue that holds so many bytes
// already. A deep queue may use what is free; a shallow one always finds a little room.
func (b *bodyBudget) hasRoom(size, held int64) bool {
	const floor = 256 << 10
	total := b.used.Load() + size
	return total <= b.limit || held+size <= floor && total <= 2*b.limit
}

// own returns the bytes of a message that comes in as they may stay in memory, nil if they may not. A message of a batch
// is a part of the transfer, which one that stays behind would hold as a whole: it is copied, unless there is no room anyway.
// (To count the transfer as long as anyone has a part of it costs no copy; but then a few hundred messages that wait for
// their time use up the budget of all.)
func (b *bodyBudget) own(m *message.Message) []byte {
	switch {
	case !m.Part:
		return m.Raw
	case b.hasRoom(int64(len(m.Raw)), 0):
		return bytes.Clone(m.Raw)
	}
	return nil
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
		b.q.ns.budget.used.Add(-int64(p.size))
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
	if b.q.gone || alone && !b.q.ns.budget.hasRoom(size, b.held) {
		p.data = nil
		return
	}
	b.held += size
	if p.copies == nil || p.copies.shown.Add(1) == 1 {
		b.q.ns.budget.used.Add(size)
	}
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
