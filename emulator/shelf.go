package emulator

// shelf is messages from which consumers are served: those of a sub-queue or of a partition. Its queue's mutex guards it.
type shelf struct {
	log
	supply
}

// supply is which messages of a shelf, or of a session, are ready to be taken, and who waits for them.
type supply struct {
	available int32               // entries that are ready
	returning int32               // entries on their way back that must not be overtaken (SESS-20)
	next      int64               // the walk has seen all entries with lower numbers: those that are ready stand in returned
	returned  heap[*entry, bySeq] // ready entries behind the walk
	line      *line               // nil: no consumer is served from here yet
}

// makeAvailable lets receives have e, which is at rest and active.
func (s *supply) makeAvailable(e *entry) {
	e.mark = markFree
	s.available++
	if e.seq < s.next && !e.returned {
		s.returned.push(e)
	}
}

// take removes e, which is ready, from what is available and gives it the mark m.
func (s *supply) take(e *entry, m mark) {
	e.mark = m
	s.available--
}

// firstReturned returns the available entry behind the walk with the lowest number, or nil.
func (s *supply) firstReturned() *entry {
	for len(s.returned) > 0 {
		if e := s.returned[0]; e.ready() {
			return e
		}
		s.returned.pop()
	}
	return nil
}

// nextReady returns the available entry with the lowest number (ORD-1) without taking it, or nil.
func (s *shelf) nextReady() *entry {
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

// wake pokes as many consumers, from the front of the line, as can take what is available. A poked consumer answers
// with a Take, which passes on what it does not want.
func (s *supply) wake() {
	if s.returning > 0 || s.line == nil {
		return
	}
	for s.line.first != nil && int(s.available) > s.line.promised {
		c := s.line.first
		s.line.remove(c)
		c.promise = c.want
		s.line.promised += c.promise
		c.notify()
	}
}

// bySeq orders returned entries by their numbers.
type bySeq struct{}

func (bySeq) less(a, b *entry) bool      { return a.seq < b.seq }
func (bySeq) placed(e *entry, index int) { e.returned = index >= 0 }
