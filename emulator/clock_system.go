package emulator

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// SystemClock is the machine's clock, except that it never goes back. Its zero value is ready for use. In a
// testing/synctest bubble it follows the bubble's.
//
// A machine has two clocks. The wall clock shows the time of day and jumps: when it is set, and after a sleep. The
// monotonic one, on which Go's timers run, only ever goes on, and stands still while the machine sleeps. A SystemClock
// follows the wall clock forward at once, and looks at it every second while a timer is pending, so that a sleep is noticed soon
// after its end. When the wall clock was set back, a SystemClock goes on at half the speed of the monotonic clock until the wall clock
// has caught up. So a lock lasts twice as long at most, and the time that clients are told is right again after twice the step.
type SystemClock struct {
	// Wall returns what the wall clock shows; nil means time.Now. It is for tests, which let it jump.
	Wall func() time.Time
	// Recheck is how often the wall clock is looked at while timers are pending; 0 means every second. A test in a bubble, where
	// nothing jumps and years may pass, does without.
	Recheck time.Duration
	// Jumped is told when the wall clock jumped by a second or more, forward or back (negative), while a timer was
	// pending. It may be nil.
	Jumped func(by time.Duration)

	last   atomic.Int64 // the latest instant that Now returned, in ms, times two; odd if the clock is frozen
	offset atomic.Int64 // ns that Advance and Resume have added to the wall clock
	behind lag
	timers clockTimers

	advancing sync.Mutex   // held for a whole Advance, Freeze and Resume
	heading   atomic.Int64 // ms; to where Advance moves the clock; 0: none does
}

// lag is the time during which the wall clock shows less than was told.
type lag struct {
	mu    sync.Mutex
	from  int64     // ms; when it began, by the SystemClock
	since time.Time // when it began, by the monotonic clock
	last  int64     // ms; what was told last
}

// Now returns the current instant, in whole milliseconds.
func (c *SystemClock) Now() time.Time { return instant(c.now()) }

func (c *SystemClock) now() int64 {
	for {
		last := c.last.Load() // before the wall clock is looked at: a Resume in between makes the swap fail
		if last&frozenBit != 0 {
			return last >> 1
		}
		wall := millis(c.advanced())
		switch told := last >> 1; {
		case wall == told:
			return wall
		case wall < told:
			return c.slow()
		case c.last.CompareAndSwap(last, wall<<1):
			return wall
		}
	}
}

// slow goes on at half speed from the latest instant that was told.
func (c *SystemClock) slow() int64 {
	b := &c.behind
	b.mu.Lock()
	defer b.mu.Unlock()
	t := time.Now()
	last := c.last.Load()
	told := last >> 1
	if last&frozenBit != 0 {
		return told
	}
	if told != b.last { // the wall clock was not behind meanwhile
		b.from, b.since = told, t
	}
	next := b.from + t.Sub(b.since).Milliseconds()/2
	if next > told && c.last.CompareAndSwap(last, next<<1) {
		told = next
	}
	b.last = told
	return told
}

// wall returns the machine's time of day.
func (c *SystemClock) wall() time.Time {
	if c.Wall != nil {
		return c.Wall()
	}
	return time.Now()
}

// advanced returns the time of day with what Advance has added.
func (c *SystemClock) advanced() time.Time { return c.wall().Add(time.Duration(c.offset.Load())) }

// until returns how long it takes to the instant, if nothing jumps meanwhile.
func (c *SystemClock) until(at int64) time.Duration {
	now := instant(c.now())
	if exact := c.advanced(); exact.After(now) {
		now = exact
	}
	return max(instant(at).Sub(now), 0)
}

// jumps tells people why the broker's time differs from the machine's, or why so much comes due at once. Each namespace has a clock, and
// all of them see the same jump within a second.
type jumps struct {
	logger *slog.Logger
	mu     sync.Mutex
	last   time.Time // when one was told
}

func (j *jumps) tell(by time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if time.Since(j.last) < 3*time.Second {
		return
	}
	j.last = time.Now()
	if by > 0 {
		j.logger.Info("the machine's clock went forward, or the machine slept; what fell due meanwhile happens now", "by", by)
		return
	}
	j.logger.Warn("the machine's clock was set back; the broker's time goes on at half speed until the clock has caught up, "+
		"and follows it at once after a restart", "by", -by)
}
