package emulator

import "time"

// turn is how many due messages are treated in one critical section.
const turn = 128

// retryAfter is when work that a failed commit undid is tried again.
const retryAfter = 1000 // ms

// rearmLocked makes sure that the queue's timer fires at at, in milliseconds, or earlier.
func (q *Queue) rearmLocked(at int64) {
	if q.stopped || q.deleted || q.timerAt != 0 && q.timerAt <= at {
		return
	}
	if q.timer != nil {
		q.timer.Stop()
	}
	q.timerAt = at
	q.timer = q.ns.clock.At(instant(at), func() { q.ring(at) })
}

// ring runs everything that is due and sets the timer anew.
func (q *Queue) ring(at int64) {
	for more := true; more; {
		q.mu.Lock()
		if q.stopped || q.deleted || q.timerAt != at {
			q.mu.Unlock()
			return
		}
		more = q.runDueLocked(q.ns.Now())
		idle := false
		if !more {
			idle = q.idleLocked(q.ns.Now())
			q.timerAt, q.timer = 0, nil
			if !idle {
				q.rearmNextLocked()
			}
		}
		q.mu.Unlock()
		if idle {
			q.ns.deleteIdle(q)
		}
	}
}

func (q *Queue) rearmNextLocked() {
	for _, next := range []func() (int64, bool){q.locks.ends.next, q.dues.next, q.expiries.next} {
		if at, ok := next(); ok {
			q.rearmLocked(at)
		}
	}
	if len(q.sessions.ends) > 0 {
		q.rearmLocked(q.sessions.ends[0].until)
	}
	if at, ok := q.history.next(); ok {
		q.rearmLocked(at)
	}
	for _, at := range q.forwarder.retryAt {
		if at > q.ns.Now() {
			q.rearmLocked(at)
		}
	}
	if at, ok := q.idleAtLocked(); ok {
		q.rearmLocked(at)
	}
}

// runDueLocked treats at most a turn of each kind of what is due and reports whether there may be more.
func (q *Queue) runDueLocked(now int64) bool {
	ends := popTurn(&q.locks.ends, now)
	dues := popTurn(&q.dues, now)
	expiries := q.entriesLocked(popTurn(&q.expiries, now))
	if len(ends) > 0 {
		q.locks.end(ends, now)
	}
	if len(dues) > 0 {
		q.activateLocked(dues, now)
	}
	if len(expiries) > 0 {
		q.expireLocked(expiries, now)
	}
	q.forwarder.startLocked(Main)
	q.forwarder.startLocked(DeadLetter)
	moreSessions := q.sessions.endDue(now)
	moreHistory := q.history.pruneDue(now)
	return len(ends) == turn || len(dues) == turn || len(expiries) == turn || moreSessions || moreHistory
}

// entriesLocked returns the entries of the main queue that have the numbers.
func (q *Queue) entriesLocked(seqs []int64) []*entry {
	if len(seqs) == 0 {
		return nil
	}
	entries := make([]*entry, len(seqs))
	for i, s := range seqs {
		entries[i] = q.box(Main).find(s)
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
func (q *Queue) laterLocked() int64 {
	return millis(q.ns.clock.Now().Add(retryAfter * time.Millisecond))
}
