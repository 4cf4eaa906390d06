package store

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"minibus/emulator"
)

// Bounds of what EndBatch commits on its caller's goroutine: a client that sends or settles one message and waits.
// More is better committed by the writer's goroutine, while callers go on.
const (
	inlineChanges = 2
	inlineOps     = 4
	inlineBytes   = 64 << 10

	inlineInARow = 16 // such commits until the writer's goroutine does what is due after them
)

// BeginBatch implements [emulator.Store].
func (s *Store) BeginBatch() { s.inbox.batches.Add(1) }

// EndBatch implements [emulator.Store]. While a client does one thing after another, waking the writer's goroutine,
// and being woken by it, costs more than the commit. While several connections commit, the writer's goroutine does it
// for all.
func (s *Store) EndBatch() {
	if s.inbox.batches.Add(-1) > 0 {
		s.contention.met()
	}
	some, little := false, false
	s.inbox.look(func(items []item) { some, little = len(items) > 0, isLittle(items) })
	if !some {
		return
	}
	if !little || !s.inline || s.contention.high() {
		s.inbox.poke()
		return
	}
	if !s.writer.mu.TryLock() {
		s.contention.met()
		s.inbox.poke()
		return
	}
	defer s.writer.mu.Unlock()
	w := s.writer
	if !w.tidied || s.health.full() || len(w.copier.ready) > 0 || !w.tx.tryBegin() {
		// There is more to do. Or another program holds the write lock, and the caller has heartbeats to send.
		s.inbox.poke()
		return
	}
	defer s.writer.tx.endBegun()
	s.commitInline()
}

// commitInline commits what has queued up. A panic ends the process, as it does on the writer's goroutine: the caller
// may be prepared to lose a connection by one, and would go on with a store in an unknown state.
func (s *Store) commitInline() {
	defer func() {
		if p := recover(); p != nil {
			stack := debug.Stack()
			go panic(fmt.Sprintf("%v\n\n%s", p, stack))
			select {}
		}
	}()
	if !s.writer.commitQueued(s.inbox.takeIf(isLittle)) {
		s.inbox.poke() // more has come meanwhile
		return
	}
	if s.writer.inlined++; s.writer.inlined == inlineInARow {
		s.inbox.poke() // what is due after a commit may wait for the disk, which the caller must not
	}
}

// isLittle reports whether items are few and small, and leave no work for later.
func isLittle(items []item) bool {
	ops, bytes := 0, 0
	for _, it := range items {
		if it.change == nil {
			return false
		}
		for i := range it.change.Ops {
			op := &it.change.Ops[i]
			if op.Kind > emulator.OpCounter && op.Kind != emulator.OpDuplicate {
				return false
			}
			ops += max(1, len(op.Copies))
			bytes += len(op.Data)
		}
	}
	return len(items) <= inlineChanges && ops <= inlineOps && bytes <= inlineBytes
}

// contention estimates whether several connections commit at a time. Then commits by the writer's goroutine are better,
// which lets others append first: a commit costs about as much for ten changes as for one.
//
// The estimate is a score. It rises by one when two goroutines meet, falls by one with each commit, and is at its
// height after a commit of more changes than one caller has. Points that get lost between two goroutines do not
// matter.
type contention struct{ score atomic.Int32 }

const (
	highestContention = 32
	highContention    = 8 // from here on the writer's goroutine commits
)

func (c *contention) high() bool { return c.score.Load() >= highContention }

// met notes that two goroutines were about to commit at the same time.
func (c *contention) met() { c.score.Store(min(c.score.Load()+1, highestContention)) }

// committed notes a commit of that many changes.
func (c *contention) committed(changes int) {
	switch score := c.score.Load(); {
	case changes > inlineChanges:
		c.score.Store(highestContention)
	case score > 0:
		c.score.Store(score - 1)
	}
}
