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

// Reserve calls then, on any goroutine, once so many bytes may be read into memory, or with an error that the reader
// is to get. Nil bounds nothing.
type Reserve func(bytes int, then func(error))

// removeCopy gives up a copy that is no longer stored, and with it the body if it was the last and the body is still
// there.
func (b *bodies) removeCopy(p *payload) {
	if b.giveUpCopy(p) {
		b.q.ns.removeBodies(p.id)
	}
}

// giveUpCopy gives up a copy, and reports whether it was the last and the body has to be removed.
func (b *bodies) giveUpCopy(p *payload) (last bool) {
	b.evict(p)
	return p.copies != nil && p.copies.stored.Add(-1) <= 0 && b.q.ns.stage.Load() != stageGone
}

// bodyRemoval is stored bodies that are being removed after the last of their copies. They belong to no entity. Each change removes a turn of them: clients wait
// in the journal for one of these, not for all.
type bodyRemoval struct {
	change Change
	ns     *Namespace
	left   []int64 // those of change and the ones after them
}

// removeBodies removes stored bodies, if there are any.
func (ns *Namespace) removeBodies(ids ...int64) {
	if len(ids) > 0 {
		(&bodyRemoval{ns: ns, left: ids}).begin()
	}
}

// begin removes the next turn of bodies. The namespace does not come to rest before.
func (op *bodyRemoval) begin() {
	op.ns.forwarding.add()
	op.change = Change{Done: op}
	op.change.Ops = op.change.Single[:0]
	for _, id := range op.left[:min(turn, len(op.left))] {
		op.change.Ops = append(op.change.Ops, Op{Kind: OpDelete, DropBody: true, Record: MessageRecord{Body: id}})
	}
	op.ns.append(&op.change)
}

// Completed goes on, and if it failed has it tried again later: nothing else would ever remove the bodies.
func (op *bodyRemoval) Completed(err error) {
	defer op.ns.forwarding.done()
	if err != nil {
		op.ns.logger.Debug("bodies without messages could not be removed; trying again", "error", err)
		op.wait()
		return
	}
	if op.left = op.left[len(op.change.Ops):]; len(op.left) > 0 {
		op.begin()
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
		op.begin()
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
	if b.q.deleted || alone && !b.q.ns.budget.fits(size, b.held) {
		p.data = nil
		return
	}
	b.held += size
	if p.copies == nil || p.copies.shown.Add(1) == 1 {
		b.q.ns.budget.add(size)
	}
}

// shrink evicts bodies of free messages, the last ones first, since they are needed last, until the namespace has no more than goal
// bytes in memory. It reports whether it could evict any. Its caller does not hold the entity's mutex, which it takes for a while at a time.
func (b *bodies) shrink(goal int64) (any bool) {
	for i := range b.q.messages.subQueues {
		from := int64(math.MaxInt64)
		for more := true; more; {
			b.q.mu.Lock()
			looked := 0
			b.q.messages.subQueues[i].descend(from, func(e *entry) bool {
				if e.mark == markFree && e.body.data != nil {
					b.evict(e.body)
					any = true
				}
				from = e.seq
				looked++
				return looked < shrinkAtOnce && b.q.ns.budget.own.Load() > goal
			})
			more = looked == shrinkAtOnce && b.q.ns.budget.own.Load() > goal
			b.q.messages.subQueues[i].tried = min(b.q.messages.subQueues[i].tried, from) // without their bodies they can be packed
			b.q.mu.Unlock()
		}
	}
	b.q.mu.Lock()
	defer b.q.mu.Unlock()
	return b.q.sessions.shrink(goal) || any
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
	var last []int64
	for i := range b.q.messages.subQueues {
		b.q.messages.subQueues[i].look(-1<<63, func(e *entry) bool {
			if e.mark == markPending {
				return true // only a new self of another entry that stands in the log as well
			}
			b.uncount(e.body)
			if b.giveUpCopy(e.body) {
				last = append(last, e.body.id)
			}
			return true
		})
	}
	b.q.ns.removeBodies(last...)
}
