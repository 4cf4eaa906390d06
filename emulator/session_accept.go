package emulator

import (
	"math"
	"slices"
)

// Accept locks the session with that id for a new consumer; the empty string is an id like any other
// (SESS-34). It fails with CodeSessionLocked if a consumer holds it (SESS-7), with CodeNotAllowed on an entity without
// sessions, and with CodeQuotaExceeded beyond the profile's limit (QUO-12).
func (ss Sessions) Accept(id string, a Accept) (*Consumer, error) {
	q := ss.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.accept(); err != nil {
		return nil, err
	}
	if s := q.sessions.find(id); s != nil && s.hold != nil {
		return nil, errorf(CodeSessionLocked, q.path,
			"The requested session '%s' cannot be accepted. It may be locked by another receiver.", id)
	}
	if err := q.may.addReceiver(); err != nil {
		return nil, err
	}
	q.may.receivers().Add(1)
	return q.sessions.hold(q.sessions.get(id), id, a), nil
}

// AcceptNext locks the next available session for a new consumer. If there is none it waits, first come,
// first served, until cancel is called (SESS-8, SESS-9); the caller limits the time. granted is called at most once,
// possibly under the queue's mutex: it must only post, and the caller closes a consumer that it no longer wants.
func (ss Sessions) AcceptNext(a Accept, granted func(*Consumer)) (cancel func(), err error) {
	q := ss.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.accept(); err != nil {
		return nil, err
	}
	if err := q.may.addReceiver(); err != nil {
		return nil, err
	}
	q.may.receivers().Add(1) // it becomes the consumer's
	w := &waitingAccept{Accept: a, granted: granted, since: q.ns.Now()}
	q.sessions.accepts = append(q.sessions.accepts, w)
	q.attached.add(w)
	q.sessions.grant()
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if i := slices.Index(q.sessions.accepts, w); i >= 0 {
			q.sessions.accepts = slices.Delete(q.sessions.accepts, i, i+1)
			q.attached.remove(w)
			q.may.receivers().Add(-1)
			q.usage.touch(q.ns.Now())
		}
	}, nil
}

// grant serves waiting accepts while sessions are available.
func (t *sessionTable) grant() {
	for len(t.accepts) > 0 && len(t.offers) > 0 && t.q.may.receive(Main) == nil {
		if s := t.offers[0]; t.q.ns.common.lazy { // what it was offered for may have expired
			first := s.first
			if t.updateOffer(s); s.offer < 0 || s.first != first {
				continue
			}
		}
		w := t.accepts[0]
		t.accepts[0] = nil
		t.accepts = t.accepts[1:]
		t.q.attached.remove(w)
		w.granted(t.hold(t.offers[0], t.offers[0].id, w.Accept))
	}
}

// hold locks a session for a new consumer, which calls it by that id.
func (t *sessionTable) hold(s *session, id string, a Accept) *Consumer {
	now := t.q.ns.Now()
	t.q.usage.touch(now)
	c := &Consumer{q: t.q, sub: Main, mode: a.Mode, waiter: waiter{notify: a.Notify}, ready: &s.readyQueue,
		session: s, asked: id,
		lost: a.Lost, since: now, client: a.Client}
	t.q.attached.add(c)
	c.hold = &sessionHold{s: s, by: c, until: now + t.q.options.lockDuration().Milliseconds()}
	s.hold, s.waiters = c.hold, &c.hold.waiters
	t.ends.push(s.hold)
	if s.offer >= 0 {
		t.offers.remove(s.offer)
	}
	t.q.alarm.set(s.hold.until)
	return c
}

// accept reports why no session may be accepted, or nil.
func (p *preconditions) accept() error {
	if err := p.receive(Main); err != nil {
		return err
	}
	if !p.q.options.RequiresSession {
		return errorf(CodeNotAllowed, p.q.path,
			"A sessionful message receiver cannot be created on an entity that does not require sessions. "+
				"Ensure RequiresSession is set to true when creating a Queue or Subscription "+
				"to enable sessionful behavior.")
	}
	return nil
}

// SessionID returns the id of the consumer's session, in the spelling of who accepted it by id, and whether it has one.
func (c *Consumer) SessionID() (id string, ok bool) {
	if c.session == nil {
		return "", false
	}
	return c.asked, true
}

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
