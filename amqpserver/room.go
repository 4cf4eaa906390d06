package amqpserver

import (
	"slices"
	"sync"
	"time"
)

const (
	largeDelivery = 1 << 20          // bytes; smaller deliveries need no share of a room
	leastProgress = 1 << 20          // bytes that a share has to move in stallAfter while others wait
	stallAfter    = 30 * time.Second // without that its delivery is given up
)

// room bounds the bytes that large deliveries of all connections have in memory, in one direction. Their shares stand in line in the order in which they
// came. One may go on if its needs and those of the shares before it fit into the room. So the first one always may. One that does not get on while others
// wait has to end, so that none waits for ever.
type room struct {
	size int

	mu    sync.Mutex // a leaf
	line  []*share
	timer *time.Timer // runs while shares wait
}

// A share counts how much of a room a connection or a link needs.
type share struct {
	// Any goroutine may call these, without the room's mutex. They only post.
	resume func() // it may go on
	stall  func() // it has to end

	// guarded by the room's mutex
	needs  int // bytes that it may come to hold
	owed   int // bytes that are on their way to the journal
	listed bool
	waits  bool      // it asked and may not go on
	moved  int64     // bytes, at since
	since  time.Time // when it got on last
}

// ask sets what a share needs from now on, 0 for nothing, and reports whether it may go on. If not, its resume is called once it may. moved is how
// many bytes it has moved in all.
func (r *room) ask(s *share, needs int, moved int64) bool {
	r.mu.Lock()
	begins, fewer := !s.listed, needs < s.needs
	s.needs = needs
	r.place(s)
	may := needs == 0 || slices.Contains(r.fitting(), s)
	if begins || s.waits && may || moved-s.moved >= leastProgress {
		s.moved, s.since = moved, time.Now()
	}
	s.waits = !may
	if s.waits && r.timer == nil {
		r.timer = time.AfterFunc(stallAfter, r.look)
	}
	r.unlock(fewer)
	return may
}

// owe counts bytes that go to the journal; a negative number, those that have got there. They need a share even after the end of their connection.
func (r *room) owe(s *share, bytes int) {
	r.mu.Lock()
	s.owed += bytes
	r.place(s)
	r.unlock(bytes < 0)
}

// place puts a share in line if it needs something, and else takes it out.
func (r *room) place(s *share) {
	switch needs := s.needs+s.owed > 0; {
	case needs && !s.listed:
		r.line = append(r.line, s)
	case !needs && s.listed:
		i := slices.Index(r.line, s)
		r.line = slices.Delete(r.line, i, i+1)
	}
	s.listed = s.needs+s.owed > 0
}

// fitting returns the shares that may go on.
func (r *room) fitting() []*share {
	sum := 0
	for i, s := range r.line {
		if sum += s.needs + s.owed; sum > r.size {
			return r.line[:max(i, 1)]
		}
	}
	return r.line
}

// unlock ends the use of the mutex. If there may be more room than before, it lets shares that wait go on.
func (r *room) unlock(more bool) {
	var called []*share
	if more {
		for _, s := range r.fitting() {
			if s.waits {
				s.waits, s.since = false, time.Now()
				called = append(called, s)
			}
		}
	}
	r.mu.Unlock()
	for _, s := range called {
		s.resume()
	}
}

// look ends shares that do not get on, as long as others wait.
func (r *room) look() {
	r.mu.Lock()
	r.timer = nil
	var stalled []*share
	if slices.ContainsFunc(r.line, func(s *share) bool { return s.waits }) {
		now, wait := time.Now(), stallAfter
		for _, s := range r.line {
			if s.waits || s.needs == 0 {
				continue
			}
			left := stallAfter - now.Sub(s.since)
			if left <= 0 {
				s.since, left = now, stallAfter
				stalled = append(stalled, s)
			}
			wait = min(wait, left)
		}
		r.timer = time.AfterFunc(wait, r.look)
	}
	r.mu.Unlock()
	for _, s := range stalled {
		s.stall()
	}
}
