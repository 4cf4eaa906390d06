package emulator

import (
	"cmp"
	"sync"
	"time"
)

// clockTimers is the pending calls of a clock. One timer of the runtime serves them all.
type clockTimers struct {
	mu      sync.Mutex
	pending heap[*clockTimer, byTime]
	next    *time.Timer    // nil until it is needed
	calls   sync.WaitGroup // that ring has started
	moving  bool           // Advance makes all calls

	watching  bool      // next is set
	seen      time.Time // when the two clocks were compared, by the monotonic one
	wallShown int64     // ms; and what the wall clock showed
}

// At calls f on its own goroutine once the clock has reached t, by itself or by Advance.
func (c *SystemClock) At(t time.Time, f func()) Timer {
	x := &clockTimer{c: c, at: millis(t.Add(time.Millisecond - 1)), f: f}
	c.timers.mu.Lock()
	defer c.timers.mu.Unlock()
	c.timers.pending.push(x)
	if x.index == 0 {
		c.rearmLocked()
	}
	return x
}

// rearmLocked sets the runtime's timer to the earliest deadline or the next look at the wall clock.
func (c *SystemClock) rearmLocked() {
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
	d := min(c.until(ts.pending[0].at), cmp.Or(c.Recheck, time.Second))
	if ts.next == nil {
		ts.next = time.AfterFunc(d, c.ring)
	} else {
		ts.next.Reset(d)
	}
}

// compareLocked returns by how much the wall clock went on more than the monotonic clock since the last call.
func (c *SystemClock) compareLocked() time.Duration {
	ts := &c.timers
	t, wall := time.Now(), millis(c.wall())
	jump := time.Duration(wall-ts.wallShown)*time.Millisecond - t.Sub(ts.seen)
	ts.seen, ts.wallShown = t, wall
	return jump
}

// ring starts every call that is due, the earliest first.
func (c *SystemClock) ring() {
	ts := &c.timers
	ts.mu.Lock()
	var jump time.Duration
	if ts.watching {
		jump = c.compareLocked()
	}
	now := c.now()
	for !ts.moving && !c.Frozen() && len(ts.pending) > 0 && ts.pending[0].at <= now {
		ts.calls.Go(ts.pending.pop().f)
	}
	c.rearmLocked()
	ts.mu.Unlock()
	if c.Jumped != nil && jump.Abs() >= time.Second {
		c.Jumped(jump)
	}
}

// clockTimer is one pending call.
type clockTimer struct {
	c     *SystemClock
	at    int64 // ms
	f     func()
	index int // in the heap; -1 when it is not there
}

// Stop prevents the call if it has not begun.
func (x *clockTimer) Stop() bool {
	ts := &x.c.timers
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if x.index < 0 {
		return false
	}
	ts.pending.remove(x.index)
	if len(ts.pending) == 0 {
		x.c.rearmLocked()
	}
	return true
}

// byTime orders calls by when they are due.
type byTime struct{}

func (byTime) less(a, b *clockTimer) bool      { return a.at < b.at }
func (byTime) placed(x *clockTimer, index int) { x.index = index }
