package amqpserver

import (
	"math"
	"slices"
	"sync"
	"time"
)

const (
	largeDelivery = 1 << 20          // bytes; smaller deliveries need no share of a room
	leastProgress = 1 << 20          // bytes that a share has to move in stallAfter while others wait
	leastOfFirst  = 8 << 20          // the same for the first one, if nobody can pass it
	stallAfter    = 30 * time.Second // without that its delivery is given up
	lookEvery     = time.Second      // while shares wait
	slowPace      = 1 << 20          // bytes between two looks; others pass a share that moves less
)

// room bounds the bytes that large deliveries of all connections have in memory, in one direction. Each has a share,
// which grows as the delivery does. The shares stand in line in the order in which they came. One may grow if those
// before it can still get all that they may come to want. So the first one always may, they end one after the other,
// and none waits for another that waits for it.
//
// While others wait, the first one goes to the end of the line if it is slow. What it has leaves room enough for the
// others then; else it has to get on.
type room struct {
	size int

	mu      sync.Mutex // a leaf
	line    []*share
	timer   *time.Timer // runs while shares wait
	crowded time.Time   // since when it has
}

// A share counts how much of a room a connection or a link needs.
type share struct {
	// Any goroutine may call these, without the room's mutex. They only post.
	resume func() // it may go on
	stall  func() // it has to end

	// guarded by the room's mutex
	has    int // bytes that it may hold
	wants  int // bytes that it asked for
	most   int // bytes that it may come to want
	owed   int // bytes that are on their way to the journal
	listed bool
	waits  bool      // it asked and may not go on
	now    int64     // bytes that it has moved in all
	looked int64     // that number at the last look
	moved  int64     // that number at since
	since  time.Time // when it began, went on, or was found to get on
}

// ask sets how many bytes a share wants to hold from now on, and how many it may come to want, 0 for nothing. It
// reports whether the share may go on. If not, the share keeps what it has, and its resume is called once it may.
// moved is how many bytes it has moved in all.
func (r *room) ask(s *share, wants, most int, moved int64) bool {
	r.mu.Lock()
	begins, fewer := s.most == 0 && most > 0, wants < s.has || most < s.most
	if begins && s.listed {
		r.toEnd(s) // the one before is on its way to the journal
	}
	s.wants, s.most, s.now = wants, most, moved
	s.has = min(s.has, wants)
	r.place(s)
	waited := s.waits
	if s.waits = wants > 0; s.waits {
		r.serve(s)
	}
	if begins || waited && !s.waits {
		s.begin()
	}
	if s.waits && r.timer == nil {
		r.crowded = time.Now()
		r.timer = time.AfterFunc(lookEvery, r.look)
	}
	may := !s.waits
	r.unlock(fewer)
	return may
}

// begin makes a share one that has to get on from now on.
func (s *share) begin() { s.moved, s.looked, s.since = s.now, s.now, time.Now() }

// owe counts bytes that go to the journal; a negative number, those that have got there. They need a share even after the end of their connection.
func (r *room) owe(s *share, bytes int) {
	r.mu.Lock()
	s.owed += bytes
	r.place(s)
	r.unlock(bytes < 0)
}

// place puts a share in line if it needs something, and else takes it out.
func (r *room) place(s *share) {
	switch needs := s.most+s.owed > 0; {
	case needs && !s.listed:
		r.line = append(r.line, s)
	case !needs && s.listed:
		i := slices.Index(r.line, s)
		r.line = slices.Delete(r.line, i, i+1)
	}
	s.listed = s.most+s.owed > 0
}

func (r *room) toEnd(s *share) {
	i := slices.Index(r.line, s)
	r.line = append(slices.Delete(r.line, i, i+1), s)
}

// serve lets shares that wait have what they want, as far as it goes: one of them, or all if that is nil. It returns
// those that it has served.
func (r *room) serve(one *share) (served []*share) {
	rest := 0
	for _, s := range r.line {
		rest += s.has + s.owed
	}
	left := math.MaxInt
	for _, s := range r.line {
		behind := rest - s.has - s.owed
		if more := s.wants - s.has; s.waits && (one == nil || one == s) && more <= max(left, 0) {
			s.has, s.waits = s.wants, false
			left -= more
			served = append(served, s)
		}
		rest = behind
		left = min(left, r.size-s.most-s.owed-behind)
	}
	return served
}

// unlock ends the use of the mutex. If there may be more room than before, it lets shares that wait go on.
func (r *room) unlock(more bool) {
	var served []*share
	if more {
		served = r.serve(nil)
	}
	for _, s := range served {
		s.begin()
	}
	r.mu.Unlock()
	for _, s := range served {
		s.resume()
	}
}

// look lets others pass the first share if it is slow, and ends shares that do not get on, as long as others wait.
func (r *room) look() {
	r.mu.Lock()
	r.timer = nil
	if !slices.ContainsFunc(r.line, func(s *share) bool { return s.waits }) {
		r.mu.Unlock()
		return
	}
	r.timer = time.AfterFunc(lookEvery, r.look)
	stalled := r.stalled(leastProgress, r.line)
	if first := r.line[0]; first.slow() && !r.passed(first) && len(stalled) == 0 {
		stalled = r.stalled(leastOfFirst, r.line[:1])
	}
	now := time.Now()
	for _, s := range r.line {
		if s.looked = s.now; now.Sub(r.windowOf(s)) >= stallAfter {
			s.moved, s.since = s.now, now
		}
	}
	r.unlock(true)
	for _, s := range stalled {
		s.stall()
	}
}

// moves reports whether a share is one that has to get on.
func (s *share) moves() bool { return !s.waits && s.most > 0 }

func (s *share) slow() bool { return s.moves() && s.now-s.looked < slowPace }

// windowOf returns since when it counts what a share has moved: not from before others waited.
func (r *room) windowOf(s *share) time.Time {
	if s.since.Before(r.crowded) {
		return r.crowded
	}
	return s.since
}

// stalled returns those of some shares that have moved less than they had to.
func (r *room) stalled(least int64, of []*share) (stalled []*share) {
	now := time.Now()
	for _, s := range of {
		if s.moves() && now.Sub(r.windowOf(s)) >= stallAfter && s.now-s.moved < least {
			stalled = append(stalled, s)
		}
	}
	return stalled
}

// passed moves the first share to the end of the line, if the others can get what they may come to want beside what
// it has. It reports whether they can.
func (r *room) passed(first *share) bool {
	behind := first.has + first.owed
	for _, s := range slices.Backward(r.line[1:]) {
		if s.most+s.owed+behind > r.size {
			return false
		}
		behind += s.has + s.owed
	}
	r.toEnd(first)
	return true
}
