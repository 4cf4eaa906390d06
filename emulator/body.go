package emulator

import (
	"math"
	"time"
)

// bodies keeps the bodies of an entity's messages in memory while there is room, and reads those that are on disk only. The entity's mutex guards it.
type bodies struct {
	q    *Entity
	held int64 // bytes in memory
}

// removeCopy gives up a copy that is no longer stored, and with it the body if it was the last and the body is still
// there.
func (b *bodies) removeCopy(p *payload) {
	b.evict(p)
	if p.copies == nil || p.copies.stored.Add(-1) > 0 || b.q.ns.stage.Load() == stageGone {
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
		op.wait()
	}
}

func (op *bodyRemoval) wait() {
	op.ns.clock.At(op.ns.clock.Now().Add(retryAfter*time.Millisecond), op.again)
}

// again is the next try.
func (op *bodyRemoval) again() {
	switch stage := op.ns.stage.Load(); {
	case op.ns.closed.Load() || stage == stageGone:
	case stage == stageLeaving:
		op.wait()
	default:
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
		b.q.ns.budget.add(-int64(p.size))
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
		b.q.ns.budget.add(size)
	}
}

// shrink evicts bodies of messages at rest, the last ones first, since they are needed last, until the namespace has no more than goal
// bytes in memory. It reports whether it could evict any. Its caller does not hold the entity's mutex, which it takes for a while at a time.
func (b *bodies) shrink(goal int64) (any bool) {
	for i := range b.q.messages.boxes {
		from := int64(math.MaxInt64)
		for more := true; more; {
			b.q.mu.Lock()
			looked := 0
			b.q.messages.boxes[i].descend(from, func(e *entry) bool {
				if e.mark == markFree && e.body.data != nil {
					b.evict(e.body)
					any = true
				}
				from = e.seq
				looked++
				return looked < shrinkAtOnce && b.q.ns.budget.own.Load() > goal
			})
			more = looked == shrinkAtOnce && b.q.ns.budget.own.Load() > goal
			b.q.messages.boxes[i].tried = min(b.q.messages.boxes[i].tried, from) // without their bodies they can be packed
			b.q.mu.Unlock()
		}
	}
	return any
}

// shrinkAtOnce is how many messages are looked at in one critical section.
const shrinkAtOnce = 1024

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
