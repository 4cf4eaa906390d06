package clock

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Clock is the time of a namespace (DEC-35): locks, schedules, time to live and idle deletion follow it. A clock never
// goes back: sequence numbers, enqueued times, locks and duplicate detection rely on that. Its resolution is a
// millisecond (TIME-7).
type Clock interface {
	// Now returns the current instant.
	Now() time.Time
	// At calls f on its own goroutine once the clock has reached t.
	At(t time.Time, f func()) Timer
}

// Timer is one pending call of a [Clock].
type Timer interface {
	// Stop prevents the call if it has not begun; it does not wait for one that has.
	Stop() bool
}

// System is the machine's clock, except that it never goes back. Its zero value is ready for use. In a testing/synctest
// bubble it follows the bubble's clock.
//
// A machine has two clocks. The wall clock shows the time of day and jumps: when it is set, and after a sleep. The
// monotonic one, on which Go's timers run, only ever goes forward, and stands still while the machine sleeps. A System
// follows the wall clock forward at once, and looks at it every second while a timer is pending, so that it notices a
// sleep soon after its end. When the wall clock is set back, a System goes on at half the speed of the monotonic clock
// until the wall clock has caught up. So a lock lasts twice as long at most, and the time that clients are told is
// right again after twice the step.
type System struct {
	// Wall returns what the wall clock shows; nil means time.Now. It is for tests, which let it jump.
	Wall func() time.Time
	// Recheck is how often the wall clock is looked at while timers are pending; 0 means every second. A test in a
	// bubble, where nothing jumps and years may pass, does without.
	Recheck time.Duration
	// Jumped is told when the wall clock jumped by a second or more, forward or back (negative), while a timer was
	// pending. It may be nil.
	Jumped func(by time.Duration)

	// last is the latest instant that Now returned, in ms, times two; it is odd while the clock is frozen. Both are one
	// value, so that no reader can move the clock between the two.
	last   atomic.Int64
	offset atomic.Int64 // ns that Advance and Resume have added to the wall clock
	behind lag
	timers timers

	advancing sync.Mutex   // held for a whole Advance, Freeze, Resume and Restart
	goal      atomic.Int64 // ms; to where Advance moves the clock; 0: none does
}

// State carries a clock over a restart.
type State struct {
	Ahead  int64 `json:"ahead,omitempty"`  // of the machine's, in milliseconds; negative if it was frozen for a while
	Frozen int64 `json:"frozen,omitempty"` // where it stands, in milliseconds since the Unix epoch; 0: it goes on
}

// lag is the time during which the wall clock shows less than Now has returned.
type lag struct {
	mu    sync.Mutex
	from  int64     // ms; when it began, by the System
	since time.Time // when it began, by the monotonic clock
	last  int64     // ms; what Now returned last
}

const frozenBit = 1 // of System.last

func millis(t time.Time) int64 { return t.UnixMilli() }

func instant(ms int64) time.Time { return time.UnixMilli(ms) }

// Now returns the current instant, in whole milliseconds.
func (c *System) Now() time.Time { return instant(c.now()) }

func (c *System) now() int64 {
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

// slow goes on at half speed from the latest instant that Now returned.
func (c *System) slow() int64 {
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
		b.from = told
		b.since = t
	}
	next := b.from + t.Sub(b.since).Milliseconds()/2
	if next > told && c.last.CompareAndSwap(last, next<<1) {
		told = next
	}
	b.last = told
	return told
}

// WallTime returns the machine's time of day.
func (c *System) WallTime() time.Time {
	if c.Wall != nil {
		return c.Wall()
	}
	return time.Now()
}

// WallTimeOf returns the machine's time at an instant that Now has just returned, both in milliseconds. It asks the
// machine only while the clock is frozen.
func (c *System) WallTimeOf(now int64) int64 {
	if c.Frozen() {
		return millis(c.WallTime())
	}
	return now - time.Duration(c.offset.Load()).Milliseconds()
}

// advanced returns the time of day with what Advance and Resume have added.
func (c *System) advanced() time.Time { return c.WallTime().Add(time.Duration(c.offset.Load())) }

// Ahead returns by how much the clock is ahead of the wall clock; it is negative if the clock was frozen for a while.
func (c *System) Ahead() time.Duration { return c.Now().Sub(instant(millis(c.WallTime()))) }

// Another returns a clock that follows the same wall clock and starts with a state. It is advanced and frozen by
// itself.
func (c *System) Another(s State) *System {
	other := &System{Wall: c.Wall, Recheck: c.Recheck, Jumped: c.Jumped}
	other.set(s)
	return other
}

func (c *System) set(s State) {
	c.offset.Store(s.Ahead * int64(time.Millisecond))
	c.last.Store(0)
	if s.Frozen != 0 {
		c.last.Store(s.Frozen<<1 | frozenBit)
	}
}

// State returns what the next process has to know of the clock.
func (c *System) State() State {
	if c.Frozen() {
		return State{Frozen: c.now()}
	}
	return State{Ahead: c.Ahead().Milliseconds()}
}

// Restart gives the clock a state, even if it goes back by that. Pending calls keep their distance. The caller makes
// sure that nothing relies on an instant that this clock has shown.
func (c *System) Restart(s State) {
	c.advancing.Lock()
	defer c.advancing.Unlock()
	c.timers.mu.Lock()
	defer c.timers.mu.Unlock()
	before := c.now()
	c.set(s)
	by := c.now() - before
	for _, x := range c.timers.pending { // their order stays
		x.at += by
	}
	c.rearmLocked()
}

// Frozen reports whether the clock stands still.
func (c *System) Frozen() bool { return c.last.Load()&frozenBit != 0 }

// Freeze stops the clock until Resume. Nothing is due meanwhile, except by Advance. Calls that have begun end before
// Freeze returns.
func (c *System) Freeze() {
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
func (c *System) Resume() {
	c.advancing.Lock()
	defer c.advancing.Unlock()
	last := c.last.Load()
	if last&frozenBit == 0 {
		return
	}
	// A reader may have loaded last before the clock was frozen, and be about to swap it for what the wall clock shows
	// since. Another millisecond makes that fail.
	at := last>>1 + 1
	c.offset.Store(int64(instant(at).Sub(c.WallTime())))
	c.last.Store(at << 1)
	c.rearm()
}

// LogJumps returns a function for [System.Jumped] that tells people why the broker's time differs from the machine's,
// or why so much comes due at once. Clocks may share it: of a jump that all of them see within seconds it tells once.
func LogJumps(logger *slog.Logger) func(by time.Duration) {
	var mu sync.Mutex
	var last time.Time // when a jump was told
	return func(by time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) < 3*time.Second {
			return
		}
		last = time.Now()
		if by > 0 {
			logger.Info("the machine's clock went forward, or the machine slept; what fell due meanwhile happens "+
				"now", "by", by)
			return
		}
		logger.Warn("the machine's clock was set back; the broker's time goes on at half speed until the clock "+
			"has caught up, and follows it at once after a restart", "by", -by)
	}
}
