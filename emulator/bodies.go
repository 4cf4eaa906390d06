package emulator

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"minibus/internal/amqp/message"
)

// bodies keeps the bodies of an entity's messages in memory while there is room, and reads those that are on disk
// only. The entity's mutex guards it.
type bodies struct {
	q    *Entity
	held int64 // bytes in memory
}

// bodiesRead are bodies that were read from disk, by id. Those that are damaged or gone are nil.
type bodiesRead map[int64][]byte

// of returns a message's body from memory or from what was read, and reports whether it is in one of them.
func (r bodiesRead) of(e *entry) (body []byte, known bool) {
	if e.body.data != nil {
		return e.body.data, true
	}
	body, known = r[e.body.id]
	return body, known
}

// Reserve calls then, on any goroutine, once so many bytes may be read into memory, or with an error that the reader
// is to get. Nil bounds nothing.
type Reserve func(bytes int, then func(error))

// giveUpCopy gives up a copy that is no longer stored, and reports whether it was the last and the body has to be
// removed.
func (b *bodies) giveUpCopy(p *payload) (last bool) {
	b.evict(p)
	return p.copies != nil && p.copies.stored.Add(-1) <= 0 && b.q.ns.stage.Load() != stageGone
}

// bodyRemoval is stored bodies that are being removed after the last of their copies. They belong to no entity. Each
// change removes a turn of them: clients wait in the journal for one of these, not for all.
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
	op.ns.background.add()
	op.change = Change{Done: op}
	op.change.Ops = op.change.Single[:0]
	for _, id := range op.left[:min(turn, len(op.left))] {
		op.change.Ops = append(op.change.Ops, Op{Kind: OpDelete, DropBody: true, Record: MessageRecord{Body: id}})
	}
	op.ns.journal.Append(&op.change)
}

// Completed goes on, and if it failed has it tried again later: nothing else would ever remove the bodies.
func (op *bodyRemoval) Completed(err error) {
	defer op.ns.background.done()
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
	if p.copies == nil || p.copies.inMemory.Add(-1) == 0 {
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
	alone := p.copies == nil || p.copies.inMemory.Load() == 0
	if b.q.deleted || alone && !b.q.ns.budget.fits(size, b.held) {
		p.data = nil
		return
	}
	b.held += size
	if p.copies == nil || p.copies.inMemory.Add(1) == 1 {
		b.q.ns.budget.add(size)
	}
}

// shrink evicts bodies of free messages, the last ones first, since they are needed last, until the namespace has no
// more than goal bytes in memory. It reports whether it could evict any. Its caller does not hold the entity's mutex,
// which it takes for a while at a time.
func (b *bodies) shrink(goal int64) (shrunk bool) {
	for i := range b.q.messages.subQueues {
		from := int64(math.MaxInt64)
		for more := true; more; {
			b.q.mu.Lock()
			looked := 0
			b.q.messages.subQueues[i].descend(from, func(e *entry) bool {
				if e.mark == markFree && e.body.data != nil {
					b.evict(e.body)
					shrunk = true
				}
				from = e.seq
				looked++
				return looked < shrinkAtOnce && b.q.ns.budget.own.Load() > goal
			})
			more = looked == shrinkAtOnce && b.q.ns.budget.own.Load() > goal
			// without their bodies they can be packed
			b.q.messages.subQueues[i].tried = min(b.q.messages.subQueues[i].tried, from)
			b.q.mu.Unlock()
		}
	}
	b.q.mu.Lock()
	defer b.q.mu.Unlock()
	return b.q.sessions.shrink(goal) || shrunk
}

// shrinkAtOnce is how many messages are looked at in one critical section.
const shrinkAtOnce = 1024

// count counts a message that has come into a subscription to its topic's size.
func (b *bodies) count(p *payload) {
	if b.q.subscription != nil {
		n := p.addInTopic(1)
		b.q.subscription.topic.bytes.Add(p.joint(n) - p.joint(n-1))
	}
}

// uncount counts a message that leaves a subscription out of its topic's size.
func (b *bodies) uncount(p *payload) {
	if b.q.subscription != nil {
		n := p.addInTopic(-1)
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

// bodyBudget bounds the bytes of bodies that the namespaces of a process keep in memory. One may use what the others
// leave free, but each that has bodies can have its fair share: if another one is in the way, that one's go, and stay
// on disk only.
type bodyBudget struct {
	limit      int64
	namespaces func() []*Namespace // those that share it
	used       atomic.Int64
	holders    atomic.Int64 // namespaces with bodies in memory
	reclaims   running      // goroutines that make room
	reclaiming atomic.Bool
	fruitless  atomic.Int64 // when no room could be made; ns of the machine's clock
}

// defaultBodyBudget is how many bytes of message bodies stay in memory.
const defaultBodyBudget = 64 << 20

func newBodyBudget(limit int64) *bodyBudget {
	if limit <= 0 {
		limit = defaultBodyBudget
	}
	return &bodyBudget{limit: limit}
}

// bodyShare is the part of the budget that one namespace uses.
type bodyShare struct {
	*bodyBudget
	own atomic.Int64
}

// add counts bytes that come into memory, or leave it.
func (s *bodyShare) add(n int64) {
	s.used.Add(n)
	switch left := s.own.Add(n); {
	case n > 0 && left == n:
		s.holders.Add(1)
	case n < 0 && left == 0:
		s.holders.Add(-1)
	}
}

// fair returns the bytes that each namespace with bodies can have, when this one has some too.
func (s *bodyShare) fair() int64 {
	holders := s.holders.Load()
	if s.own.Load() == 0 {
		holders++ // it asks for its first body
	}
	return s.limit / max(holders, 1)
}

// fits decides whether a body of that size stays in memory once it is on disk, for a queue that holds so many bytes
// already. A deep queue may use what is free; a shallow one always finds a little room, and so does a namespace below
// its fair share.
func (s *bodyShare) fits(size, held int64) bool {
	const floor = 256 << 10
	total := s.used.Load() + size
	if total <= s.limit {
		return true
	}
	below := s.own.Load()+size < s.fair() // of one alone, which has all that is used, it is not
	if below {
		s.reclaim()
	}
	return (below || held+size <= floor) && total <= 2*s.limit
}

// retain returns the bytes of a message that comes in as they may stay in memory, nil if they may not. A message of a
// batch is a part of the transfer, which one that stays behind would hold as a whole: it is copied, unless there is
// no room anyway. (To count the transfer as long as anyone has a part of it costs no retain; but then a few hundred
// messages that wait for their time use up the budget of all.)
func (s *bodyShare) retain(m *message.Message) []byte {
	switch {
	case !m.Part:
		return m.Raw
	case s.fits(int64(len(m.Raw)), 0):
		return bytes.Clone(m.Raw)
	}
	return nil
}

// reclaim sets a goroutine to make room for the namespace, unless one is at it, or could make none a moment ago. Its
// caller holds the mutex of an entity.
func (s *bodyShare) reclaim() {
	b := s.bodyBudget
	if time.Now().UnixNano()-b.fruitless.Load() < int64(time.Second) || !b.reclaiming.CompareAndSwap(false, true) {
		return
	}
	b.reclaims.add()
	go func() {
		defer b.reclaims.done()
		defer b.reclaiming.Store(false)
		if !b.freeMemory(s.fair()) {
			b.fruitless.Store(time.Now().UnixNano())
		}
	}()
}

// freeMemory evicts bodies of the namespaces that have more than a fair share, of the one with most first, until an
// eighth of the budget is free. It reports whether it could evict any.
func (b *bodyBudget) freeMemory(fair int64) (shrunk bool) {
	free := b.limit - b.limit/8
	list := b.namespaces()
	size := func(ns *Namespace) int64 { return ns.budget.own.Load() }
	slices.SortFunc(list, func(x, y *Namespace) int { return cmp.Compare(size(y), size(x)) })
	for _, ns := range list {
		excess := min(size(ns)-fair, b.used.Load()-free)
		if excess <= 0 {
			return shrunk
		}
		shrunk = b.evict(ns, excess) || shrunk
	}
	return shrunk
}

// evict takes about so many bytes of a namespace's bodies out of memory, from the entities that hold most, and
// reports whether it could take any.
func (b *bodyBudget) evict(ns *Namespace, excess int64) (shrunk bool) {
	goal := ns.budget.own.Load() - excess
	type holder struct {
		q    *Entity
		held int64
	}
	var holders []holder
	for _, q := range ns.catalog.entities(anyKind) {
		q.mu.Lock()
		if q.bodies.held > 0 {
			holders = append(holders, holder{q, q.bodies.held})
		}
		q.mu.Unlock()
	}
	slices.SortFunc(holders, func(x, y holder) int { return cmp.Compare(y.held, x.held) })
	for _, h := range holders {
		if ns.budget.own.Load() <= goal {
			break
		}
		shrunk = h.q.bodies.shrink(goal) || shrunk
	}
	return shrunk
}
