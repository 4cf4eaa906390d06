package emulator

import (
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
