package emulator

import "time"

// frozenBit in SystemClock.last says that the clock is frozen. It stands beside the instant, so that no reader can move the clock between
// the two.
const frozenBit = 1

// Another returns a clock that follows the same wall clock and is advanced and frozen by itself.
func (c *SystemClock) Another() *SystemClock {
	return &SystemClock{Wall: c.Wall, Recheck: c.Recheck, Jumped: c.Jumped}
}

// Frozen reports whether the clock stands still.
func (c *SystemClock) Frozen() bool { return c.last.Load()&frozenBit != 0 }

// Freeze stops the clock until Resume. Nothing is due meanwhile, but for what Advance brings about. Calls that have begun end before
// Freeze returns.
func (c *SystemClock) Freeze() {
	c.advancing.Lock()
	defer c.advancing.Unlock()
	for {
		last := c.last.Load()
		if last&frozenBit != 0 {
			return
		}
		if c.last.CompareAndSwap(last, max(last>>1, millis(c.advanced()))<<1|frozenBit) {
			break
		}
	}
	c.rearm()
	c.timers.calls.Wait()
}

// Resume lets a frozen clock go on from where it stands.
func (c *SystemClock) Resume() {
	c.advancing.Lock()
	defer c.advancing.Unlock()
	last := c.last.Load()
	if last&frozenBit == 0 {
		return
	}
	// A reader may be about to swap what it saw before the clock was frozen for what the wall clock showed since. Another
	// millisecond makes that fail.
	at := last>>1 + 1
	c.offset.Store(int64(instant(at).Sub(c.wall())))
	c.last.Store(at << 1)
	c.rearm()
}

// restart makes the clock what a state says, also if that means to go back. Pending calls keep their distance. Nothing may have kept
// an instant of this clock.
func (c *SystemClock) restart(s ClockState) {
	c.advancing.Lock()
	defer c.advancing.Unlock()
	ts := &c.timers
	ts.mu.Lock()
	defer ts.mu.Unlock()
	before := c.now()
	c.set(s)
	by := c.now() - before
	for _, x := range ts.pending { // their order stays
		x.at += by
	}
	c.rearmLocked()
}

// rearm sets the runtime's timer anew.
func (c *SystemClock) rearm() {
	c.timers.mu.Lock()
	defer c.timers.mu.Unlock()
	c.rearmLocked()
}

// Ahead returns by how much the clock is ahead of the wall clock, or behind it if it was frozen.
func (c *SystemClock) Ahead() time.Duration { return c.Now().Sub(instant(millis(c.wall()))) }

// set makes a clock what it was in an earlier process. Nothing uses it yet, or restart sets it.
func (c *SystemClock) set(s ClockState) {
	c.offset.Store(s.Ahead * int64(time.Millisecond))
	c.last.Store(0)
	if s.Frozen != 0 {
		c.last.Store(s.Frozen<<1 | frozenBit)
	}
}

// ClockState is what the store keeps of the clock of a namespace.
type ClockState struct {
	Ahead  int64 `json:"ahead,omitempty"`  // of the machine's, in milliseconds; negative if it was frozen for a while
	Frozen int64 `json:"frozen,omitempty"` // where it stands, in milliseconds since the Unix epoch; 0: it goes on
}
