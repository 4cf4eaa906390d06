package emulator

// transition is a change that concerns the messages of one entity. Whatever the broker does to messages is one: they
// are stored, removed, changed in place, given other numbers, or moved to a sub-queue.
type transition struct {
	change Change
	entitySteps
	ids  *newIDs    // that the change adds to the history of duplicate detection; nil: none
	done Completion // may be nil
}

// noCompletion is for changes whose end no caller waits for.
var noCompletion = CompletionFunc(func(error) {})

// newTransition makes one of about n steps, of which c is told.
func newTransition(q *Entity, n int, c Completion) *transition {
	op := &transition{done: c}
	op.begin(q, n, op)
	op.client = clientOf(c)
	return op
}

// begin makes room for n steps, which end with a call of done.
func (op *transition) begin(q *Entity, n int, done Completion) {
	op.q = q
	op.steps = op.one[:0]
	op.change.Ops = op.change.Single[:0]
	if n > 1 {
		op.steps, op.change.Ops = make([]step, 0, n), make([]Op, 0, n)
	}
	op.change.Done = done
}

func (op *transition) addLocked(s step, o Op) {
	op.entitySteps.addLocked(s)
	op.change.Ops = append(op.change.Ops, o)
}

// deletion is the operation that deletes the row of e, which is in the entity, and with it the body if no other copy
// has that.
func (e *entry) deletion(entity int64) Op {
	o := e.rowDeletion(entity)
	o.DropBody = e.body.last()
	return o
}

// rowDeletion is deletion for a message whose body stays.
func (e *entry) rowDeletion(entity int64) Op {
	return Op{Kind: OpDelete, Record: MessageRecord{Row: e.row, Entity: entity, Sub: e.sub, Body: e.body.id}}
}

// removeLocked adds that e is deleted.
func (op *transition) removeLocked(e *entry, v EventKind, f fallback) {
	op.addLocked(step{e: e, effect: effectRemove, event: v, fallback: f}, e.deletion(op.q.id))
}

// newRemoval makes the change that deletes entries, which are free, unlocked or busy. They stay in the log, busy,
// until it is committed.
func newRemoval(q *Entity, entries []*entry, v EventKind, f fallback, c Completion) *transition {
	op := newTransition(q, len(entries), c)
	for _, e := range entries {
		op.removeLocked(e, v, f)
	}
	return op
}

// changeLocked adds that e stays in its log with new values.
func (op *transition) changeLocked(e *entry, s State, count uint32, overlay []byte, v EventKind, f fallback) {
	x := *e.extras()
	x.overlay = overlay
	if s == Deferred && f.lock != nil {
		x.until = f.lock.expires()
	}
	r := e.record(op.q.id)
	r.State = s
	r.DeliveryCount = count
	r.Overlay = overlay
	op.addLocked(step{e: e, effect: effectChange, event: v, fallback: f, state: s, count: count, extra: x.kept()},
		Op{Kind: OpUpdate, Record: r})
}

// freeLocked adds that e goes back to its place as it is. Nothing is written for that; but e becomes available only
// when the rest of the change is committed, and keeps its lock if that fails.
func (op *transition) freeLocked(e *entry, v EventKind, f fallback) {
	if f.undo != undoRelock {
		f.undo = undoFree // it can be free whatever comes of the change
	}
	op.entitySteps.addLocked(step{e: e, effect: effectFree, event: v, fallback: f})
}

// replaceLocked adds that to takes the place of e. drawn says that its number was drawn for that.
func (op *transition) replaceLocked(e, to *entry, drawn bool, v EventKind, f fallback) {
	op.q.subQueue(to.sub).addExpected(to)
	o := Op{Kind: OpUpdate, Record: to.record(op.q.id)}
	if drawn {
		o = op.q.counters.markDrawn(o)
	}
	op.addLocked(step{e: e, effect: effectReplace, event: v, fallback: f, to: to}, o)
}

// appendLocked hands the change to the journal. If there is nothing to write it takes effect at once.
func (op *transition) appendLocked() {
	if len(op.change.Ops) > 0 {
		op.q.ns.journal.Append(&op.change)
		return
	}
	op.finishLocked(nil)
	if op.done != nil {
		op.done.Completed(nil)
	}
}

// completeLocked makes the change effective in memory, or takes it back: [entitySteps.applyLocked] and
// [entitySteps.undoLocked], in step.go.
func (op *transition) completeLocked(err error) {
	if op.ids != nil {
		op.ids.end(&op.q.duplicates, err)
	}
	op.entitySteps.completeLocked(err)
}

// Completed makes the change effective, or takes it back, and tells.
func (op *transition) Completed(err error) {
	q := op.q
	q.mu.Lock()
	op.completeLocked(err)
	q.mu.Unlock()
	if op.done != nil {
		op.done.Completed(err)
	} else if err != nil {
		q.ns.logger.Error("ended locks or expired messages could not be written; trying again", "entity", q.path,
			"error", err)
	}
}

// removeFromEntity takes a committed entry out of the entity.
func (m *messages) removeFromEntity(e *entry) {
	m.removeFromSubQueue(e)
	m.q.bodies.uncount(e.body)
}

// removeFromSubQueue takes a committed entry out of its sub-queue.
func (m *messages) removeFromSubQueue(e *entry) {
	expires := e.expires()
	m.q.subQueue(e.sub).removeStored(e)
	switch {
	case e.state == Scheduled:
		m.q.schedule.dues.remove(e.extras().due)
	case expires != 0 && e.sub == Main:
		m.q.alarm.expiries.remove(expires)
	}
	if e.sub == Main {
		m.q.sessions.forget(e.session)
	}
}
