package emulator

// takesForwardsLocked reports why nothing may be forwarded to the entity, or nil. SendDisabled does not keep forwards out
// (FWD-11).
func (q *Queue) takesForwardsLocked() error {
	if err := q.usableLocked(); err != nil {
		return err
	}
	if q.options.Status == StatusDisabled {
		return q.disabledLocked(StatusDisabled)
	}
	return q.roomLocked()
}

// transfer is messages that are being forwarded, in one change (FWD-3). It is made and appended under the mutex of the
// target alone, because the target may be a topic, whose subscriptions are locked after it, and the source one with a
// higher id than theirs. The entries belong to the mover meanwhile; the source sees them again when the change is done.
type transfer struct {
	q        *Queue // the source
	target   *Queue
	leaving  *move        // of the source
	arriving []*entry     // in the target
	to       *storing     // what is written to the target
	fanOut   *publication // to is part of it; nil unless the target is a topic
	result   chan error   // of the commit
}

func newTransfer(q, target *Queue) *transfer {
	op := &transfer{q: q, target: target, leaving: &move{q: q}, result: make(chan error, 1)}
	if target.fan != nil {
		op.fanOut = &publication{}
		op.fanOut.done = CompletionFunc(func(error) {})
		op.to = &op.fanOut.storing
	} else {
		op.to = &storing{}
	}
	op.to.q, op.to.change.Done = target, op
	return op
}

// start appends the change, whose outcome comes in result. An error says why the target takes nothing; then nothing was
// appended.
func (op *transfer) start(list []forwarded) error {
	t := op.target
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.takesForwardsLocked(); err != nil {
		return err
	}
	now := t.ns.Now()
	t.touchLocked(now)
	for i := range list {
		op.addLocked(&list[i], now)
	}
	if op.fanOut != nil {
		op.fanOut.finishLocked()
	}
	t.ns.append(&op.to.change)
	return nil
}

// addLocked adds one message of the source.
func (op *transfer) addLocked(m *forwarded, now int64) {
	t := op.target
	key, remember, duplicate := op.to.knownLocked(&m.in, now)
	if duplicate { // DUP-13
		op.removeLocked(m.e)
		return
	}
	if remember {
		op.to.rememberLocked(key, now)
	}
	scheduled := m.in.info.HasScheduled && int64(m.in.info.Scheduled) > now // SCHED-24
	if op.fanOut != nil && !scheduled {
		op.publishLocked(m, now)
		return
	}
	to := op.arrivalLocked(m, now)
	if scheduled {
		x := to.withExtra()
		to.state, x.due = Scheduled, int64(m.in.info.Scheduled)
		to.setExtra(x)
	}
	t.box(Main).expect(to)
	op.arriving = append(op.arriving, to)
	op.leaving.steps = append(op.leaving.steps, step{e: m.e, gone: true, keepBody: true, rest: true})
	op.to.change.Ops = append(op.to.change.Ops, t.drawing(Op{Kind: OpUpdate, Record: to.record(t.id)}))
}

// removeLocked adds that a message goes without arriving anywhere.
func (op *transfer) removeLocked(e *entry) {
	op.leaving.steps = append(op.leaving.steps, step{e: e, gone: true, rest: true})
	op.to.change.Ops = append(op.to.change.Ops, Op{
		Kind: OpDelete, DropBody: e.body.last(),
		Record: MessageRecord{Row: e.row, Entity: op.q.id, Sub: e.sub, Body: e.body.id},
	})
}

// firstSeq is the number of a message at its first submission (SEQ-16).
func (e *entry) firstSeq() int64 {
	if e.first != 0 {
		return e.first
	}
	return e.seq
}

// forwardedExtra is what a message takes along from entity to entity (FWD-7, FWD-9, DLQ-10).
func (op *transfer) forwardedExtra(e *entry) extra {
	x := extra{overlay: e.overlay(), system: e.system(), hops: max(e.hops(), e.hops()+1), source: e.source()} // 255 stays 255
	if e.sub == DeadLetter {
		x.source, x.reason = op.q.path, e.reason()
	}
	return x
}

// arrivalLocked makes the message's self in the target: a new number and a new enqueued time, the rest as it was
// (FWD-7, SEQ-16, TIME-5, DC-15, EXP-15).
func (op *transfer) arrivalLocked(m *forwarded, now int64) *entry {
	t, e := op.target, m.e
	to := &entry{
		seq: t.drawLocked(&op.to.drawn, t.partitionForLocked(&m.in)), first: e.firstSeq(), enqueued: now,
		ttl: t.effectiveTTLLocked(e.ttl), row: e.row, state: Active, body: newPayload(e.body.id, m.in.m.Raw),
	}
	if to.body.copies = e.body.copies; e.body.copies != nil {
		to.body.data = e.body.data // and not what was read for the move, which the other copies do not share
	}
	to.setExtra(op.forwardedExtra(e))
	if t.options.RequiresSession {
		to.session = t.sessionLocked(m.in.info.GroupID)
	}
	return to
}

// publishLocked adds that a message goes through a topic: the copies share the body that is stored already.
func (op *transfer) publishLocked(m *forwarded, now int64) {
	t, e := op.target, m.e
	x := op.forwardedExtra(e)
	o := &original{
		in: &m.in, overlay: x.overlay, system: x.system, hops: x.hops, reason: x.reason, source: x.source,
		seq: t.drawLocked(&op.to.drawn, t.partitionForLocked(&m.in)), first: e.firstSeq(), at: now,
		ttl: t.effectiveTTLLocked(e.ttl), body: e.body.id, stored: true, kept: e.body.data != nil, of: e.body.copies,
	}
	op.fanOut.sent++
	if op.fanOut.fanOutLocked(o) == 0 {
		op.removeLocked(e)
		return
	}
	op.leaving.steps = append(op.leaving.steps, step{e: e, gone: true, keepBody: true, rest: true})
	op.to.change.Ops = append(op.to.change.Ops, Op{
		Kind: OpDelete, Record: MessageRecord{Row: e.row, Entity: op.q.id, Sub: e.sub, Body: e.body.id},
	})
}

// Completed takes the messages out of the source, then shows them in the target.
func (op *transfer) Completed(err error) {
	op.q.mu.Lock()
	op.leaving.finishLocked(err)
	op.q.mu.Unlock()
	if op.fanOut != nil {
		op.fanOut.own = op.arriving
		op.fanOut.Completed(err)
	} else {
		op.target.mu.Lock()
		op.to.endLocked(err)
		op.target.landLocked(op.arriving, err)
		op.target.mu.Unlock()
	}
	op.result <- err
}
