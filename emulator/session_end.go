package emulator

import "math"

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
			op.abandonLocked(e, nil, EventLockExpired, fallback{undo: undoRetryEnd}, now)
		} else {
			t.q.messages.free(e, now)
		}
	}
	op.appendLocked()
	t.rank(s)
	t.forget(s)
}

// lockedEntries returns the entries of a held session, which stand in l, that were delivered and not settled, by number. They stand at the front,
// but for deferred ones.
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
