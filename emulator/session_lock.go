package emulator

import "math"

// SessionLockedUntil returns when the lock of the consumer's session ends, in milliseconds since the Unix epoch.
func (c *Consumer) SessionLockedUntil() int64 {
	c.q.mu.Lock()
	defer c.q.mu.Unlock()
	return c.hold.until
}

// RenewSession lets the lock of the consumer's session end one lock duration from now and returns when that is
// (SESS-13). It fails with CodeSessionLockLost if the consumer has no session any more (SESS-14).
func (c *Consumer) RenewSession() (until int64, err error) {
	q := c.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := c.holdsLocked(); err != nil {
		return 0, err
	}
	now := q.ns.Now()
	q.usage.touch(now)
	c.hold.until = now + q.options.lockDuration().Milliseconds()
	q.sessions.ends.fix(c.hold.ending)
	q.alarm.set(c.hold.until)
	return c.hold.until, nil
}

// holdsLocked fails if the consumer does not hold its session.
func (c *Consumer) holdsLocked() error {
	if err := c.q.may.settle(); err != nil {
		return err
	}
	if c.session == nil || c.session.hold != c.hold || c.hold.until <= c.q.ns.Now() {
		return SessionLockLost(c.q.path)
	}
	return nil
}

// SessionLockLost returns the service's answer to a client that names a session without holding its lock (SESS-14).
func SessionLockLost(entity string) *Error {
	return errorf(CodeSessionLockLost, entity,
		"The session lock has expired on the MessageSession. Accept a new MessageSession.")
}

// free ends the holder's lock of a session. What the holder had not settled comes back: at once and
// unchanged when it closed (SESS-18), with one more delivery counted when its time was over (DC-10). Its tokens are
// dead in either case (SESS-16).
func (t *sessionTable) free(s *session, expired bool, now int64) {
	c := s.hold.by
	locked := s.lockedEntries(&t.q.subQueue(Main).log)
	t.ends.remove(s.hold.ending)
	c.stopWaitingLocked(c.promise > 0, now)
	c.promise, c.closed = 0, true
	s.hold, s.waiters = nil, nil
	t.q.attached.remove(c)
	t.q.may.receivers().Add(-1)
	op := newTransition(t.q, 1, nil)
	for _, e := range locked {
		if e.lock.tx != nil {
			e.lock.tx.lost.Store(true) // TXN-18
		}
		t.q.locks.unlock(e)
		if expired {
			op.deliveryFailedLocked(e, nil, EventLockExpired, fallback{undo: undoRetryEnd}, now)
		} else {
			t.q.messages.free(e, now)
		}
	}
	op.appendLocked()
	t.rank(s)
	t.forget(s)
}

// lockedEntries returns the entries of a held session, which stand in l, that were delivered and not settled, by
// number. They stand at the front, but for deferred ones.
func (s *session) lockedEntries(l *log) []*entry {
	n := s.hold.locked
	if n == 0 {
		return nil
	}
	locked := make([]*entry, 0, n)
	for seq := range s.numbers.from(math.MinInt64) {
		if e := l.findLoose(seq); e != nil && e.mark == markLocked && e.lock.until == sessionLock {
			if locked = append(locked, e); len(locked) == n {
				break
			}
		}
	}
	return locked
}

// endDue ends the session locks whose time is over (SESS-15) and reports whether there may be more.
func (t *sessionTable) endDue(now int64) bool {
	for range turn {
		if len(t.ends) == 0 || t.ends[0].until > now {
			return false
		}
		t.lose(t.ends[0].s, SessionLockLost(t.q.path), true, now)
	}
	return true
}

// lose takes a session from its holder and tells it why.
func (t *sessionTable) lose(s *session, why error, expired bool, now int64) {
	c := s.hold.by
	t.free(s, expired, now)
	if c.lost != nil {
		c.lost(why)
	}
}
