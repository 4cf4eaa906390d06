package emulator

// partition holds the messages of a partition of a sub-queue, or of a whole one that is not partitioned, and serves
// consumers from them. The entity's mutex guards it.
type partition struct {
	log
	readyQueue
}

// readyQueue says which messages of a partition or of a session are available, and which consumers wait for more.
type readyQueue struct {
	available int32 // entries that are ready
	returning int32 // entries on their way back that must not be overtaken (SESS-20)
	// the walk has seen all entries with lower numbers: those that are ready stand in returned
	next     int64
	returned heap[*entry, bySeq] // ready entries behind the walk
	waiters  *waitList           // nil: no consumer was ever served from here
}

// firstReturned returns the available entry behind the walk with the lowest number, or nil.
func (s *readyQueue) firstReturned() *entry {
	for len(s.returned) > 0 {
		if e := s.returned[0]; e.ready() {
			return e
		}
		s.returned.pop()
	}
	return nil
}

// nextReady returns the available entry with the lowest number (ORD-1) without taking it, or nil.
func (s *partition) nextReady() *entry {
	found := s.firstReturned()
	if found != nil || s.available == 0 {
		return found
	}
	s.ascend(s.next, func(e *entry) bool {
		if e.ready() {
			found = e
			return false
		}
		s.next = e.seq + 1
		return true
	})
	return found
}

// wake pokes as many consumers, from the front of the wait list, as can take what is available. A poked consumer
// answers with a Take, which passes on what it does not want.
func (s *readyQueue) wake() {
	if s.returning > 0 || s.waiters == nil {
		return
	}
	for s.waiters.first != nil && int(s.available) > s.waiters.promised {
		s.waiters.poke(s.waiters.first, s.waiters.first.want)
	}
}

// bySeq orders returned entries by their numbers.
type bySeq struct{}

func (bySeq) less(a, b *entry) bool      { return a.seq < b.seq }
func (bySeq) placed(e *entry, index int) { e.returned = index >= 0 }

// waiter is a consumer's place in a wait list. The entity's mutex guards it.
type waiter struct {
	notify     func() // immutable
	closed     bool   // it takes nothing more
	waiting    bool
	prev, next *waiter
	want       int // how many messages it would take
	promise    int // how many the last poke promised; 0 when it is not poked

	ticket     int64 // by which consumers who wait in different lists take turns
	incomplete bool  // its last Take found less than it wanted, before its selector was evaluated on all that waits
}

// waitList is the consumers that wait for a message, in the order in which they granted credit (ORD-4, DEC-27).
// The entity's mutex guards it.
type waitList struct {
	first, last *waiter
	promised    int   // messages that poked consumers may still come and take
	tickets     int64 // given out so far
}

// poke lets a consumer come and take messages.
func (l *waitList) poke(w *waiter, promise int) {
	l.remove(w)
	w.promise = promise
	l.promised += promise
	w.notify()
}

func (l *waitList) pushBack(w *waiter) {
	w.waiting = true
	w.prev = l.last
	w.next = nil
	if l.last != nil {
		l.last.next = w
	} else {
		l.first = w
	}
	l.last = w
}

func (l *waitList) pushFront(w *waiter) {
	w.waiting = true
	w.prev = nil
	w.next = l.first
	if l.first != nil {
		l.first.prev = w
	} else {
		l.last = w
	}
	l.first = w
}

func (l *waitList) remove(w *waiter) {
	if !w.waiting {
		return
	}
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		l.first = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		l.last = w.prev
	}
	w.waiting = false
	w.prev = nil
	w.next = nil
}
