package amqpserver

import (
	"math"
	"slices"
	"sync"
	"time"
)

const (
	largeDelivery    = 1 << 20          // bytes; smaller deliveries need no share of a room
	minProgress      = 1 << 20          // bytes that a share has to move in stallAfter while others wait
	minProgressFirst = 8 << 20          // the same for the first one, if nobody can pass it
	stallTimeout     = 30 * time.Second // without that its delivery is given up
	checkInterval    = time.Second      // while shares wait
	slowProgress     = 1 << 20          // bytes between two looks; others pass a share that moves less
)

// memoryBudget bounds the bytes that large deliveries of all connections have in memory, in one direction. Each has a share,
// which grows as the delivery does. The shares stand in line in the order in which they came. One may grow if those
// before it can still get all that they may come to want. So the first one always may, they end one after the other,
// and none waits for another that waits for it.
//
// While others wait, the first one goes to the end of the line if it is slow. What it has leaves room enough for the
// others then; else it has to get on.
type memoryBudget struct {
	size int

	mu           sync.Mutex // a leaf
	queue        []*memoryShare
	timer        *time.Timer // runs while shares wait
	waitingSince time.Time   // since when it has
}

// A share counts how much of a room a connection or a link needs.
type memoryShare struct {
	// Any goroutine may call these, without the room's mutex. They only post.
	resume func() // it may go on
	stall  func() // it has to end

	// guarded by the room's mutex
	granted      int // bytes that it may hold
	wanted       int // bytes that it asked for
	limit        int // bytes that it may come to want
	outstanding  int // bytes that are on their way to the journal
	queued       bool
	waiting      bool      // it asked and may not go on
	moved        int64     // bytes that it has moved in all
	movedAtCheck int64     // that number at the last look
	movedAtStart int64     // that number at since
	measuredFrom time.Time // when it began, went on, or was found to get on
}

// ask sets how many bytes a share wants to hold from now on, and how many it may come to want, 0 for nothing. It
// reports whether the share may go on. If not, the share keeps what it has, and its resume is called once it may.
// moved is how many bytes it has moved in all.
func (r *memoryBudget) ask(s *memoryShare, wants, most int, moved int64) bool {
	r.mu.Lock()
	begins, fewer := s.limit == 0 && most > 0, wants < s.granted || most < s.limit
	if begins && s.queued {
		r.moveToEnd(s) // the one before is on its way to the journal
	}
	s.wanted, s.limit, s.moved = wants, most, moved
	s.granted = min(s.granted, wants)
	r.update(s)
	waited := s.waiting
	if s.waiting = wants > 0; s.waiting {
		r.grant(s)
	}
	if begins || waited && !s.waiting {
		s.restart()
	}
	if s.waiting && r.timer == nil {
		r.waitingSince = time.Now()
		r.timer = time.AfterFunc(checkInterval, r.check)
	}
	may := !s.waiting
	r.unlockAndGrant(fewer)
	return may
}

// restart makes a share one that has to get on from now on.
func (s *memoryShare) restart() {
	s.movedAtStart, s.movedAtCheck, s.measuredFrom = s.moved, s.moved, time.Now()
}

// addOutstanding counts bytes that go to the journal; a negative number, those that have got there. They need a share even after the end of their connection.
func (r *memoryBudget) addOutstanding(s *memoryShare, bytes int) {
	r.mu.Lock()
	s.outstanding += bytes
	r.update(s)
	r.unlockAndGrant(bytes < 0)
}

// update puts a share in line if it needs something, and else takes it out.
func (r *memoryBudget) update(s *memoryShare) {
	switch needs := s.limit+s.outstanding > 0; {
	case needs && !s.queued:
		r.queue = append(r.queue, s)
	case !needs && s.queued:
		i := slices.Index(r.queue, s)
		r.queue = slices.Delete(r.queue, i, i+1)
	}
	s.queued = s.limit+s.outstanding > 0
}

func (r *memoryBudget) moveToEnd(s *memoryShare) {
	i := slices.Index(r.queue, s)
	r.queue = append(slices.Delete(r.queue, i, i+1), s)
}

// grant lets shares that wait have what they want, as far as it goes: one of them, or all if that is nil. It returns
// those that it has served.
func (r *memoryBudget) grant(one *memoryShare) (served []*memoryShare) {
	rest := 0
	for _, s := range r.queue {
		rest += s.granted + s.outstanding
	}
	left := math.MaxInt
	for _, s := range r.queue {
		behind := rest - s.granted - s.outstanding
		if more := s.wanted - s.granted; s.waiting && (one == nil || one == s) && more <= max(left, 0) {
			s.granted, s.waiting = s.wanted, false
			left -= more
			served = append(served, s)
		}
		rest = behind
		left = min(left, r.size-s.limit-s.outstanding-behind)
	}
	return served
}

// unlockAndGrant ends the use of the mutex. If there may be more room than before, it lets shares that wait go on.
func (r *memoryBudget) unlockAndGrant(more bool) {
	var served []*memoryShare
	if more {
		served = r.grant(nil)
	}
	for _, s := range served {
		s.restart()
	}
	r.mu.Unlock()
	for _, s := range served {
		s.resume()
	}
}

// check lets others pass the first share if it is slow, and ends shares that do not get on, as long as others wait.
func (r *memoryBudget) check() {
	r.mu.Lock()
	r.timer = nil
	if !slices.ContainsFunc(r.queue, func(s *memoryShare) bool { return s.waiting }) {
		r.mu.Unlock()
		return
	}
	r.timer = time.AfterFunc(checkInterval, r.check)
	stalled := r.stalled(minProgress, r.queue)
	if first := r.queue[0]; first.slow() && !r.overtake(first) && len(stalled) == 0 {
		stalled = r.stalled(minProgressFirst, r.queue[:1])
	}
	now := time.Now()
	for _, s := range r.queue {
		if s.movedAtCheck = s.moved; now.Sub(r.measuredSince(s)) >= stallTimeout {
			s.movedAtStart, s.measuredFrom = s.moved, now
		}
	}
	r.unlockAndGrant(true)
	for _, s := range stalled {
		s.stall()
	}
}

// mustProgress reports whether a share is one that has to get on.
func (s *memoryShare) mustProgress() bool { return !s.waiting && s.limit > 0 }

func (s *memoryShare) slow() bool { return s.mustProgress() && s.moved-s.movedAtCheck < slowProgress }

// measuredSince returns since when it counts what a share has moved: not from before others waited.
func (r *memoryBudget) measuredSince(s *memoryShare) time.Time {
	if s.measuredFrom.Before(r.waitingSince) {
		return r.waitingSince
	}
	return s.measuredFrom
}

// stalled returns those of some shares that have moved less than they had to.
func (r *memoryBudget) stalled(least int64, of []*memoryShare) (stalled []*memoryShare) {
	now := time.Now()
	for _, s := range of {
		if s.mustProgress() && now.Sub(r.measuredSince(s)) >= stallTimeout && s.moved-s.movedAtStart < least {
			stalled = append(stalled, s)
		}
	}
	return stalled
}

// overtake moves the first share to the end of the line, if the others can get what they may come to want beside what
// it has. It reports whether they can.
func (r *memoryBudget) overtake(first *memoryShare) bool {
	behind := first.granted + first.outstanding
	for _, s := range slices.Backward(r.queue[1:]) {
		if s.limit+s.outstanding+behind > r.size {
			return false
		}
		behind += s.granted + s.outstanding
	}
	r.moveToEnd(first)
	return true
}

// deliveryMemory is a link's share of the room for large deliveries to clients. It has one while it has taken one and not written it whole, and waits in line
// for one before it takes it: the time of a lock runs.
type deliveryMemory struct {
	memoryShare
	held    bool // it has a share, or stands in line
	waiting bool // it stood in line at the end of this turn
}

// pull takes up to so many messages from the consumer, a large one only with a share.
func (o *outgoingLink) pull(most int) {
	limit, wanted := largeDelivery, len(o.taken)+most
	for {
		o.consumer.Limit(limit)
		o.taken = o.consumer.Take(o.taken, wanted-len(o.taken))
		if limit = o.consumer.Withheld(); limit == 0 {
			return
		}
		if o.memory.held = true; !o.askMemory(limit) {
			o.memory.waiting = true
			return
		}
	}
}

func (o *outgoingLink) askMemory(needs int) bool {
	if s := &o.memory.memoryShare; s.resume == nil {
		s.resume = o.s.c.wake
		s.stall = func() { o.s.c.mailbox.post(eventFunc(func(*conn) { o.endIfStalled() })) }
	}
	return o.s.c.srv.outgoingMemory.ask(&o.memory.memoryShare, needs, needs, o.movedBytes)
}

// updateMemory gives back what the link does not need any more.
func (o *outgoingLink) updateMemory() {
	if !o.memory.held || o.memory.waiting && !o.released {
		return
	}
	needs := 0
	if rest := len(o.head) + len(o.tail); rest > largeDelivery {
		needs = rest
	}
	for _, d := range o.taken {
		if d.Size() > largeDelivery {
			needs += d.Size()
		}
	}
	o.memory.held = needs > 0
	o.askMemory(needs)
}

// endIfStalled detaches a link whose client does not take its large delivery while others wait. The message goes back to the queue, or its lock ends.
func (o *outgoingLink) endIfStalled() {
	reading := false
	if len(o.taken) > 0 && !o.partial() {
		ready, _ := o.taken[0].Ready()
		reading = !ready
	}
	if o.memory.held && !o.memory.waiting && !reading {
		o.detach(o.amqpError(errStalled))
	}
}
