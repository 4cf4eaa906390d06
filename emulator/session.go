package emulator

import (
	"cmp"
	"slices"
)

// session is one session of a queue (SESS): its messages, its state and who holds it. It exists while it has one of
// them (SESS-26). The queue's mutex guards it.
type session struct {
	shelf
	id      string
	holder  *Consumer // nil: not locked
	until   int64     // end of the holder's lock, ms
	state   []byte    // nil: none
	updated int64     // when the state was set, ms
	writing int       // changes of the state being written
	locked  int       // entries that the holder's lock covers

	stale  int64 // what is ready and has a lower number was seen to be expired, which it stays
	first  int64 // its lowest available number, while it stands in the queue's offers
	offer  int   // its place there; -1: it is not there
	ending int   // its place in the queue's sessionEnds; -1: it is not held
}

// sessionTable has the sessions of an entity and those who wait for one. The entity's mutex guards it.
type sessionTable struct {
	q       *Entity
	byID    map[string]*session
	offers  heap[*session, byFirst] // sessions that accept-next may choose
	ends    heap[*session, byEnd]   // held sessions
	accepts []*waitingAccept        // in the order they came
	bytes   int64                   // of all session states
}

// Accept asks for a session (SESS-6 to SESS-13).
type Accept struct {
	Mode   ReceiveMode
	Notify func() // as of NewConsumer

	// Lost is called once if the lock of the session ends by itself or the entity takes it away, with the reason
	// (SESS-15). The consumer is closed then. It must only post.
	Lost func(error)

	Who *Who // as of Introduce
}

// waitingAccept is an accept-next that waits for a session.
type waitingAccept struct {
	Accept
	granted func(*Consumer)
	since   int64 // ms
}

// attachedLocked implements attachment.
func (w *waitingAccept) attachedLocked() Attached {
	return Attached{Who: w.Who, Mode: w.Mode, Since: w.since, Asking: true, Accepting: true}
}

// get returns the session with that id, which it makes if there is none.
func (t *sessionTable) get(id string) *session {
	s := t.byID[id]
	if s == nil {
		s = &session{id: id, offer: -1, ending: -1}
		if t.byID == nil {
			t.byID = make(map[string]*session)
		}
		t.byID[id] = s
	}
	return s
}

// forget drops a session of which nothing is left (SESS-26).
func (t *sessionTable) forget(s *session) {
	if s != nil && s.n == 0 && s.holder == nil && s.state == nil && s.writing == 0 && s.returning == 0 {
		delete(t.byID, s.id)
	}
}

// rank gives a session its place among those that accept-next may choose: unlocked ones with an available
// message, the one whose message has the lowest number first (SESS-10, SESS-11, DEC-26). Then it serves those who wait.
func (t *sessionTable) rank(s *session) {
	t.place(s)
	t.grant()
}

func (t *sessionTable) place(s *session) {
	e := (*entry)(nil)
	if s.holder == nil && s.returning == 0 && s.available > 0 {
		e = t.firstOf(s)
	}
	switch {
	case e == nil && s.offer >= 0:
		t.offers.remove(s.offer)
	case e != nil && s.offer >= 0:
		s.first = e.seq
		t.offers.fix(s.offer)
	case e != nil:
		s.first = e.seq
		t.offers.push(s)
	}
}

// firstOf returns the first available message of a session that is good for something, or nil. Where expired ones are
// left until a receive, they do not make the session available (EXP-14); none is looked at twice.
func (t *sessionTable) firstOf(s *session) *entry {
	first := s.nextReady()
	now := t.q.ns.Now()
	if !t.q.ns.common.lazy || first == nil || !first.expired(now) {
		return first
	}
	first = nil
	s.ascend(s.stale, func(e *entry) bool {
		if e.ready() && !e.expired(now) {
			first = e
			return false
		}
		s.stale = e.seq + 1
		return true
	})
	return first
}

// shut closes the session of a message that is on its way back, until open: nothing may overtake it (SESS-20).
func (t *sessionTable) shut(e *entry) {
	if e.inSession(e.state) {
		s := t.get(e.session.id) // it may have been forgotten meanwhile
		s.returning++
		t.place(s)
	}
}

// open lets others leave the session of a message again that is back, or will not come.
func (t *sessionTable) open(e *entry) {
	if !e.inSession(e.state) {
		return
	}
	s := t.get(e.session.id)
	if s.returning--; s.returning == 0 {
		s.wake()
		t.rank(s)
		t.forget(s)
	}
}

// stir tells those who may have e that it is available.
func (m *messages) stir(e *entry) {
	if s := e.session; s != nil && e.sub == Main {
		s.stale = min(s.stale, e.seq)
		s.wake()
		m.q.sessions.rank(s)
		return
	}
	m.q.box(e.sub).wake()
	m.q.forwarder.startLocked(e.sub)
}

// byFirst orders the sessions that accept-next may choose.
type byFirst struct{}

func (byFirst) less(a, b *session) bool      { return a.first < b.first }
func (byFirst) placed(s *session, index int) { s.offer = index }

// byEnd orders the held sessions by the end of their locks.
type byEnd struct{}

func (byEnd) less(a, b *session) bool      { return a.until < b.until }
func (byEnd) placed(s *session, index int) { s.ending = index }

// Sessions lists the ids of sessions, in their order, from the skip-th on and top at most. With all, those that have
// an active message or a state; otherwise those whose state was set after the instant updatedAfter, in milliseconds
// (SESS-27 to SESS-29).
func (q *Entity) Sessions(all bool, updatedAfter int64, skip, top int) ([]string, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.receive(Main); err != nil {
		return nil, err
	}
	var ids []string
	for _, s := range q.sessions.byID {
		if all && (s.state != nil || s.hasActive()) || !all && s.state != nil && s.updated > updatedAfter {
			ids = append(ids, s.id)
		}
	}
	slices.SortFunc(ids, cmp.Compare[string])
	ids = ids[min(max(skip, 0), len(ids)):]
	return ids[:min(max(top, 0), len(ids))], nil
}

// hasActive reports whether a message of the session is active, available or not.
func (s *session) hasActive() bool {
	if s.available > 0 {
		return true
	}
	active := false
	s.ascend(-1<<63, func(e *entry) bool {
		active = e.state == Active && e.mark != markPending
		return !active
	})
	return active
}
