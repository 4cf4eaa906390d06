package emulator

import (
	"iter"
	"math"
	"slices"
	"strings"
)

// session is one session of a queue (SESS): its messages, its state and who holds it. It exists while it has one of
// them (SESS-26). The queue's mutex guards it.
type session struct {
	readyQueue
	id      string        // in the spelling that it came with first
	numbers seqList       // of its messages
	hold    *sessionHold  // nil: not locked
	state   *sessionState // nil: it never had one

	stale int64 // what is ready and has a lower number was seen to be expired, which it stays
	first int64 // its lowest available number, while it stands in the queue's offers
	offer int   // its place there; -1: it is not there
}

// sessionHold is the lock of a session.
type sessionHold struct {
	s       *session
	by      *Consumer
	until   int64    // ms
	locked  int      // entries that it covers
	ending  int      // its place in the queue's ends; -1: it is over
	waiters waitList // of the holder alone
}

// sessionState holds the bytes that clients keep with a session.
type sessionState struct {
	some    bool     // there is one
	size    int64    // bytes
	data    []byte   // nil: it is on disk only, if there is one
	updated int64    // when it was set, ms
	writing int      // changes of it being written, or waiting for a commit
	others  []string // spellings of the id, other than the session's, under which the journal has a state too
}

// sessionKey returns the form in which the id of a session is compared: ids that differ in case alone mean the same
// session (SESS-35).
func sessionKey(id string) string { return strings.ToLower(id) }

// SameSession reports whether two ids mean the same session of an entity (SESS-35).
func SameSession(a, b string) bool { return a == b || sessionKey(a) == sessionKey(b) }

// sessionTable has the sessions of an entity and those who wait for one. The entity's mutex guards it.
type sessionTable struct {
	q       *Entity
	byKey   map[string]*session       // by sessionKey of the id
	offers  heap[*session, byFirst]   // sessions that accept-next may choose
	ends    heap[*sessionHold, byEnd] // held sessions
	accepts []*waitingAccept          // in the order they came
	bytes   int64                     // of all session states
}

// Accept asks for a session (SESS-6 to SESS-13).
type Accept struct {
	Mode   ReceiveMode
	Notify func() // as of NewConsumer

	// Lost is called once if the lock of the session ends by itself or the entity takes it away, with the reason
	// (SESS-15). The consumer is closed then. It must only post.
	Lost func(error)

	Client *Client // as of Introduce
}

// waitingAccept is an accept-next that waits for a session.
type waitingAccept struct {
	Accept
	granted func(*Consumer)
	since   int64 // ms
}

// attachedLocked implements attachment.
func (w *waitingAccept) attachedLocked() Attached {
	return Attached{Client: w.Client, Mode: w.Mode, Since: w.since, Asking: true, Accepting: true}
}

// find returns the session with that id, nil if there is none.
func (t *sessionTable) find(id string) *session { return t.byKey[sessionKey(id)] }

// get returns the session with that id, which it makes if there is none.
func (t *sessionTable) get(id string) *session {
	key := sessionKey(id)
	s := t.byKey[key]
	if s == nil {
		s = &session{id: id, offer: -1}
		if t.byKey == nil {
			t.byKey = make(map[string]*session)
		}
		t.byKey[key] = s
	}
	return s
}

// forget drops a session of which nothing is left (SESS-26).
func (t *sessionTable) forget(s *session) {
	if s != nil && len(s.numbers) == 0 && s.hold == nil && !s.hasState() &&
		(s.state == nil || s.state.writing == 0) && s.returning == 0 {
		delete(t.byKey, sessionKey(s.id))
	}
}

// holder returns who holds the session; nil: no consumer does.
func (s *session) holder() *Consumer {
	if s.hold == nil {
		return nil
	}
	return s.hold.by
}

// hasState reports whether the session has a state.
func (s *session) hasState() bool { return s.state != nil && s.state.some }

// stateSize returns the bytes of the session's state.
func (s *session) stateSize() int64 {
	if s == nil || s.state == nil {
		return 0
	}
	return s.state.size
}

// updated returns when the state was set, in milliseconds, or 0.
func (s *session) updated() int64 {
	if s.state == nil {
		return 0
	}
	return s.state.updated
}

// setState returns the session's state to be changed.
func (s *session) setState() *sessionState {
	if s.state == nil {
		s.state = &sessionState{}
	}
	return s.state
}

// rank gives a session its position among those that accept-next may choose: unlocked ones with an available
// message, the one whose message has the lowest number first (SESS-10, SESS-11, DEC-26). Then it serves those who wait.
func (t *sessionTable) rank(s *session) {
	t.updateOffer(s)
	t.grant()
}

func (t *sessionTable) updateOffer(s *session) {
	first, ok := int64(0), false
	if s.hold == nil && s.returning == 0 && s.available > 0 {
		first, ok = t.firstOf(s)
	}
	switch {
	case !ok && s.offer >= 0:
		t.offers.remove(s.offer)
	case ok && s.offer >= 0:
		s.first = first
		t.offers.fix(s.offer)
	case ok:
		s.first = first
		t.offers.push(s)
	}
}

// firstOf returns the number of the first available message of a session that is good for something. Where expired
// ones are left until a receive, they do not make the session available (EXP-14); none is looked at twice.
func (t *sessionTable) firstOf(s *session) (first int64, ok bool) {
	l := &t.q.subQueue(Main).log
	now := t.q.ns.Now()
	over := func(seq int64) bool {
		at := l.expires(seq)
		return at != 0 && at <= now
	}
	if first, ok = s.firstReady(l); !ok || !t.q.ns.common.lazy || !over(first) {
		return first, ok
	}
	for seq := range s.numbers.from(s.stale) {
		if l.ready(seq) && !over(seq) {
			return seq, true
		}
		s.stale = seq + 1
	}
	return 0, false
}

// firstReady returns the lowest available number. The session's messages stand in l.
func (s *session) firstReady(l *log) (seq int64, ok bool) {
	if e := s.firstReturned(); e != nil {
		return e.seq, true
	}
	if s.available == 0 {
		return 0, false
	}
	for seq := range s.numbers.from(s.next) {
		if l.ready(seq) {
			return seq, true
		}
		s.next = seq + 1
	}
	return 0, false
}

// nextReady returns the available message with the lowest number (ORD-1) without taking it, or nil. The session's
// messages stand in l.
func (s *session) nextReady(l *log) *entry {
	if e := s.firstReturned(); e != nil || s.available == 0 {
		return e
	}
	for seq := range s.numbers.from(s.next) {
		if e := l.find(seq); e != nil && e.ready() {
			return e
		}
		s.next = seq + 1
	}
	return nil
}

// block keeps others from the session of a message that is on its way back, until unblock: nothing may overtake it
// (SESS-20).
func (t *sessionTable) block(e *entry) {
	if e.inSession(e.state) {
		s := t.get(e.session.id) // it may have been forgotten meanwhile
		s.returning++
		t.updateOffer(s)
	}
}

// unblock lets others leave the session of a message again that is back, or will not come.
func (t *sessionTable) unblock(e *entry) {
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

// announce tells those who may have e that it is available.
func (m *messages) announce(e *entry) {
	if s := e.session; s != nil && e.sub == Main {
		s.stale = min(s.stale, e.seq)
		s.wake()
		m.q.sessions.rank(s)
		return
	}
	m.q.subQueue(e.sub).wake()
	m.q.forwarder.startLocked(e.sub)
}

// byFirst orders the sessions that accept-next may choose.
type byFirst struct{}

func (byFirst) less(a, b *session) bool      { return a.first < b.first }
func (byFirst) placed(s *session, index int) { s.offer = index }

// byEnd orders the locks of sessions by their end.
type byEnd struct{}

func (byEnd) less(a, b *sessionHold) bool      { return a.until < b.until }
func (byEnd) placed(h *sessionHold, index int) { h.ending = index }

// IDs lists the ids of sessions, in their order without regard to case, from the skip-th on and top at most. With
// all, those that have an active message or a state; otherwise those whose state was set after the instant
// updatedAfter, in milliseconds (SESS-27 to SESS-29).
func (ss Sessions) IDs(all bool, updatedAfter int64, skip, top int) ([]string, error) {
	q := ss.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.receive(Main); err != nil {
		return nil, err
	}
	var keys []string
	for key, s := range q.sessions.byKey {
		if all && (s.hasState() || s.hasActive(&q.subQueue(Main).log)) || !all && s.hasState() &&
			s.updated() > updatedAfter {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	keys = keys[min(max(skip, 0), len(keys)):]
	ids := keys[:min(max(top, 0), len(keys))]
	for i, key := range ids {
		ids[i] = q.sessions.byKey[key].id
	}
	return ids, nil
}

// hasActive reports whether a message of the session, which stands in l, is active, available or not.
func (s *session) hasActive(l *log) bool {
	if s.available > 0 {
		return true
	}
	for seq := range s.numbers.from(math.MinInt64) {
		if e := l.findLoose(seq); e != nil && e.state == Active {
			return true
		}
	}
	return false
}

// messageIterator looks at messages in the order of their numbers.
type messageIterator interface {
	look(from int64, f func(*entry) bool)
	lookBack(from int64, f func(*entry) bool)
}

// sessionMessages are the messages of a session.
type sessionMessages struct {
	s *session
	l *log // in which they stand
}

// look is as of [log.look].
func (v sessionMessages) look(from int64, f func(*entry) bool) { v.walk(v.s.numbers.from(from), f) }

// lookBack is as of [log.lookBack].
func (v sessionMessages) lookBack(from int64, f func(*entry) bool) { v.walk(v.s.numbers.back(from), f) }

func (v sessionMessages) walk(numbers iter.Seq[int64], f func(*entry) bool) {
	var passing *entry
	for seq := range numbers {
		if e := v.l.show(seq, &passing); e != nil && !f(e) {
			return
		}
	}
}

// Sessions is what clients and people do with the sessions of an entity. It fails on an entity that has none.
type Sessions struct{ q *Entity }

// Sessions returns the sessions of the entity.
func (q *Entity) Sessions() Sessions { return Sessions{q} }
