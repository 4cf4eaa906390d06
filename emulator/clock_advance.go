package emulator

import "time"

// Advance moves the clock forward by d, for tests. Everything that falls due on the way happens in one global order: the
// clock stops at each deadline, makes its calls one after another, and quiesce is called to wait for what they set going
// before it goes on. When Advance returns, all of it has happened. If stop is closed, Advance ends at the instant that it has come to, once all
// that is due then has happened, and returns false.
func (c *SystemClock) Advance(d time.Duration, stop <-chan struct{}, quiesce func()) (whole bool) {
	c.advancing.Lock()
	defer c.advancing.Unlock()
	c.move(true)
	defer c.move(false)
	c.timers.calls.Wait()
	quiesce()
	target := millis(c.Now().Add(d))
	c.heading.Store(target)
	defer c.heading.Store(0)
	whole = true
	for {
		select {
		case <-stop:
			if whole {
				target, whole = min(target, c.now()), false
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

// move says whether Advance makes all calls from now on. Of several that are due at one instant none must be made
// meanwhile by the runtime's timer: Advance would not know of it and go on.
func (c *SystemClock) move(on bool) {
	c.timers.mu.Lock()
	defer c.timers.mu.Unlock()
	c.timers.moving = on
	c.rearmLocked()
}

// popUntil moves the clock to the earliest deadline up to target and takes its timer; without one it moves the clock to
// target and returns nil.
func (c *SystemClock) popUntil(target int64) *clockTimer {
	ts := &c.timers
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if len(ts.pending) == 0 || ts.pending[0].at > target {
		c.advance(target)
		return nil
	}
	x := ts.pending.pop()
	c.advance(x.at)
	return x
}

// advance moves the clock to an instant, unless that is over.
func (c *SystemClock) advance(to int64) {
	switch {
	case to <= c.now():
	case c.Frozen():
		c.last.Store(to<<1 | frozenBit)
	default:
		c.offset.Add(int64(instant(to).Sub(c.advanced())))
	}
}

// later returns when work that can't be done at the instant now, in milliseconds, is tried again: after a while. While the clock is
// advanced by far, the whiles are longer, or a year would be 30 million tries; the last one is at its end.
func (c *SystemClock) later(now, while int64) int64 {
	if left := c.heading.Load() - now; left > while {
		while = min(max(while, left/100), left)
	}
	return now + while
}
