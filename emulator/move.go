package emulator

import "minibus/internal/amqp/message"

// move is one atomic change of several messages: removed, changed in place or moved to a sub-queue.
type move struct {
	change Change
	q      *Queue
	steps  []step
	done   Completion // may be nil
	lock   *Lock      // of the entry whose step is added next; nil if it had none
	event  event      // what the step that is added next counts as
	again  bool       // if the commit fails the entries just rest: whoever asked for the move tries again
	own    bool       // it is the broker's own doing and nobody's failed delivery, and is to be tried again as such
	one    [1]step
}

// step is what happens to one entry once the move is committed.
type step struct {
	e        *entry
	lock     *Lock  // what e gets back if the commit fails
	rest     bool   // e goes back to rest then
	own      bool   // as of move
	same     bool   // e goes back to rest as it is, but not before the rest of the change is committed
	to       *entry // its new self, pending in another log; nil if it stays or goes
	gone     bool
	keepBody bool // of a message that goes: it lives on in another queue
	event    event
	back     bool // it returns to its session and must not be overtaken meanwhile (SESS-20)
	// the new values of an entry that stays
	state State
	count uint32
	extra extra
}

func (q *Queue) newMove(n int, c Completion) *move {
	op := &move{q: q, done: c}
	op.change.Done = op
	op.steps, op.change.Ops = op.one[:0], op.change.Single[:0]
	if n > 1 {
		op.steps, op.change.Ops = make([]step, 0, n), make([]Op, 0, n)
	}
	return op
}

func (op *move) add(s step, o Op) {
	op.addStep(s)
	op.change.Ops = append(op.change.Ops, o)
}

func (op *move) addStep(s step) {
	s.lock, s.rest, s.own, s.event = op.lock, s.rest || op.again, op.own, op.event
	op.q.box(s.e.sub).remark(s.e, markBusy)
	if s.back {
		s.e.session.returning++
	}
	op.steps = append(op.steps, s)
}

// removeLocked adds that e is deleted.
func (op *move) removeLocked(e *entry) {
	op.add(step{e: e, gone: true}, Op{
		Kind: OpDelete, DropBody: e.body.last(),
		Record: MessageRecord{Row: e.row, Entity: op.q.id, Sub: e.sub, Body: e.body.id},
	})
}

// changeLocked adds that e stays in its log with new values.
func (op *move) changeLocked(e *entry, s State, count uint32, overlay []byte) {
	x := e.withExtra()
	x.overlay = overlay
	r := e.record(op.q.id)
	r.State, r.DeliveryCount, r.Overlay = s, count, overlay
	op.add(step{e: e, state: s, count: count, extra: x, back: e.inSession(s)}, Op{Kind: OpUpdate, Record: r})
}

// restLocked adds that e goes back to its place as it is. Nothing is written for that; but nobody sees it before the rest
// of the change is committed, and it keeps its lock if that fails.
func (op *move) restLocked(e *entry) {
	op.addStep(step{e: e, same: true, rest: true, back: e.inSession(e.state)})
}

// inSession reports whether e, in that state, stands in its session's order (SESS-20).
func (e *entry) inSession(s State) bool { return e.session != nil && e.sub == Main && s == Active }

// deadLetterLocked adds that e moves to the dead-letter queue with its number and its enqueued time (DLQ-9) and the
// properties given (DLQ-8).
func (op *move) deadLetterLocked(e *entry, count uint32, properties []byte) {
	to := &entry{
		seq: e.seq, first: e.first, enqueued: e.enqueued, ttl: e.ttl, row: e.row, body: e.body,
		count: count, state: Active, sub: DeadLetter,
	}
	x := e.withExtra()
	x.due = 0
	x.overlay, x.reason = deadLetterOverlay(e.overlay(), properties)
	if len(x.overlay) > maxHeaderBytes {
		x.overlay, x.reason = deadLetterOverlay(e.overlay(), headerSizeProperties())
	}
	to.setExtra(x)
	op.q.box(DeadLetter).expect(to)
	if op.event != eventExpired {
		op.event = eventDeadLettered
	}
	op.add(step{e: e, to: to}, Op{Kind: OpUpdate, Record: to.record(op.q.id)})
}

// expireLocked adds what happens to a message that is past its time to live (EXP-6). The count and the changed properties
// are those of the failed delivery that brought it up, if one did (DC-2, DC-3, LOCK-14).
func (op *move) expireLocked(e *entry, count uint32, properties []byte) {
	op.event = eventExpired
	if op.q.options.DeadLetteringOnExpiration {
		op.deadLetterLocked(e, count, message.MergeProperties(properties,
			deadLetterProperties("TTLExpiredException", "The message expired and was dead lettered.")))
		return
	}
	op.removeLocked(e)
}

// appendLocked hands the move to the journal. If there is nothing to write it takes effect at once.
func (op *move) appendLocked() {
	if len(op.change.Ops) > 0 {
		op.q.ns.append(&op.change)
		return
	}
	op.finishLocked(nil)
	if op.done != nil {
		op.done.Completed(nil)
	}
}

// Completed applies the move, or undoes it.
func (op *move) Completed(err error) {
	q := op.q
	q.mu.Lock()
	op.finishLocked(err)
	q.mu.Unlock()
	if op.done != nil {
		op.done.Completed(err)
	} else if err != nil {
		q.ns.logger.Error("ended locks or expired messages could not be written; trying again", "entity", q.path, "error", err)
	}
}

func (op *move) finishLocked(err error) {
	q := op.q
	now := q.ns.Now()
	for i := range op.steps {
		s := &op.steps[i]
		if s.back {
			s.e.session.returning--
		}
		if err != nil {
			q.undoLocked(s)
		} else {
			q.applyLocked(s, now)
		}
		if s.back && s.e.session.returning == 0 { // others may leave the session again, whatever became of this one
			s.e.session.wake()
			q.rankLocked(s.e.session)
		}
	}
}

func (q *Queue) applyLocked(s *step, now int64) {
	e := s.e
	q.countLocked(s.event)
	switch {
	case s.keepBody:
		q.departLocked(e)
		q.dropLocked(e.body)
	case s.gone:
		q.dismissLocked(e)
	case s.to != nil:
		q.leaveLocked(e)
		q.arriveLocked(s.to)
	case s.same:
		q.restLocked(e, now)
	default:
		b := q.box(e.sub)
		b.tally(e, -1)
		e.state, e.count = s.state, s.count
		e.setExtra(s.extra)
		b.tally(e, 1)
		q.restLocked(e, now)
	}
}

// undoLocked puts an entry back as it was: locked by the same token, or, if the broker itself had acted, at rest
// with another try later.
func (q *Queue) undoLocked(s *step) {
	if s.to != nil {
		q.box(s.to.sub).forget(s.to)
	}
	e := s.e
	switch {
	case s.lock != nil && s.lock.until == sessionLock && e.session.holder != s.lock.holder:
		q.restLocked(e, q.ns.Now()) // its session was given up meanwhile
		return
	case s.lock != nil:
		q.holdLocked(e, s.lock)
		return
	case s.rest:
		q.restLocked(e, q.ns.Now())
		return
	}
	// The end of a lock or an expiry: nobody may have the message before that is written. Try again later.
	if s.back {
		e.session.returning++
	}
	q.holdLocked(e, &Lock{token: q.newTokenLocked(), until: q.laterLocked(), back: s.back, own: s.own})
}

func deadLetterProperties(reason, description string) []byte {
	b, err := message.EncodeProperties(message.Map{
		{Key: DeadLetterReason, Value: reason}, {Key: DeadLetterErrorDescription, Value: description},
	})
	if err != nil {
		panic(err) // two strings can always be encoded
	}
	return b
}
