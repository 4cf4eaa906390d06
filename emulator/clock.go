package emulator

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"minibus/emulator/clock"
)

// maxAhead is how far the clock of a namespace may go ahead of the machine's. Instants can say more, but no time to
// live ends later.
const maxAhead = 100 * 365 * 24 * time.Hour

// millis is the resolution of all instants in the broker (TIME-7).
func millis(t time.Time) int64 { return t.UnixMilli() }

// instant is the inverse of millis.
func instant(ms int64) time.Time { return time.UnixMilli(ms) }

// textOf shows an instant in texts of errors.
func textOf(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// NamespaceClock is the clock of a namespace (DEC-35), which people and tests read, freeze and advance.
type NamespaceClock struct{ ns *Namespace }

// Clock returns the clock of the namespace.
func (ns *Namespace) Clock() NamespaceClock { return NamespaceClock{ns} }

// ClockReading describes the clock of a namespace at one instant.
type ClockReading struct {
	Now    time.Time
	Ahead  time.Duration // of the machine's clock; negative if it was frozen for a while
	Frozen bool
	Goal   time.Time // to which it is being advanced; zero: it is not
}

// Read returns what the clock shows.
func (nc NamespaceClock) Read() ClockReading {
	r := ClockReading{Now: nc.ns.clock.Now().UTC()}
	if c, ok := nc.ns.clock.(*clock.System); ok {
		r.Ahead = c.Ahead()
		r.Frozen = c.Frozen()
		if goal := c.Goal(); goal != 0 {
			r.Goal = instant(goal).UTC()
		}
	}
	return r
}

// Freeze lets the time of the namespace stand still: no lock ends, no message expires or falls due, no entity is idle,
// and what is sent has the instant at which the clock stands. The network goes on. Freeze returns once that is
// durable, and nothing is under way that fell due before.
func (nc NamespaceClock) Freeze() error {
	return nc.steer(func(c *clock.System) error {
		if c.Frozen() {
			return nil
		}
		c.Freeze()
		if err := nc.keep(c.State()); err != nil {
			c.Resume()
			return err
		}
		nc.ns.Quiesce()
		return nil
	})
}

// Resume lets a frozen clock go on from where it stands, so it is behind the machine's or ahead of it from then on. It
// never jumps.
func (nc NamespaceClock) Resume() error {
	return nc.steer(func(c *clock.System) error {
		if !c.Frozen() {
			return nil
		}
		if err := nc.keep(clock.State{Ahead: c.Ahead().Milliseconds()}); err != nil {
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
	return nc.steer(func(c *clock.System) error {
		if d <= 0 {
			return nil
		}
		return nc.advance(ctx, c, c.Now().Add(min(d, 2*maxAhead)))
	})
}

// Set advances the clock to an instant, as Advance does. It fails with CodeNotAllowed if that is over.
func (nc NamespaceClock) Set(ctx context.Context, to time.Time) error {
	return nc.steer(func(c *clock.System) error {
		if now := c.Now(); to.Before(now) {
			return errorf(CodeNotAllowed, "", "The clock of the namespace '%s' can't be set to %s: it shows %s, and "+
				"it never goes back. Set it to a later time, or reset the namespace.", nc.ns.name,
				textOf(to), textOf(now))
		}
		return nc.advance(ctx, c, to)
	})
}

// steer calls f with the clock. No other caller freezes or advances it meanwhile.
func (nc NamespaceClock) steer(f func(c *clock.System) error) error {
	c, ok := nc.ns.clock.(*clock.System)
	if !ok {
		return errorf(CodeNotAllowed, "", "The namespace '%s' follows a clock of its program, which can't be "+
			"steered.", nc.ns.name)
	}
	nc.ns.steering.Lock()
	defer nc.ns.steering.Unlock()
	return f(c)
}

// advance moves the clock. It first stores where the clock will stand: after a crash on the way the next process finds
// it there, and what fell due happens at its start (DEC-21).
func (nc NamespaceClock) advance(ctx context.Context, c *clock.System, to time.Time) error {
	ns := nc.ns
	stopped := func() error {
		return errorf(CodeTimeout, "", "The request ended while the clock of the namespace '%s' was on its way to %s. "+
			"It shows %s, and everything that fell due until then has happened. Set it again to go on.", ns.name,
			textOf(to), textOf(c.Now()))
	}
	if ctx.Err() != nil {
		return stopped()
	}
	now := c.Now()
	state := clock.State{Ahead: millis(to) - millis(now) + c.Ahead().Milliseconds()}
	if state.Ahead > maxAhead.Milliseconds() {
		return errorf(CodeArgument, "", "The clock of the namespace '%s' can't go to %s: it may be at most 100 years "+
			"ahead of the machine's.", ns.name, textOf(to))
	}
	if c.Frozen() {
		state = clock.State{Frozen: millis(to)}
	}
	if err := nc.keep(state); err != nil {
		return err
	}
	if c.Advance(to.Sub(now), ctx.Done(), ns.Quiesce) {
		return nil
	}
	return errors.Join(stopped(), nc.keep(c.State()))
}

// keep stores the state with which the next process starts the clock, and waits.
func (nc NamespaceClock) keep(s clock.State) error {
	nc.ns.admin.Lock()
	defer nc.ns.admin.Unlock()
	return nc.keepLocked(s)
}

// keepLocked is keep for callers that hold the namespace's admin mutex.
func (nc NamespaceClock) keepLocked(s clock.State) error {
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

// restart gives the clock a state, even if it goes back by that, unless it is a clock of the program.
func (nc NamespaceClock) restart(s clock.State) {
	if c, ok := nc.ns.clock.(*clock.System); ok {
		c.Restart(s)
	}
}

// machineTime returns the machine's time in milliseconds since the Unix epoch.
func (nc NamespaceClock) machineTime() int64 {
	if c, ok := nc.ns.clock.(*clock.System); ok {
		return millis(c.WallTime())
	}
	return nc.ns.Now()
}

// machineTimeOf is machineTime at an instant that [Namespace.Now] has just returned, for next to nothing.
func (nc NamespaceClock) machineTimeOf(now int64) int64 {
	if c, ok := nc.ns.clock.(*clock.System); ok {
		return c.WallTimeOf(now)
	}
	return now
}

// DueKind says what happens when an instant comes.
type DueKind uint8

// The kinds of what is due.
const (
	DueLock     DueKind = iota // the lock of a message ends
	DueSchedule                // a scheduled message becomes active
	DueExpiry                  // a message expires
	DueSession                 // the lock of a session ends
	DueForward                 // forwarding is tried again
	DueIdle                    // the entity is deleted, if nothing uses it until then
)

// Due is the next thing of a kind that happens to an entity by itself.
type Due struct {
	At     time.Time
	Entity string
	Kind   DueKind
}

// NextDue returns what happens next, the earliest first, at most limit of it: of each entity the next instant of each
// kind. It may name an instant up to a quarter of a second before the true one where very many messages are due
// together.
func (nc NamespaceClock) NextDue(limit int) []Due {
	var all []Due
	for _, q := range nc.ns.catalog.entities(anyKind) {
		all = nc.appendDue(all, q)
	}
	slices.SortFunc(all, func(x, y Due) int {
		return cmp.Or(x.At.Compare(y.At), strings.Compare(x.Entity, y.Entity), cmp.Compare(x.Kind, y.Kind))
	})
	return all[:min(len(all), limit)]
}

// appendDue appends what happens next to an entity.
func (nc NamespaceClock) appendDue(list []Due, q *Entity) []Due {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.deleted {
		return list
	}
	add := func(kind DueKind, at int64, ok bool) {
		if ok {
			list = append(list, Due{At: instant(at).UTC(), Entity: q.path, Kind: kind})
		}
	}
	at, ok := q.locks.ends.earliest()
	add(DueLock, at, ok)
	at, ok = q.schedule.dues.earliest()
	add(DueSchedule, at, ok)
	at, ok = q.alarm.expiries.earliest()
	add(DueExpiry, at, ok)
	if len(q.sessions.ends) > 0 {
		add(DueSession, q.sessions.ends[0].until, true)
	}
	for sub, at := range q.forwarder.retryAt {
		add(DueForward, at, at > nc.ns.Now() && q.subQueue(SubQueue(sub)).available > 0)
	}
	at, ok = q.usage.idleAt()
	add(DueIdle, at, ok)
	return list
}

// Forecast is what happens by itself up to an instant. What that brings about in turn is not in it: a scheduled message
// that becomes active may expire, too.
type Forecast struct {
	Expire, Activate, Unlock, Delete Effect
	DeadLettered                     int // of the messages that expire, those that become dead letters
}

// Effect is on how many messages of how many entities something has an effect.
type Effect struct{ Messages, Entities int }

func (e *Effect) add(messages int) {
	if messages > 0 {
		e.Messages += messages
		e.Entities++
	}
}

// Forecast counts what happens by itself up to an instant.
func (nc NamespaceClock) Forecast(until time.Time) Forecast {
	var f Forecast
	for _, q := range nc.ns.catalog.entities(anyKind) {
		q.forecast(millis(until), &f)
	}
	return f
}

// forecast adds what happens to an entity. One that is deleted, a subscription with its topic, loses all that it has.
func (q *Entity) forecast(until int64, f *Forecast) {
	if q.goesIdle(until) || q.subscription != nil && q.subscription.topic.goesIdle(until) {
		c := q.Counts()
		f.Delete.Entities++
		f.Delete.Messages += int(c.Active + c.DeadLetter + c.Transfer + c.TransferDeadLetter)
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.deleted {
		return
	}
	expiring := q.alarm.expiries.count(until)
	if main := q.subQueue(Main); expiring > 0 && main.deferred > 0 {
		main.look(0, func(e *entry) bool {
			if at := e.expires(); e.state == Deferred && at != 0 && at <= until {
				expiring-- // EXP-10
			}
			return true
		})
	}
	f.Expire.add(expiring)
	if q.options.DeadLetteringOnExpiration {
		f.DeadLettered += expiring
	}
	f.Activate.add(q.schedule.dues.count(until))
	unlocked := q.locks.ends.count(until)
	for _, h := range q.sessions.ends {
		if h.until <= until {
			unlocked++
		}
	}
	f.Unlock.add(unlocked)
}

// goesIdle reports whether an entity is deleted by an instant if nothing uses it until then.
func (q *Entity) goesIdle(until int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	at, ok := q.usage.idleAt()
	return ok && at <= until && !q.deleted && !q.usage.held()
}

// passing is the sum of all that Broker.Advance added.
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
