package amqpserver

import (
	"math"
	"slices"
	"sync"
	"time"
)

const (
	largeDelivery    = 1 << 20          // bytes; smaller deliveries need no share of the memory
	minProgress      = 1 << 20          // bytes that a share has to move in stallTimeout while others wait
	minProgressFirst = 8 << 20          // the same for the first one, if nobody can overtake it
	stallTimeout     = 30 * time.Second // without that its delivery is given up
	checkInterval    = time.Second      // while shares wait
	slowProgress     = 1 << 20          // bytes between two checks; others overtake a share that moves less
)

// memoryBudget bounds the bytes that large deliveries of all connections have in memory, in one direction. Each has a
// share, which grows as the delivery does. The shares stand in a queue in the order in which they came. One may grow if
// those before it can still get all that they may come to want. So the first one always may, they end one after the
// other, and none waits for another that waits for it.
//
// While others wait, the first one goes to the end of the queue if it is slow, provided that what it has leaves enough
// for the others. Else it has to progress.
type memoryBudget struct {
	size int

	mu           sync.Mutex // a leaf
	queue        []*memoryShare
	timer        *time.Timer // runs while shares wait
	waitingSince time.Time   // of the first that waits
}

// memoryShare counts how much of a budget a connection or a link needs.
type memoryShare struct {
	// Any goroutine may call these, without the budget's mutex. They only post.
	resume func() // it may go on
	stall  func() // it has to end

	// guarded by the budget's mutex
	granted      int // bytes that it may hold
	wanted       int // bytes that it asked for
	limit        int // bytes that it may come to want
	outstanding  int // bytes that are on their way to the journal
	queued       bool
	waiting      bool      // it asked and may not go on
	moved        int64     // bytes that it has moved in all
	movedAtCheck int64     // that number at the last check
	movedAtStart int64     // that number at measuredFrom
	measuredFrom time.Time // when it began, went on, or was found to progress
}

// ask sets how many bytes a share wants to hold from now on, and how many it may come to want, 0 for nothing. It
// reports whether the share may go on. If not, the share keeps what it has, and its resume is called once it may.
// moved is how many bytes it has moved in all.
func (m *memoryBudget) ask(s *memoryShare, wanted, limit int, moved int64) bool {
	m.mu.Lock()
	begins := s.limit == 0 && limit > 0
	fewer := wanted < s.granted || limit < s.limit
	if begins && s.queued {
		m.moveToEnd(s) // the one before is on its way to the journal
	}
	s.wanted = wanted
	s.limit = limit
	s.moved = moved
	s.granted = min(s.granted, wanted)
	m.update(s)
	waited := s.waiting
	if s.waiting = wanted > 0; s.waiting {
		m.grant(s)
	}
	if begins || waited && !s.waiting {
		s.restart()
	}
	if s.waiting && m.timer == nil {
		m.waitingSince = time.Now()
		m.timer = time.AfterFunc(checkInterval, m.check)
	}
	may := !s.waiting
	m.unlockAndGrant(fewer)
	return may
}

// restart measures the progress of a share from now on.
func (s *memoryShare) restart() {
	s.movedAtStart = s.moved
	s.movedAtCheck = s.moved
	s.measuredFrom = time.Now()
}

// addOutstanding counts bytes that go to the journal; a negative number, those that have got there. They need a share
// even after the end of their connection.
func (m *memoryBudget) addOutstanding(s *memoryShare, bytes int) {
	m.mu.Lock()
	s.outstanding += bytes
	m.update(s)
	m.unlockAndGrant(bytes < 0)
}

// update puts a share into the queue if it needs something, and else takes it out.
func (m *memoryBudget) update(s *memoryShare) {
	needs := s.limit+s.outstanding > 0
	switch {
	case needs && !s.queued:
		m.queue = append(m.queue, s)
	case !needs && s.queued:
		i := slices.Index(m.queue, s)
		m.queue = slices.Delete(m.queue, i, i+1)
	}
	s.queued = needs
}

func (m *memoryBudget) moveToEnd(s *memoryShare) {
	i := slices.Index(m.queue, s)
	m.queue = append(slices.Delete(m.queue, i, i+1), s)
}

// grant lets shares that wait have what they want, as far as it goes: one of them, or all if that is nil. It returns
// those that got it.
func (m *memoryBudget) grant(one *memoryShare) (granted []*memoryShare) {
	rest := 0
	for _, s := range m.queue {
		rest += s.granted + s.outstanding
	}
	left := math.MaxInt
	for _, s := range m.queue {
		behind := rest - s.granted - s.outstanding
		if more := s.wanted - s.granted; s.waiting && (one == nil || one == s) && more <= max(left, 0) {
			s.granted = s.wanted
			s.waiting = false
			left -= more
			granted = append(granted, s)
		}
		rest = behind
		left = min(left, m.size-s.limit-s.outstanding-behind)
	}
	return granted
}

// unlockAndGrant ends the use of the mutex. If memory may have become free, it lets shares that wait go on.
func (m *memoryBudget) unlockAndGrant(freed bool) {
	var granted []*memoryShare
	if freed {
		granted = m.grant(nil)
	}
	for _, s := range granted {
		s.restart()
	}
	m.mu.Unlock()
	for _, s := range granted {
		s.resume()
	}
}

// check lets others overtake the first share if it is slow, and ends shares that do not progress, as long as others
// wait.
func (m *memoryBudget) check() {
	m.mu.Lock()
	m.timer = nil
	if !slices.ContainsFunc(m.queue, func(s *memoryShare) bool { return s.waiting }) {
		m.mu.Unlock()
		return
	}
	m.timer = time.AfterFunc(checkInterval, m.check)
	stalled := m.stalled(minProgress, m.queue)
	first := m.queue[0]
	slow := first.mustProgress() && first.moved-first.movedAtCheck < slowProgress
	if slow && !m.overtake(first) && len(stalled) == 0 {
		stalled = m.stalled(minProgressFirst, m.queue[:1])
	}
	now := time.Now()
	for _, s := range m.queue {
		s.movedAtCheck = s.moved
		if now.Sub(m.measuredSince(s)) >= stallTimeout {
			s.movedAtStart, s.measuredFrom = s.moved, now
		}
	}
	m.unlockAndGrant(true)
	for _, s := range stalled {
		s.stall()
	}
}

// mustProgress reports whether a share is one that has to progress.
func (s *memoryShare) mustProgress() bool { return !s.waiting && s.limit > 0 }

// measuredSince returns since when it counts what a share has moved: not from before others waited.
func (m *memoryBudget) measuredSince(s *memoryShare) time.Time {
	if s.measuredFrom.Before(m.waitingSince) {
		return m.waitingSince
	}
	return s.measuredFrom
}

// stalled returns those of some shares that have moved less than they had to.
func (m *memoryBudget) stalled(least int64, shares []*memoryShare) (stalled []*memoryShare) {
	now := time.Now()
	for _, s := range shares {
		if s.mustProgress() && now.Sub(m.measuredSince(s)) >= stallTimeout && s.moved-s.movedAtStart < least {
			stalled = append(stalled, s)
		}
	}
	return stalled
}

// overtake moves the first share to the end of the queue, if the others can get what they may come to want beside what
// it has. It reports whether they can.
func (m *memoryBudget) overtake(first *memoryShare) bool {
	behind := first.granted + first.outstanding
	for _, s := range slices.Backward(m.queue[1:]) {
		if s.limit+s.outstanding+behind > m.size {
			return false
		}
		behind += s.granted + s.outstanding
	}
	m.moveToEnd(first)
	return true
}
