package emulator

import (
	"cmp"
	"slices"
)

// txCommit is a transaction that is being written: one change with the completions of its parts.
type txCommit struct {
	change Change
	parts  []Completion
	done   Completion
}

// Completed lets every operation take effect, or none.
func (op *txCommit) Completed(err error) {
	for _, p := range op.parts {
		p.Completed(err)
	}
	op.done.Completed(err)
}

func (op *txCommit) add(c *Change) {
	op.change.Ops = append(op.change.Ops, c.Ops...)
	op.parts = append(op.parts, c.Done)
	op.change.inherit(c)
}

// Commit makes everything take effect in one change of the journal. An error means that the transaction was rolled
// back and that c will not be called: its time was over, a lock ended meanwhile (TXN-18), or an entity is gone or full
// (TXN-19).
func (t *Transaction) Commit(c Completion) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return t.endedLocked("")
	}
	qs := t.lockAll()
	err := t.checkLocked()
	op := &txCommit{done: c}
	if err == nil {
		op.change.Done = op
		for i := range t.work {
			t.applyLocked(op, &t.work[i])
		}
		t.breakLocked(op)
		if len(op.change.Ops) > 0 || len(op.parts) > 0 {
			t.ns.journal.Append(&op.change)
		} else {
			defer c.Completed(nil)
		}
	}
	unlockAll(qs)
	if err != nil {
		t.rollbackLocked()
		return err
	}
	t.endLocked()
	t.work = nil
	return nil
}

// breakLocked lets the commit fail if a fault hits one of its operations.
func (t *Transaction) breakLocked(op *txCommit) {
	for i := range t.work {
		w, what := &t.work[i], OperationSettle
		switch {
		case len(w.sends) > 0:
			what = OperationSend
		case w.isCancel, w.holder != nil:
			what = OperationManage
		}
		w.q.ns.faults.failJournalLocked(w.q, &op.change, what, Main, clientOf(op.done))
	}
}

// checkLocked reports what keeps the transaction from being committed.
func (t *Transaction) checkLocked() error {
	now := t.ns.Now()
	for i := range t.work {
		w := &t.work[i]
		if err := w.q.may.use(); err != nil {
			return err
		}
		for _, e := range w.entries {
			if !w.isCancel && (t.lost.Load() || e.lock == nil || e.lock.tx != t || e.lock.expires() <= now) {
				return lockLost(w.q.path)
			}
		}
		if w.holder != nil {
			if err := w.holder.holdsLocked(); err != nil {
				return err
			}
		}
		if err := w.checkSendsLocked(); err != nil {
			return err
		}
	}
	return nil
}

// checkSendsLocked reports why the messages to store can't be stored, or nil.
func (w *txWork) checkSendsLocked() error {
	if len(w.sends) == 0 {
		return nil
	}
	if w.numbers != nil && w.numbers.failed != nil {
		return w.numbers.failed
	}
	err := w.q.may.store(w.sends)
	if err != nil && w.via != nil && isDisabled(err) {
		return w.via.may.use() // there it goes instead
	}
	return err
}

// numbering says which numbers the messages of w get: those that were told, which the commit needs then.
func (op *txCommit) numbering(w *txWork) numbering {
	if w.numbers == nil {
		return numbering{}
	}
	t := op.change.tie()
	t.dependsOn = append(t.dependsOn, &w.numbers.dependency)
	return numbering{given: w.numbers.seqs}
}

// applyLocked adds one operation to the change.
func (t *Transaction) applyLocked(op *txCommit, w *txWork) {
	q, told := w.q, By(w.client, noCompletion)
	switch {
	case len(w.sends) > 0:
		if w.via != nil && q.may.store(w.sends) != nil {
			op.add(&newTransferDeadLetter(w.via, w.sends, q, told).change)
			return
		}
		op.add(newSending(q, w.sends, op.numbering(w), true, told))
	case w.isCancel:
		op.add(&newRemoval(q, w.entries, EventCancelled, fallback{undo: undoReschedule}, told).change)
	case w.holder != nil:
		op.add(&q.sessions.newStateOp(w.holder.session, w.state, told).change)
		w.releaseStateLocked()
	default:
		m := newTransition(q, len(w.entries), told)
		now := q.ns.Now()
		for _, e := range w.entries {
			f := fallback{undo: undoRelock, lock: w.unlockLocked(e)}
			if w.settle.Forgotten {
				f.undo = undoRetryEnd
			}
			m.settleLocked(e, w.settle, f, now)
		}
		op.add(&m.change)
	}
}

// unlockLocked takes the lock from e to settle it. Should the commit fail, the receiver hears of the lock's end as
// before.
func (w *txWork) unlockLocked(e *entry) *Lock {
	l := e.lock
	kept := l.kept
	l.tx, l.kept = nil, kept && !w.own
	w.q.locks.unlock(e)
	l.kept = kept
	return l
}

// newTransferDeadLetter stores messages whose destination did not take them in the transfer dead-letter queue of
// the entity that they were sent through (DLQ-16, TXN-11).
func newTransferDeadLetter(q *Entity, in []incoming, destination *Entity, c Completion) *transition {
	op := newTransition(q, len(in), c)
	now := q.ns.Now()
	for i := range in {
		seq := q.counters.draw(&op.drawn, q.counters.choose(&in[i]))
		e := q.messages.newEntry(&in[i], seq, now)
		q.sessions.forget(e.session)
		e.sub = TransferDeadLetter
		e.session = nil
		e.state = Active
		e.extra = extra{
			overlay: deadLetterProperties("MessagingEntityDisabledException",
				"Messaging entity '"+destination.path+"' is currently disabled."),
			reason: "MessagingEntityDisabledException",
		}.kept()
		op.insertLocked(e, &in[i], true)
	}
	return op
}

// lockAll locks everything that the commit will touch, in the order of the ids: the entities that the transaction
// works on, and with a topic all of its subscriptions, since it can't be known before which of them get copies.
func (t *Transaction) lockAll() []*Entity {
	for {
		qs := t.touched()
		for _, q := range qs {
			q.mu.Lock()
		}
		if !t.grown(qs) {
			return qs
		}
		unlockAll(qs)
	}
}

func unlockAll(qs []*Entity) {
	for _, q := range qs {
		q.mu.Unlock()
	}
}

// touched returns what is to be locked, as of now.
func (t *Transaction) touched() []*Entity {
	var qs []*Entity
	for _, w := range t.work {
		qs = append(qs, w.q)
		if w.via != nil {
			qs = append(qs, w.via)
		}
		if w.q.topic != nil && len(w.sends) > 0 {
			w.q.mu.Lock()
			for _, s := range w.q.topic.subs {
				qs = append(qs, s.Entity)
			}
			w.q.mu.Unlock()
		}
	}
	slices.SortFunc(qs, func(a, b *Entity) int { return cmp.Compare(a.id, b.id) })
	return slices.Compact(qs)
}

// grown reports whether a topic has got a subscription that is not among those that are locked.
func (t *Transaction) grown(locked []*Entity) bool {
	for _, w := range t.work {
		if w.q.topic == nil || len(w.sends) == 0 {
			continue
		}
		for _, s := range w.q.topic.subs {
			if !slices.Contains(locked, s.Entity) {
				return true
			}
		}
	}
	return false
}
