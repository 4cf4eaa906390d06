package emulator

import (
	"container/heap"
	"sync"
	"time"
)

// AdjustableClock is the machine's clock plus an offset that only grows: a test may let an hour pass (DEC-35).
// Without a call of Advance it is [SystemClock].
type AdjustableClock struct {
	advancing sync.Mutex     // held for a whole Advance
	calls     sync.WaitGroup // that ring has started

	mu     sync.Mutex
	offset time.Duration
	timers timerHeap
	next   *time.Timer // at the earliest of timers, in real time
	moving bool        // Advance makes all calls
}

// Now returns the machine's time plus what was added by Advance.
func (c *AdjustableClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nowLocked()
}

func (c *AdjustableClock) nowLocked() time.Time { return time.Now().Add(c.offset) }

// At calls f on its own goroutine once the clock has reached t, by itself or by Advance.
func (c *AdjustableClock) At(t time.Time, f func()) Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := &adjustableTimer{c: c, at: t, f: f}
	heap.Push(&c.timers, x)
	c.rearmLocked()
	return x
}

// rearmLocked sets the real timer to the earliest deadline, unless Advance looks after it.
func (c *AdjustableClock) rearmLocked() {
	if c.next != nil {
		c.next.Stop()
		c.next = nil
	}
	if len(c.timers) > 0 && !c.moving {
		c.next = time.AfterFunc(c.timers[0].at.Sub(c.nowLocked()), c.ring)
	}
}

// ring starts every call that is due.
func (c *AdjustableClock) ring() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for !c.moving && len(c.timers) > 0 && !c.timers[0].at.After(c.nowLocked()) {
		x := heap.Pop(&c.timers).(*adjustableTimer)
		c.calls.Go(x.f)
	}
	c.rearmLocked()
}

// Advance moves the clock forward by d. Everything that falls due on the way happens in one global order: the clock
// stops at each deadline, makes its calls one after another, and settle is called to wait for what they set going
// before it goes on. When Advance returns, all of it has happened.
func (c *AdjustableClock) Advance(d time.Duration, settle func()) {
	c.advancing.Lock()
	defer c.advancing.Unlock()
	c.move(true)
	defer c.move(false)
	c.calls.Wait()
	settle()
	target := c.Now().Add(d)
	for {
		x := c.popUntil(target)
		if x == nil {
			settle()
			return
		}
		x.f()
		settle()
	}
}

// move says whether Advance makes all calls from now on. Of several that are due at one instant none must be made
// meanwhile by the real timer: Advance would not know of it and go on.
func (c *AdjustableClock) move(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moving = on
	c.rearmLocked()
}

// popUntil moves the clock to the earliest deadline up to target and takes its timer; without one it moves the clock to
// target and returns nil.
func (c *AdjustableClock) popUntil(target time.Time) *adjustableTimer {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.rearmLocked()
	if len(c.timers) == 0 || c.timers[0].at.After(target) {
		c.moveLocked(target)
		return nil
	}
	x := heap.Pop(&c.timers).(*adjustableTimer)
	c.moveLocked(x.at)
	return x
}

func (c *AdjustableClock) moveLocked(to time.Time) {
	if d := to.Sub(c.nowLocked()); d > 0 {
		c.offset += d
	}
}

// adjustableTimer is one pending call.
type adjustableTimer struct {
	c     *AdjustableClock
	at    time.Time
	f     func()
	index int // in the heap; -1 when it is not there
}

// Stop prevents the call if it has not begun.
func (x *adjustableTimer) Stop() bool {
	x.c.mu.Lock()
	defer x.c.mu.Unlock()
	if x.index < 0 {
		return false
	}
	heap.Remove(&x.c.timers, x.index)
	return true
}

type timerHeap []*adjustableTimer

func (h timerHeap) Len() int           { return len(h) }
func (h timerHeap) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *timerHeap) Push(x any) {
	t := x.(*adjustableTimer)
	t.index = len(*h)
	*h = append(*h, t)
}
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = -1
	return t
}
