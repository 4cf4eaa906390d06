package clock

import (
	"cmp"
	"container/heap"
	"sync"
	"time"
)

// timers are the pending calls of a clock. One timer of the runtime serves them all.
type timers struct {
	mu      sync.Mutex
	pending queue
	next    *time.Timer    // nil until it is needed
	calls   sync.WaitGroup // that ring has started
	moving  bool           // Advance makes all calls

	watching  bool      // next is set
	looked    time.Time // when the two clocks were compared, by the monotonic one
	wallShown int64     // ms; what the wall clock showed then
}

// timer is one pending call.
type timer struct {
	c     *System
	at    int64 // ms
	f     func()
	index int // in the queue; -1 when it is not there
}

// At calls f on its own goroutine once the clock has reached t, by itself or by Advance.
func (c *System) At(t time.Time, f func()) Timer {
	x := &timer{c: c, at: millis(t.Add(time.Millisecond - 1)), f: f}
	c.timers.mu.Lock()
	defer c.timers.mu.Unlock()
	heap.Push(&c.timers.pending, x)
	if x.index == 0 {
		c.rearmLocked()
	}
	return x
}

// Stop prevents the call if it has not begun.
func (x *timer) Stop() bool {
	ts := &x.c.timers
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if x.index < 0 {
		return false
	}
	heap.Remove(&ts.pending, x.index)
	if len(ts.pending) == 0 {
		x.c.rearmLocked()
	}
	return true
}

// rearm sets the runtime's timer again.
func (c *System) rearm() {
	c.timers.mu.Lock()
	defer c.timers.mu.Unlock()
	c.rearmLocked()
}

// rearmLocked sets the runtime's timer to the earliest deadline or the next look at the wall clock.
func (c *System) rearmLocked() {
	ts := &c.timers
	if len(ts.pending) == 0 || ts.moving || c.Frozen() {
		if ts.next != nil {
			ts.next.Stop()
		}
		ts.watching = false
		return
	}
	if !ts.watching {
		ts.watching = true
		c.compareLocked()
	}
	now := instant(c.now())
	if exact := c.advanced(); exact.After(now) {
		now = exact
	}
	d := min(max(instant(ts.pending[0].at).Sub(now), 0), cmp.Or(c.Recheck, time.Second))
	if ts.next == nil {
		ts.next = time.AfterFunc(d, c.ring)
	} else {
		ts.next.Reset(d)
	}
}

// compareLocked returns by how much more the wall clock went on than the monotonic clock since the last call.
func (c *System) compareLocked() time.Duration {
	ts := &c.timers
	t := time.Now()
	wall := millis(c.WallTime())
	jump := time.Duration(wall-ts.wallShown)*time.Millisecond - t.Sub(ts.looked)
	ts.looked = t
	ts.wallShown = wall
	return jump
}

// ring starts every call that is due, the earliest first.
func (c *System) ring() {
	ts := &c.timers
	ts.mu.Lock()
	var jump time.Duration
	if ts.watching {
		jump = c.compareLocked()
	}
	now := c.now()
	for !ts.moving && !c.Frozen() && len(ts.pending) > 0 && ts.pending[0].at <= now {
		ts.calls.Go(heap.Pop(&ts.pending).(*timer).f)
	}
	c.rearmLocked()
	ts.mu.Unlock()
	if c.Jumped != nil && jump.Abs() >= time.Second {
		c.Jumped(jump)
	}
}

// Advance moves the clock forward by d. Everything that falls due on the way happens in one global order: the clock
// stops at each deadline and makes its calls one after another. After each it calls quiesce, which waits for what the
// call has started. When Advance returns, all of it has happened. If stop is closed, Advance ends at the instant that
// it has come to, once all that is due then has happened, and returns false.
func (c *System) Advance(d time.Duration, stop <-chan struct{}, quiesce func()) (whole bool) {
	c.advancing.Lock()
	defer c.advancing.Unlock()
	c.move(true)
	defer c.move(false)
	c.timers.calls.Wait()
	quiesce()
	target := millis(c.Now().Add(d))
	c.goal.Store(target)
	defer c.goal.Store(0)
	whole = true
	for {
		select {
		case <-stop:
			if whole {
				target = min(target, c.now())
				whole = false
			}
		default:
		}
		x := c.popUntil(target)
		if x == nil {
			quiesce()
			return whole
		}
		x.f()
		quiesce()
	}
}

// Goal returns to which instant Advance moves the clock, in milliseconds since the Unix epoch; 0: none does.
func (c *System) Goal() int64 { return c.goal.Load() }

// RetryAt returns when work that failed at the instant now is tried again: after a delay, both in milliseconds. While
// the clock is advanced by far, the delays are longer: a year would be 30 million tries. The last try is at the end of
// the way.
func (c *System) RetryAt(now, delay int64) int64 {
	if left := c.goal.Load() - now; left > delay {
		delay = min(max(delay, left/100), left)
	}
	return now + delay
}

// move says whether Advance makes all calls from now on. Meanwhile the runtime's timer must make none of those that
// are due at one instant: Advance would not know of it and go on.
func (c *System) move(on bool) {
	c.timers.mu.Lock()
	defer c.timers.mu.Unlock()
	c.timers.moving = on
	c.rearmLocked()
}

// popUntil moves the clock to the earliest deadline up to target and takes its timer; without one it moves the clock to
// target and returns nil.
func (c *System) popUntil(target int64) *timer {
	ts := &c.timers
	ts.mu.Lock()
	defer ts.mu.Unlock()
	var x *timer
	if len(ts.pending) > 0 && ts.pending[0].at <= target {
		x = heap.Pop(&ts.pending).(*timer)
		target = x.at
	}
	switch {
	case target <= c.now():
	case c.Frozen():
		c.last.Store(target<<1 | frozenBit)
	default:
		c.offset.Add(int64(instant(target).Sub(c.advanced())))
	}
	return x
}

// queue is a heap of timers, the earliest on top.
type queue []*timer

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].at < q[j].at }

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index = i
	q[j].index = j
}

func (q *queue) Push(x any) {
	x.(*timer).index = len(*q)
	*q = append(*q, x.(*timer))
}

func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	x.index = -1
	return x
}
