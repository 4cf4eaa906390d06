package emulator_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"minibus/emulator"
)

// namespaceModel does what a namespace of several queues should do, written for clarity on top of the model of one queue: sessions,
// duplicate detection, forwarding and transactions are lists and maps that are walked again for every question.
//
// What happens to several queues at one instant happens in an order that no rule fixes, so the model leaves the
// numbers of what arrives by itself open until the player has looked them up.
type namespaceModel struct {
	queues map[string]*queueModel
	works  []*modelWork
}

// modelSession is one session; it is forgotten when nothing is left of it.
type modelSession struct {
	holder *holder // nil: not held
	until  time.Time
	state  string
}

// modelWork is an open transaction.
type modelWork struct {
	*work
	root     string
	deadline time.Time // zero before the first operation
	timedOut bool
	lost     bool
	steps    []modelStep
}

// modelStep is one operation of a transaction.
type modelStep struct {
	q       *queueModel
	send    *modelMessage   // a message to store
	settle  []*modelMessage // messages to settle
	outcome emulator.Outcome
}

func newNamespaceModel(options map[string]emulator.QueueOptions) *namespaceModel {
	a := &namespaceModel{queues: map[string]*queueModel{}}
	for path, o := range options {
		a.queues[path] = &queueModel{path: path, options: o, namespace: a, duplicates: map[string]time.Time{}, sessions: map[string]*modelSession{}}
	}
	return a
}

// all calls f for every queue, in the same order each time.
func (a *namespaceModel) all(f func(*queueModel)) {
	for _, path := range modelPaths {
		f(a.queues[path])
	}
}

// store is send with everything that a message may bring along; it returns nil for a duplicate.
func (q *queueModel) store(m *modelMessage, now time.Time) *modelMessage {
	if q.duplicate(m, now) {
		return nil
	}
	stored := q.send(m.body, m.ttl, m.due, now)
	stored.session, stored.id = m.session, m.id
	return stored
}

// duplicate says whether a message is one, and remembers it if not (DUP-2).
func (q *queueModel) duplicate(m *modelMessage, now time.Time) bool {
	if !q.options.RequiresDuplicateDetection || m.id == "" {
		return false
	}
	if at, ok := q.duplicates[m.id]; ok && now.Before(at.Add(q.options.DuplicateDetectionWindow)) {
		return true
	}
	q.duplicates[m.id] = now
	return false
}

// session returns a session, which is made if there is none.
func (q *queueModel) session(id string) *modelSession {
	if q.sessions[id] == nil {
		q.sessions[id] = &modelSession{}
	}
	return q.sessions[id]
}

// readyIn are the messages that the holder of a session may have.
func (q *queueModel) readyIn(id string) []*modelMessage {
	return q.in(emulator.Main, func(m *modelMessage) bool { return m.ready() && m.session != nil && *m.session == id })
}

// nextSession is the id of the session that an accept gets: the one with the lowest available number (DEC-26).
func (q *queueModel) nextSession() (string, bool) {
	for _, m := range q.in(emulator.Main, (*modelMessage).ready) {
		if q.session(*m.session).holder == nil {
			return *m.session, true
		}
	}
	return "", false
}

// listed are the sessions of SESS-27's mode A.
func (q *queueModel) listed() []string {
	var ids []string
	for id, s := range q.sessions {
		if s.state != "" {
			ids = append(ids, id)
		}
	}
	for _, m := range q.in(emulator.Main, func(m *modelMessage) bool { return m.state == emulator.Active }) {
		ids = append(ids, *m.session)
	}
	return slices.Compact(sorted(ids))
}

// endSession takes the session from its holder. What was delivered comes back, as failed if the lock had run out.
// A write that fails at this instant is tried again a second later; no client may have the message before.
func (q *queueModel) endSession(id string, expired, broken bool, now time.Time) {
	s := q.sessions[id]
	s.holder = nil
	for _, m := range slices.Clone(q.messages) {
		if m.held != s {
			continue
		}
		m.held = nil
		m.leaveWork()
		switch {
		case expired && broken:
			m.locked, m.token, m.until = true, lockToken{}, now.Add(time.Second)
		case expired:
			q.fail(m, 0, now)
		default:
			q.unlock(m, now)
		}
	}
}

// leaveWork ends a message's part in a transaction because its lock has ended (TXN-18).
func (m *modelMessage) leaveWork() {
	if m.work != nil {
		m.work.lost = true
		m.work = nil
	}
}

// forward moves what is forwarded, until nothing moves any more.
func (a *namespaceModel) forward(now time.Time) {
	for moved := true; moved; {
		moved = false
		a.all(func(q *queueModel) {
			for sub, target := range []string{q.options.ForwardTo, q.options.ForwardDeadLetteredMessagesTo} {
				if target == "" {
					continue
				}
				for _, m := range q.in(emulator.SubQueue(sub), (*modelMessage).ready) {
					q.forwardOne(m, a.queues[target], now)
					moved = true
				}
			}
		})
	}
}

func (q *queueModel) forwardOne(m *modelMessage, target *queueModel, now time.Time) {
	if target.options.RequiresSession && m.session == nil {
		q.deadLetter(m, "Session id is null.")
		return
	}
	q.remove(m)
	if target.duplicate(m, now) {
		return
	}
	if m.first == 0 {
		m.first = m.seq
		if m.seq == 0 {
			m.first = unknown
		}
	}
	if m.sub == emulator.DeadLetter {
		m.source = q.path
	}
	if d := target.options.DefaultMessageTimeToLive; d > 0 && (m.ttl == 0 || d < m.ttl) {
		m.ttl = d
	}
	m.sub, m.state, m.count, m.enqueued, m.seq = emulator.Main, emulator.Active, 0, now, 0
	target.messages = append(target.messages, m)
}

// unknown is a number that the model leaves open.
const unknown = -1

// pass lets time pass in all queues at once.
func (a *namespaceModel) pass(to, broken time.Time) {
	for {
		var at time.Time
		earlier := func(t time.Time) {
			if !t.IsZero() && !t.After(to) && (at.IsZero() || t.Before(at)) {
				at = t
			}
		}
		a.all(func(q *queueModel) {
			for _, m := range q.messages {
				if t, ok := m.next(); ok {
					earlier(t)
				}
			}
			for _, s := range q.sessions {
				if s.holder != nil {
					earlier(s.until)
				}
			}
		})
		for _, w := range a.works {
			if !w.timedOut {
				earlier(w.deadline)
			}
		}
		if at.IsZero() {
			return
		}
		a.happen(at, at.Equal(broken))
	}
}

// happen treats everything that is due at an instant.
func (a *namespaceModel) happen(now time.Time, broken bool) {
	for _, w := range a.works {
		if !w.deadline.IsZero() && !w.deadline.After(now) {
			w.timedOut = true
			w.giveUp()
		}
	}
	a.all(func(q *queueModel) {
		for id, s := range q.sessions {
			if s.holder != nil && !s.until.After(now) {
				q.endSession(id, true, broken, now)
			}
		}
		q.happen(now, broken)
	})
	if !broken {
		a.forward(now)
	}
}

// giveUp undoes what the transaction holds.
func (w *modelWork) giveUp() {
	for _, s := range w.steps {
		for _, m := range s.settle {
			if m.work == w {
				m.work = nil
			}
		}
	}
	w.steps = nil
}

// commit applies a transaction.
func (w *modelWork) commit(now time.Time) {
	steps := w.steps
	w.giveUp()
	for _, s := range steps {
		if s.send != nil {
			s.q.store(s.send, now)
		}
		for _, m := range s.settle {
			m.held = nil
			s.q.settle(m, s.outcome, 0, now)
		}
	}
}

// restart is a new process for all queues.
func (a *namespaceModel) restart(now time.Time) {
	for _, w := range a.works {
		w.giveUp()
	}
	a.works = nil
	a.all(func(q *queueModel) {
		for _, s := range q.sessions {
			s.holder = nil
		}
		for _, m := range q.messages {
			m.held = nil
		}
		q.restart(now)
	})
	a.forward(now)
}

// details returns what a peek should show of a message in a namespaceModel.
func (m *modelMessage) details() string {
	session := "none"
	if m.session != nil {
		session = *m.session
	}
	return strings.Join([]string{m.String(), fmt.Sprintf("session=%q id=%q first=%d source=%q", session, m.id, m.first, m.source)}, " ")
}
