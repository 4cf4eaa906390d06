package emulator

import (
	"bytes"
	"cmp"
	"slices"
	"sync/atomic"
	"time"

	"minibus/internal/amqp/message"
)

// bodyBudget bounds the bytes of bodies that the namespaces of a process keep in memory. One may use what the others leave free, but each
// that has bodies can have its fair share: if another one is in the way, that one's go, and stay on disk only.
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
// already. A deep queue may use what is free; a shallow one always finds a little room, and so does a namespace below its fair share.
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

// copy returns the bytes of a message that comes in as they may stay in memory, nil if they may not. A message of a batch
// is a part of the transfer, which one that stays behind would hold as a whole: it is copied, unless there is no room anyway.
// (To count the transfer as long as anyone has a part of it costs no copy; but then a few hundred messages that wait for
// their time use up the budget of all.)
func (s *bodyShare) copy(m *message.Message) []byte {
	switch {
	case !m.Part:
		return m.Raw
	case s.fits(int64(len(m.Raw)), 0):
		return bytes.Clone(m.Raw)
	}
	return nil
}

// reclaim sets a goroutine to make room for the namespace, unless one is at it, or could make none a moment ago. Its caller holds the mutex of an entity.
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

// freeMemory evicts bodies of the namespaces that have more than a fair share, of the one with most first, until an eighth of the budget is
// free. It reports whether it could evict any.
func (b *bodyBudget) freeMemory(fair int64) (any bool) {
	free := b.limit - b.limit/8
	list := b.namespaces()
	size := func(ns *Namespace) int64 { return ns.budget.own.Load() }
	slices.SortFunc(list, func(x, y *Namespace) int { return cmp.Compare(size(y), size(x)) })
	for _, ns := range list {
		excess := min(size(ns)-fair, b.used.Load()-free)
		if excess <= 0 {
			return any
		}
		any = b.evict(ns, excess) || any
	}
	return any
}

// evict takes about so many bytes of a namespace's bodies out of memory, from the entities that hold most, and reports whether it could take
// any.
func (b *bodyBudget) evict(ns *Namespace, excess int64) (any bool) {
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
		any = h.q.bodies.shrink(goal) || any
	}
	return any
}
