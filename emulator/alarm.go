package emulator

import "minibus/emulator/clock"

// turn is how many due messages are treated in one critical section.
const turn = 128

// retryAfter is when work that a failed commit undid is tried again.
const retryAfter = 1000 // ms

// alarm wakes an entity when one of its messages has to be looked after: one timer at the earliest of all deadlines.
// The entity's mutex guards it.
type alarm struct {
	q        *Entity
	expiries deadlines[int64] // by number: entries of Main may be packed
	timer    clock.Timer
	at       int64 // ms; 0: no timer is set
	stopped  bool
}

func (a *alarm) init(q *Entity) {
	a.q = q
	a.expiries = newDeadlines(func(seq, at int64) bool { return q.messages.subQueues[Main].expires(seq) == at },
		func(seq int64) int64 { return seq })
}

// set makes sure that the queue's timer fires at at, in milliseconds, or earlier.
func (a *alarm) set(at int64) {
	if a.stopped || a.q.deleting || a.at != 0 && a.at <= at {
		return
	}
	if a.timer != nil {
		a.timer.Stop()
	}
	a.at = at
	a.timer = a.q.ns.clock.At(instant(at), func() { a.ring(at) })
}

// ring runs everything that is due, a turn at a time, and sets the timer anew.
func (a *alarm) ring(at int64) {
	for more := true; more; {
		a.q.mu.Lock()
		if a.stopped || a.q.deleting || a.at != at {
			a.q.mu.Unlock()
			return
		}
		a.q.ns.ownActions.Add(1)
		more = a.runDue(a.q.ns.Now())
		idle := false
		if !more {
			idle = a.q.usage.idle(a.q.ns.Now())
			a.at, a.timer = 0, nil
			if !idle {
				a.setNext()
			}
		}
		a.q.mu.Unlock()
		switch {
		case idle:
			a.q.ns.Entities().deleteIdle(a.q)
		case more:
			_ = a.q.ns.flush() // clients wait in the journal for one turn, not for all that is due
		}
	}
}

func (a *alarm) setNext() {
	for _, next := range []func() (int64, bool){a.q.locks.ends.next, a.q.schedule.dues.next, a.expiries.next} {
		if at, ok := next(); ok {
			a.set(at)
		}
	}
	if len(a.q.sessions.ends) > 0 {
		a.set(a.q.sessions.ends[0].until)
	}
	if at, ok := a.q.duplicates.next(); ok {
		a.set(at)
	}
	for _, at := range a.q.forwarder.retryAt {
		if at > a.q.ns.Now() {
			a.set(at)
		}
	}
	if at, ok := a.q.messages.pruneSelectorIndexes(a.q.ns.Now()); ok {
		a.set(at)
	}
	if at, ok := a.q.usage.idleAt(); ok {
		a.set(at)
	}
}

// runDue treats at most a turn of each kind of what is due and reports whether there may be more.
func (a *alarm) runDue(now int64) bool {
	ends := popTurn(&a.q.locks.ends, now)
	dues := popTurn(&a.q.schedule.dues, now)
	expiries := a.entries(popTurn(&a.expiries, now))
	if len(ends) > 0 {
		a.q.locks.expireDue(ends, now)
	}
	if len(dues) > 0 {
		a.q.schedule.activate(dues, now)
	}
	if len(expiries) > 0 {
		a.q.messages.expire(expiries, now)
	}
	a.q.forwarder.startLocked(Main)
	a.q.forwarder.startLocked(DeadLetter)
	moreSessions := a.q.sessions.endDue(now)
	moreHistory := a.q.duplicates.pruneDue(now)
	return len(ends) == turn || len(dues) == turn || len(expiries) == turn || moreSessions || moreHistory
}

// entries returns the entries of the main queue that have the numbers.
func (a *alarm) entries(seqs []int64) []*entry {
	if len(seqs) == 0 {
		return nil
	}
	entries := make([]*entry, len(seqs))
	for i, s := range seqs {
		entries[i] = a.q.subQueue(Main).find(s)
	}
	return entries
}

func popTurn[E any](d *deadlines[E], now int64) []E {
	var due []E
	for len(due) < turn {
		e, ok := d.popDue(now)
		if !ok {
			break
		}
		due = append(due, e)
	}
	return due
}

// later returns the instant at which failed work is tried again.
func (a *alarm) later() int64 {
	ns := a.q.ns
	if c, ok := ns.clock.(*clock.System); ok {
		return c.RetryAt(ns.Now(), retryAfter)
	}
	return ns.Now() + retryAfter
}

// stop ends the timer for good.
func (a *alarm) stop() {
	a.q.mu.Lock()
	defer a.q.mu.Unlock()
	a.stopped = true
	if a.timer != nil {
		a.timer.Stop()
		a.timer = nil
	}
}

// watch arms the deadlines of an entry that has just become free.
func (a *alarm) watch(e *entry) {
	switch {
	case e.state == Scheduled:
		a.q.schedule.dues.add(e, e.extras().due)
		a.set(e.extras().due)
	case e.ttl > 0 && e.sub == Main && !a.q.ns.common.lazy:
		a.expiries.add(e.seq, e.expires())
		a.set(e.expires())
	}
}
