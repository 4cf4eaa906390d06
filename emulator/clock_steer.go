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

// NamespaceClock is the clock of a namespace, as far as people and tests set it.
type NamespaceClock struct{ ns *Namespace }

// Clock returns the clock of the namespace.
func (ns *Namespace) Clock() NamespaceClock { return NamespaceClock{ns} }

// Read reads the clock of the namespace.
func (nc NamespaceClock) Read() ClockReading {
	if c, ok := nc.ns.clock.(*SystemClock); ok {
		r := ClockReading{Now: c.Now().UTC(), Ahead: c.Ahead(), Frozen: c.Frozen()}
		if to := c.heading.Load(); to != 0 {
			r.Goal = instant(to).UTC()
		}
		return r
	}
	return ClockReading{Now: nc.ns.clock.Now().UTC()}
}

// Freeze lets the time of the namespace stand still (DEC-35): no lock ends, no message expires or falls due, no entity is idle, and what is sent has the
// instant at which the clock stands. The network goes on. Freeze returns once that is durable, and nothing is under way that fell due before.
func (nc NamespaceClock) Freeze() error {
	return nc.steer(func(c *SystemClock) error {
		if c.Frozen() {
			return nil
		}
		c.Freeze()
		if err := nc.keep(ClockState{Frozen: millis(c.Now())}); err != nil {
			c.Resume()
			return err
		}
		nc.ns.Quiesce()
		return nil
	})
}

// Resume lets a clock that is frozen go on from where it stands, so it is behind the machine's or ahead of it from then on. It never jumps.
func (nc NamespaceClock) Resume() error {
	return nc.steer(func(c *SystemClock) error {
		if !c.Frozen() {
			return nil
		}
		if err := nc.keep(ClockState{Ahead: c.Ahead().Milliseconds()}); err != nil {
			return err
		}
		c.Resume()
		return nil
	})
}

// Advance lets time pass in the namespace. Everything that falls due on the way happens in one order before Advance
// returns, with all that follows from it. Time does not go back: without a positive duration nothing happens.
//
// If ctx ends, the clock stops where it is, everything that fell due until then has happened, and the error is
// CodeTimeout.
func (nc NamespaceClock) Advance(ctx context.Context, d time.Duration) error {
	return nc.steer(func(c *SystemClock) error {
		if d <= 0 {
			return nil
		}
		return nc.advance(ctx, c, c.Now().Add(min(d, 2*farthest)))
	})
}

// Set advances the clock to an instant, as Advance does. It fails with CodeNotAllowed if that is over.
func (nc NamespaceClock) Set(ctx context.Context, to time.Time) error {
	return nc.steer(func(c *SystemClock) error {
		if now := c.Now(); to.Before(now) {
			return errorf(CodeNotAllowed, "", "The clock of the namespace '%s' can't be set to %s: it shows %s, and it never goes back. "+
				"Set it to a later time, or reset the namespace.", nc.ns.name, textOf(to), textOf(now))
		}
		return nc.advance(ctx, c, to)
	})
}

// steer calls f with the clock, which nobody else steers meanwhile.
func (nc NamespaceClock) steer(f func(c *SystemClock) error) error {
	ns := nc.ns
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
func (nc NamespaceClock) advance(ctx context.Context, c *SystemClock, to time.Time) error {
	now := c.Now()
	if ctx.Err() != nil {
		return nc.stoppedAt(c, to)
	}
	ahead := millis(to) - millis(now) + c.Ahead().Milliseconds()
	if ahead > farthest.Milliseconds() {
		return errorf(CodeArgument, "", "The clock of the namespace '%s' can't go to %s: it may be at most 100 years ahead of the machine's.", nc.ns.name, textOf(to))
	}
	state := ClockState{Ahead: ahead}
	if c.Frozen() {
		state = ClockState{Frozen: millis(to)}
	}
	if err := nc.keep(state); err != nil {
		return err
	}
	if c.Advance(to.Sub(now), ctx.Done(), nc.ns.Quiesce) {
		return nil
	}
	state = ClockState{Ahead: c.Ahead().Milliseconds()}
	if c.Frozen() {
		state = ClockState{Frozen: millis(c.Now())}
	}
	return errors.Join(nc.stoppedAt(c, to), nc.keep(state))
}

// stoppedAt says where the clock is that was on its way to an instant.
func (nc NamespaceClock) stoppedAt(c *SystemClock, to time.Time) error {
	return errorf(CodeTimeout, "", "The request ended while the clock of the namespace '%s' was on its way to %s. It shows %s, and everything that fell due until then has "+
		"happened. Set it again to go on.", nc.ns.name, textOf(to), textOf(c.Now()))
}

// keep stores what the next process has to know of the clock, and waits.
func (nc NamespaceClock) keep(s ClockState) error {
	nc.ns.admin.Lock()
	defer nc.ns.admin.Unlock()
	return nc.keepLocked(s)
}

func (nc NamespaceClock) keepLocked(s ClockState) error {
	ns := nc.ns
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
		if err := ns.Clock().Advance(context.Background(), d); err != nil && ns.stage.Load() == stageThere {
			return err
		}
	}
	return nil
}

// machineTime returns the machine's time in milliseconds since the Unix epoch.
func (nc NamespaceClock) machineTime() int64 {
	if c, ok := nc.ns.clock.(*SystemClock); ok {
		return millis(c.wall())
	}
	return nc.ns.Now()
}
