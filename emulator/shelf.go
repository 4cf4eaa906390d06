package emulator

// shelf is an ordered set of entries from which consumers are served: a sub-queue, one session, or one partition. Its
// queue's mutex guards it.
type shelf struct {
	log
	available int                 // entries that are ready
	next      int64               // the walk has seen all entries with lower numbers: those that are ready stand in returned
	returned  heap[*entry, bySeq] // ready entries behind the walk
	returning int                 // entries on their way back that must not be overtaken (SESS-20)
	line      line
}

// makeAvailable lets receives have e, which is at rest and active.
func (s *shelf) makeAvailable(e *entry) {
	e.mark = markFree
	s.available++
	if e.seq < s.next && !e.returned {
		s.returned.push(e)
	}
}

// take removes e, which is ready, from what is available and gives it the mark m.
func (s *shelf) take(e *entry, m mark) {
	e.mark = m
	s.available--
}

// nextReady returns the available entry with the lowest number (ORD-1) without taking it, or nil.
func (s *shelf) nextReady() *entry {
	for len(s.returned) > 0 {
		if e := s.returned[0]; e.ready() {
			return e
		}
		s.returned.pop()
	}
	if s.available == 0 {
		return nil
	}
	var found *entry
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
func (s *shelf) wake() {
	if s.returning > 0 {
		return
	}
	for s.line.first != nil && s.available > s.line.promised {
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
