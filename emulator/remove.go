package emulator

// removal is messages that are being deleted.
type removal struct {
	change  Change
	q       *Queue
	entries []*entry
	undo    func(*entry) // puts an entry back if the commit fails; called under the queue's mutex
	done    Completion   // may be nil
	one     [1]*entry
}

// removeLocked deletes entries, which are at rest, unlocked or busy, and tells c. The entries stay in the log, busy,
// until that is committed.
func (q *Queue) removeLocked(entries []*entry, c Completion, undo func(*entry)) {
	if len(entries) == 0 {
		c.Completed(nil)
		return
	}
	q.ns.append(&q.newRemovalLocked(entries, c, undo).change)
}

// newRemovalLocked makes the change of removeLocked without appending it.
func (q *Queue) newRemovalLocked(entries []*entry, c Completion, undo func(*entry)) *removal {
	op := &removal{q: q, undo: undo, done: c}
	op.entries = append(op.one[:0], entries...)
	op.change.Done = op
	op.change.Ops = op.change.Single[:0]
	if len(entries) > 1 {
		op.change.Ops = make([]Op, 0, len(entries))
	}
	for _, e := range entries {
		e.mark = markBusy
		op.change.Ops = append(op.change.Ops, Op{
			Kind: OpDelete, DropBody: e.body.last(),
			Record: MessageRecord{Row: e.row, Entity: q.id, Sub: e.sub, Body: e.body.id},
		})
	}
	return op
}

// Completed forgets the messages, or puts them back.
func (op *removal) Completed(err error) {
	q := op.q
	q.mu.Lock()
	for _, e := range op.entries {
		if err != nil {
			op.undo(e)
			continue
		}
		q.dismissLocked(e)
	}
	q.mu.Unlock()
	if op.done != nil {
		op.done.Completed(err)
	}
}

// dismissLocked forgets a message that is no longer stored.
func (q *Queue) dismissLocked(e *entry) {
	q.departLocked(e)
	q.releaseLocked(e.body)
}

// departLocked takes a committed entry out of the entity.
func (q *Queue) departLocked(e *entry) {
	q.leaveLocked(e)
	q.partLocked(e.body)
}

// leaveLocked takes a committed entry out of its box.
func (q *Queue) leaveLocked(e *entry) {
	expires := e.expires()
	q.box(e.sub).dismiss(e)
	switch {
	case e.state == Scheduled:
		q.dues.remove(e.due())
	case expires != 0 && e.sub == Main:
		q.expiries.remove(expires)
	}
	if e.sub == Main {
		q.forgetLocked(e.session)
	}
}
