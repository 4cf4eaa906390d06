package emulator

import (
	"context"
	"errors"
	"sync"
	"time"
)

// farthest is how far the clock of a namespace may go ahead of the machine's. Instants have room for more, but no time to live ends later.
const farthest = 100 * 365 * 24 * time.Hour

// ClockReading is what the clock of a namespace shows.
type ClockReading struct {
	Now    time.Time
	Ahead  time.Duration // of the machine's clock; negative if it was frozen for a while
	Frozen bool
	Goal   time.Time // to which it is being advanced; zero: it is not
}

// ReadClock reads the clock of the namespace.
func (ns *Namespace) ReadClock() ClockReading {
	if c, ok := ns.clock.(*SystemClock); ok {
		r := ClockReading{Now: c.Now().UTC(), Ahead: c.Ahead(), Frozen: c.Frozen()}
		if to := c.heading.Load(); to != 0 {
			r.Goal = instant(to).UTC()
		}
		return r
	}
	return ClockReading{Now: ns.clock.Now().UTC()}
}

// Freeze lets the time of the namespace stand still (DEC-35): no lock ends, no message expires or falls due, no entity is idle, and what is sent has the
// instant at which the clock stands. The network goes on. Freeze returns once that is durable, and nothing is under way that fell due before.
func (ns *Namespace) Freeze() error {
	return ns.steer(func(c *SystemClock) error {
		if c.Frozen() {
			return nil
		}
		c.Freeze()
		if err := ns.keepClock(ClockState{Frozen: millis(c.Now())}); err != nil {
			c.Resume()
			return err
		}
		ns.Quiesce()
		return nil
	})
}

// Resume lets a clock that is frozen go on from where it stands, so it is behind the machine's or ahead of it from then on. It never jumps.
func (ns *Namespace) Resume() error {
	return ns.steer(func(c *SystemClock) error {
		if !c.Frozen() {
			return nil
		}
		if err := ns.keepClock(ClockState{Ahead: c.Ahead().Milliseconds()}); err != nil {
			return err
		}
		c.Resume()
		return nil
	})
}

// Advance lets time pass in the namespace. Everything that falls due on the way happens in one order before Advance returns, with all that
// follows from it. Time does not go back: without a positive duration nothing happens.
func (ns *Namespace) Advance(d time.Duration) error {
	return ns.AdvanceContext(context.Background(), d)
}

// AdvanceContext is Advance until ctx ends. Then the clock stops where it is, everything that fell due until then has happened, and the error is
// CodeTimeout.
func (ns *Namespace) AdvanceContext(ctx context.Context, d time.Duration) error {
	return ns.steer(func(c *SystemClock) error {
		if d <= 0 {
			return nil
		}
		return ns.advance(ctx, c, c.Now().Add(min(d, 2*farthest)))
	})
}

// SetTime advances the clock to an instant. It fails with CodeNotAllowed if that is over.
func (ns *Namespace) SetTime(to time.Time) error { return ns.SetTimeContext(context.Background(), to) }

// SetTimeContext is SetTime until ctx ends, as [Namespace.AdvanceContext] is Advance.
func (ns *Namespace) SetTimeContext(ctx context.Context, to time.Time) error {
	return ns.steer(func(c *SystemClock) error {
		if now := c.Now(); to.Before(now) {
			return errorf(CodeNotAllowed, "", "The clock of the namespace '%s' can't be set to %s: it shows %s, and it never goes back. "+
				"Set it to a later time, or reset the namespace.", ns.name, textOf(to), textOf(now))
		}
		return ns.advance(ctx, c, to)
	})
}

// steer calls f with the clock, which nobody else steers meanwhile.
func (ns *Namespace) steer(f func(c *SystemClock) error) error {
	c, ok := ns.clock.(*SystemClock)
	if !ok {
		return errorf(CodeNotAllowed, "", "The namespace '%s' follows a clock of its program, which can't be steered.", ns.name)
	}
	ns.steering.Lock()
	defer ns.steering.Unlock()
	return f(c)
}

// advance moves the clock. Where it will stand is written first: after a crash on the way the next process finds it there, and what
// fell due happens at its start (DEC-21).
func (ns *Namespace) advance(ctx context.Context, c *SystemClock, to time.Time) error {
	now := c.Now()
	if ctx.Err() != nil {
		return ns.stoppedAt(c, to)
	}
	ahead := millis(to) - millis(now) + c.Ahead().Milliseconds()
	if ahead > farthest.Milliseconds() {
		return errorf(CodeArgument, "", "The clock of the namespace '%s' can't go to %s: it may be at most 100 years ahead of the machine's.", ns.name, textOf(to))
	}
	state := ClockState{Ahead: ahead}
	if c.Frozen() {
		state = ClockState{Frozen: millis(to)}
	}
	if err := ns.keepClock(state); err != nil {
		return err
	}
	if c.Advance(to.Sub(now), ctx.Done(), ns.Quiesce) {
		return nil
	}
	state = ClockState{Ahead: c.Ahead().Milliseconds()}
	if c.Frozen() {
		state = ClockState{Frozen: millis(c.Now())}
	}
	return errors.Join(ns.stoppedAt(c, to), ns.keepClock(state))
}

// stoppedAt says where the clock is that was on its way to an instant.
func (ns *Namespace) stoppedAt(c *SystemClock, to time.Time) error {
	return errorf(CodeTimeout, "", "The request ended while the clock of the namespace '%s' was on its way to %s. It shows %s, and everything that fell due until then has "+
		"happened. Set it again to go on.", ns.name, textOf(to), textOf(c.Now()))
}

// keepClock stores what the next process has to know of the clock, and waits.
func (ns *Namespace) keepClock(s ClockState) error {
	ns.admin.Lock()
	defer ns.admin.Unlock()
	return ns.keepClockLocked(s)
}

func (ns *Namespace) keepClockLocked(s ClockState) error {
	if ns.stage.Load() == stageGone {
		return namespaceNotFound(ns.name)
	}
	o := ns.Options()
	o.Time = s
	if ns.keep != nil {
		if err := ns.keep(o); err != nil {
			return err
		}
	}
	ns.settings.Store(&o)
	return nil
}

// textOf shows an instant in texts of errors.
func textOf(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// passing is what Broker.Advance has added in all.
type passing struct {
	mu     sync.RWMutex // held to make a namespace
	passed time.Duration
}

// Advance lets time pass in all namespaces, in one after another. It also counts for those that are made later.
func (b *Broker) Advance(d time.Duration) error {
	if d <= 0 {
		return nil
	}
	b.passing.mu.Lock()
	b.passing.passed += d
	list := b.Namespaces()
	b.passing.mu.Unlock()
	for _, ns := range list {
		if err := ns.Advance(d); err != nil && ns.stage.Load() == stageThere {
			return err
		}
	}
	return nil
}
