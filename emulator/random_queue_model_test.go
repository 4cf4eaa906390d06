package emulator_test

import (
	"fmt"
	"slices"
	"time"

	"minibus/emulator"
)

// queueModel does what a queue should do, written for clarity: one list of messages, walked again for every question.
// Nothing in it is concurrent and nothing can fail halfway.
type queueModel struct {
	options  emulator.QueueOptions
	messages []*modelMessage
	last     int64 // last sequence number given

	// only in a namespaceModel
	path       string
	namespace  *namespaceModel
	duplicates map[string]time.Time
	sessions   map[string]*modelSession
}

// modelMessage is one message with everything about it in plain fields.
type modelMessage struct {
	body     string
	seq      int64
	sub      emulator.SubQueue
	state    emulator.State
	count    uint32
	enqueued time.Time
	due      time.Time // when it is scheduled: activation is tried then
	ttl      time.Duration
	locked   bool
	own      bool      // locked by the broker, whose expiry of it could not be written
	until    time.Time // when locked
	token    lockToken // zero if it is not locked
	mark     int64     // the property that settlements change
	reason   any

	// only in a namespaceModel
	session *string
	id      string        // message id
	first   int64         // enqueued sequence number
	source  string        // dead-letter source
	held    *modelSession // whose holder's lock it is that locks it
	work    *modelWork    // that will settle it
}

func (m *modelMessage) expired(now time.Time) bool {
	return m.ttl > 0 && m.sub == emulator.Main && m.state != emulator.Scheduled && !now.Before(m.enqueued.Add(m.ttl))
}

func (m *modelMessage) ready() bool { return m.state == emulator.Active && !m.locked }

// String returns the message as a peek should show it.
func (m *modelMessage) String() string {
	return fmt.Sprintf("%d %s state=%d count=%d enqueued=%s ttl=%s mark=%d reason=%v",
		m.seq, m.body, m.state, m.count, m.enqueued.Format("15:04:05.000"), m.ttl, m.mark, m.reason)
}

func (q *queueModel) draw() int64 {
	if q.namespace != nil {
		return 0 // it is looked up
	}
	q.last++
	return q.last
}

// send stores a message; due is zero for one that is not scheduled.
func (q *queueModel) send(body string, ttl time.Duration, due, now time.Time) *modelMessage {
	if d := q.options.DefaultMessageTimeToLive; d > 0 && (ttl == 0 || d < ttl) {
		ttl = d
	}
	m := &modelMessage{body: body, seq: q.draw(), enqueued: now, ttl: ttl}
	if due.After(now) {
		m.state, m.due = emulator.Scheduled, due
	}
	q.messages = append(q.messages, m)
	return m
}

func (q *queueModel) remove(m *modelMessage) {
	q.messages = slices.DeleteFunc(q.messages, func(x *modelMessage) bool { return x == m })
}

// in returns the messages of a sub-queue for which f holds, by number.
func (q *queueModel) in(sub emulator.SubQueue, f func(*modelMessage) bool) []*modelMessage {
	var found []*modelMessage
	for _, m := range q.messages {
		if m.sub == sub && f(m) {
			found = append(found, m)
		}
	}
	slices.SortStableFunc(found, func(a, b *modelMessage) int { return int(a.seq - b.seq) })
	return found
}

// find returns the message with that number, if f holds for it.
func (q *queueModel) find(sub emulator.SubQueue, seq int64, f func(*modelMessage) bool) *modelMessage {
	found := q.in(sub, func(m *modelMessage) bool { return m.seq == seq && f(m) })
	if len(found) == 0 {
		return nil
	}
	return found[0]
}

func (q *queueModel) lock(m *modelMessage, token lockToken, now time.Time) {
	m.locked, m.token, m.until = true, token, now.Add(q.options.LockDuration)
}

// unlock lets m rest; if it has expired meanwhile that takes effect (EXP-8).
func (q *queueModel) unlock(m *modelMessage, now time.Time) {
	m.locked, m.own, m.token, m.held, m.work = false, false, lockToken{}, nil, nil
	if m.state == emulator.Active && m.expired(now) {
		q.expire(m)
	}
}

func (q *queueModel) deadLetter(m *modelMessage, reason any) {
	m.sub, m.state, m.locked, m.own, m.token, m.held = emulator.DeadLetter, emulator.Active, false, false, lockToken{}, nil
	if reason != nil {
		m.reason = reason
	}
}

func (q *queueModel) expire(m *modelMessage) {
	if q.options.DeadLetteringOnExpiration {
		q.deadLetter(m, "TTLExpiredException")
		return
	}
	q.remove(m)
}

// fail is a delivery that came to nothing: an abandon with a changed property, or the end of a lock with none.
func (q *queueModel) fail(m *modelMessage, mark int64, now time.Time) {
	m.leaveWork()
	if m.own { // no delivery: it was its expiry that could not be written
		q.unlock(m, now)
		return
	}
	if mark != 0 {
		m.mark = mark
	}
	if m.sub == emulator.Main {
		m.count++
		if m.state == emulator.Active && m.expired(now) {
			q.expire(m)
			return
		}
		if m.count >= uint32(q.options.MaxDeliveryCount) {
			q.deadLetter(m, "MaxDeliveryCountExceeded")
			return
		}
	}
	q.unlock(m, now)
}

// settle applies an outcome to a locked message; mark is the property to change, 0 for none.
func (q *queueModel) settle(m *modelMessage, o emulator.Outcome, mark int64, now time.Time) {
	switch o {
	case emulator.Complete:
		q.remove(m)
	case emulator.Abandon:
		q.fail(m, mark, now)
	case emulator.Release:
		q.unlock(m, now)
	case emulator.Defer:
		m.state = emulator.Deferred
		m.count++
		if mark != 0 {
			m.mark = mark
		}
		q.unlock(m, now)
	case emulator.DeadLetterOutcome:
		if mark != 0 {
			m.mark = mark
		}
		q.deadLetter(m, nil)
	}
}

// next returns the instant at which something happens to m by itself.
func (m *modelMessage) next() (time.Time, bool) {
	switch {
	case m.state == emulator.Scheduled:
		return m.due, true
	case m.locked:
		return m.until, m.held == nil
	case m.state == emulator.Active && m.ttl > 0 && m.sub == emulator.Main:
		return m.enqueued.Add(m.ttl), true
	}
	return time.Time{}, false
}

// advance lets time pass. What happens at the instant broken can't be written; it is tried again a second later.
func (q *queueModel) advance(to, broken time.Time) {
	for {
		var at time.Time
		for _, m := range q.messages {
			if t, ok := m.next(); ok && !t.After(to) && (at.IsZero() || t.Before(at)) {
				at = t
			}
		}
		if at.IsZero() {
			return
		}
		q.happen(at, at.Equal(broken))
	}
}

// happen treats everything that is due at an instant.
func (q *queueModel) happen(now time.Time, broken bool) {
	var due []*modelMessage
	for _, m := range slices.Clone(q.messages) {
		if t, ok := m.next(); !ok || t.After(now) {
			continue
		}
		switch {
		case m.state == emulator.Scheduled && broken:
			m.due = now.Add(time.Second)
		case m.state == emulator.Scheduled:
			due = append(due, m)
		case broken: // no client may have it until that is written
			m.leaveWork()
			m.own = m.own || !m.locked
			m.locked, m.token, m.until = true, lockToken{}, now.Add(time.Second)
		case m.locked:
			q.fail(m, 0, now)
		default:
			q.expire(m)
		}
	}
	q.activate(due, now)
}

// activate appends due messages, the one that was due first at the front.
func (q *queueModel) activate(due []*modelMessage, now time.Time) {
	slices.SortFunc(due, func(a, b *modelMessage) int {
		if c := a.due.Compare(b.due); c != 0 {
			return c
		}
		return int(a.seq - b.seq)
	})
	for _, m := range due {
		m.state, m.seq, m.enqueued, m.due = emulator.Active, q.draw(), now, time.Time{}
	}
}

// restart is a new process: no locks, and what fell due meanwhile is treated (DEC-21).
func (q *queueModel) restart(now time.Time) {
	var due []*modelMessage
	for _, m := range slices.Clone(q.messages) {
		switch {
		case m.state == emulator.Scheduled && !m.due.After(now):
			due = append(due, m)
		case m.state != emulator.Scheduled:
			q.unlock(m, now)
		}
	}
	q.activate(due, now)
}
