package emulator

import "bytes"

// step says what a change does to one message: its effect once the change is committed, and its fallback if the commit
// fails. Both are enumerated, so that only undoLocked takes back a failed change.
type step struct {
	e *entry
	fallback
	to     *entry // of effectReplace: its new self, expected in its sub-queue
	extra  *extra // of effectChange: the new values
	count  uint32
	state  State
	effect effect
	event  EventKind
	failed EventKind // how the delivery ended that caused the event; the record has it before
	text   string    // of the event
}

// effect says what a committed step does to its entry.
type effect uint8

const (
	effectArrive     effect = iota // it was expected and becomes visible
	effectRemove                   // it leaves, and so does its body
	effectHandOn                   // it leaves; its body lives on in another entity
	effectReplace                  // it leaves its place for another sub-queue or another number
	effectChange                   // it stays, with other values
	effectFree                     // it goes back to its place as it is
	effectReschedule               // it stays, scheduled for another time
)

// fallback says where an entry goes if the commit fails.
type fallback struct {
	undo undo
	lock *Lock // of undoRelock
}

// undo says how to put an entry back.
type undo uint8

const (
	undoForget      undo = iota // it never came
	undoRelock                  // it is locked as before, by the same token
	undoFree                    // it is free: the broker tries again, or the client has been told
	undoUndelivered             // it is free, at once or, if that goes on and on, after a pause
	undoDueLater                // it is scheduled, and due again later
	undoReschedule              // it is scheduled as before
	undoRetryEnd                // its redelivery is delayed until the end of its lock is tried again
	// its redelivery is delayed until the broker tries again what it does by itself; that is no failed delivery
	undoRetryOwn
)

// entitySteps are the steps of a change in one entity, and the numbers that it draws there.
type entitySteps struct {
	q      *Entity
	steps  []step
	drawn  drawn
	client *Client // whose operation it is; nil: the broker's own
	one    [1]step
}

// addLocked adds a step of an entry that is stored and is busy from now on.
func (p *entitySteps) addLocked(s step) {
	p.q.subQueue(s.e.sub).remark(s.e, markBusy)
	if s.returns() {
		s.e.session.returning++
	}
	p.steps = append(p.steps, s)
}

// expectLocked adds that a new entry arrives.
func (p *entitySteps) expectLocked(e *entry) {
	p.q.subQueue(e.sub).addExpected(e)
	p.steps = append(p.steps, step{e: e, effect: effectArrive, event: EventSent})
}

// returns reports whether the entry returns to its session and must not be overtaken meanwhile (SESS-20).
func (s *step) returns() bool {
	switch s.effect {
	case effectChange:
		return s.e.inSession(s.state)
	case effectFree:
		return s.e.inSession(s.e.state)
	}
	return false
}

// finishLocked makes the steps effective, or undoes them, and the numbers too.
func (p *entitySteps) finishLocked(err error) {
	q := p.q
	p.drawn.end(err)
	now := q.ns.Now()
	q.noteActivityLocked(now)
	for i := range p.steps {
		s := &p.steps[i]
		returns := s.returns()
		if returns {
			s.e.session.returning--
		}
		if err != nil {
			p.undoLocked(s, now)
		} else {
			p.applyLocked(s, now)
		}
		if returns && s.e.session.returning == 0 { // others may leave the session again, whatever became of this one
			s.e.session.wake()
			q.sessions.rank(s.e.session)
		}
	}
}

// completeLocked is finishLocked where an operation ends. The caller has no entry in use that is free: where messages
// have come, others are packed.
func (p *entitySteps) completeLocked(err error) {
	p.finishLocked(err)
	if len(p.steps) > 0 && p.steps[0].effect == effectArrive {
		p.q.messages.pack()
	}
}

func (p *entitySteps) applyLocked(s *step, now int64) {
	q, e := p.q, s.e
	q.traffic.count(s.event)
	if s.event != EventNone {
		p.recordLocked(s, now)
	}
	//exhaustive:enforce
	switch s.effect {
	case effectArrive:
		q.messages.evaluateSelectors(e)
		q.bodies.keep(e.body)
		q.messages.arrive(e)
	case effectRemove:
		q.messages.removeFromEntity(e)
		if q.bodies.giveUpCopy(e.body) {
			q.ns.removeBodies(e.body.id)
		}
	case effectHandOn:
		q.messages.removeFromEntity(e)
		q.bodies.evict(e.body)
		e.body.count(-1)
	case effectReplace:
		q.messages.removeFromSubQueue(e)
		q.messages.evaluateSelectors(s.to)
		q.messages.arrive(s.to)
	case effectChange:
		b := q.subQueue(e.sub)
		changed := b.selectorIndexes != nil && !bytes.Equal(e.extras().overlay, s.extra.overlayOf())
		b.tally(e, -1)
		e.state = s.state
		e.count = s.count
		e.extra = s.extra
		b.tally(e, 1)
		if changed {
			b.selectorIndexes.update(e)
		}
		q.messages.free(e, now)
	case effectFree:
		q.messages.free(e, now)
	case effectReschedule:
		q.schedule.move(e, s.extra, now)
	}
}

// recordLocked records a committed step.
func (p *entitySteps) recordLocked(s *step, now int64) {
	r := p.q.ns.common.record
	if r == nil {
		return
	}
	e := s.e
	if s.failed != EventNone {
		r.add(p.q, now, &happened{kind: s.failed, sub: e.sub, seq: e.seq, first: e.first, body: e.body.id,
			count: s.count, client: p.client})
	}
	h := happened{kind: s.event, sub: e.sub, seq: e.seq, first: e.first, body: e.body.id, count: e.count,
		client: p.client, text: s.text}
	switch {
	case s.effect == effectChange:
		h.count = s.count
	case s.to != nil:
		h.count = s.to.count
		if h.text == "" {
			h.text = s.to.extras().reason
		}
		if s.event == EventActivated {
			h.value = s.to.seq
		}
	case s.event == EventScheduled:
		h.value = e.extras().due
	case s.event == EventRescheduled:
		h.value = s.extra.due
	}
	r.add(p.q, now, &h)
}

// undoLocked puts an entry back.
func (p *entitySteps) undoLocked(s *step, now int64) {
	q, e := p.q, s.e
	if s.effect == effectReplace {
		q.subQueue(s.to.sub).removeExpected(s.to)
	}
	//exhaustive:enforce
	switch s.undo {
	case undoForget:
		q.subQueue(e.sub).removeExpected(e)
		q.sessions.forget(e.session)
		e.body.count(-1)
	case undoRelock:
		if s.lock.until == sessionLock && e.session.hold != s.lock.holder.hold {
			q.messages.free(e, now) // its session was given up meanwhile
			return
		}
		q.locks.hold(e, s.lock)
	case undoFree:
		q.messages.free(e, now)
	case undoUndelivered:
		q.failedDeliveries.free(e, now)
	case undoDueLater:
		q.schedule.retry(e)
	case undoReschedule:
		q.schedule.putBack(e)
	case undoRetryEnd, undoRetryOwn:
		q.locks.delayRedelivery(e, s.returns(), s.undo == undoRetryOwn)
	}
}

// inSession reports whether e, in that state, stands in its session's order (SESS-20).
func (e *entry) inSession(s State) bool { return e.session != nil && e.sub == Main && s == Active }
