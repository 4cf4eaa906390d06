package emulator

// takeForwards reports why nothing may be forwarded to the entity, or nil. SendDisabled does not keep forwards out
// (FWD-11).
func (p *preconditions) takeForwards() error {
	if err := p.use(); err != nil {
		return err
	}
	if p.q.options.Status == StatusDisabled {
		return p.disabled(StatusDisabled)
	}
	return p.grow()
}

// transfer is messages that are being forwarded, in one change (FWD-3). It is made and appended under the mutex of
// the target alone, because the target may be a topic, whose subscriptions are locked after it, and the source one
// with a higher id than theirs. The entries belong to the forwarder meanwhile; the source sees them again when the
// change is done.
type transfer struct {
	leaving  entitySteps  // of the source
	to       *transition  // of the target
	fanOut   *publication // to is part of it; nil unless the target is a topic
	arriving Completion   // to or fanOut
	result   chan error   // of the commit
	left     []*entry     // of a job: what does not go
}

// newTransfer makes one for who, or for the forwarder if that is nil.
func newTransfer(q, target *Entity, client *Client) *transfer {
	told := By(client, noCompletion)
	op := &transfer{leaving: entitySteps{q: q, client: client}, result: make(chan error, 1)}
	if target.topic != nil {
		op.fanOut = target.topic.publicationLocked(false, told)
		op.to, op.arriving = &op.fanOut.transition, op.fanOut
	} else {
		op.to = newTransition(target, 1, told)
		op.arriving = op.to
	}
	op.to.change.Done = op
	return op
}

// start appends the change, whose outcome comes in result. An error says why the target takes nothing; then nothing was
// appended.
func (op *transfer) start(list []forwarded) error {
	t := op.to.q
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.may.takeForwards(); err != nil {
		return err
	}
	now := t.ns.Now()
	t.usage.touch(now)
	for i := range list {
		op.addLocked(&list[i], now)
	}
	if op.fanOut != nil {
		op.fanOut.endLocked()
	}
	t.ns.journal.Append(&op.to.change)
	return nil
}

// addLocked adds one message of the source.
func (op *transfer) addLocked(m *forwarded, now int64) {
	t := op.to.q
	key, remember, duplicate := op.to.knownLocked(&m.in, now)
	if duplicate { // DUP-13
		op.removeLocked(m.e, EventDuplicate)
		return
	}
	if remember {
		op.to.rememberLocked(key, now)
	}
	scheduled := m.in.waits(now) // SCHED-24
	if op.fanOut != nil && !scheduled {
		op.publishLocked(m, now)
		return
	}
	to := op.arrivalLocked(m, now)
	if scheduled {
		x := *to.extras()
		to.state, x.due = Scheduled, int64(m.in.info.Scheduled)
		to.extra = x.kept()
	}
	to.body.count(1)
	op.to.expectLocked(to)
	op.arrivedLocked()
	op.addLeavingLocked(m.e, effectHandOn, EventForwarded)
	op.to.change.Ops = append(op.to.change.Ops, t.counters.markDrawn(Op{Kind: OpUpdate, Record: to.record(t.id)}))
}

// arrivedLocked says of the step that was added last, which lets a message arrive in the target, where the message
// comes from.
func (op *transfer) arrivedLocked() {
	last := &op.to.steps[len(op.to.steps)-1]
	last.event, last.text = EventForwardedHere, op.leaving.q.path
}

// addLeavingLocked adds that a message leaves the source, whose mutex is not held: its entry stays marked as moving.
func (op *transfer) addLeavingLocked(e *entry, x effect, v EventKind) {
	op.leaving.steps = append(op.leaving.steps,
		step{e: e, effect: x, event: v, text: op.to.q.path, fallback: backTo(e)})
}

// removeLocked adds that a message goes without arriving anywhere.
func (op *transfer) removeLocked(e *entry, v EventKind) {
	op.addLeavingLocked(e, effectRemove, v)
	op.to.change.Ops = append(op.to.change.Ops, e.deletion(op.leaving.q.id))
}

// firstSeq is the number of a message at its first submission (SEQ-16).
func (e *entry) firstSeq() int64 {
	if e.first != 0 {
		return e.first
	}
	return e.seq
}

// forwardedExtra returns the fields that a message takes along from entity to entity (FWD-7, FWD-9, DLQ-10).
func (op *transfer) forwardedExtra(e *entry) extra {
	// 255 stays 255
	old := e.extras()
	x := extra{overlay: old.overlay, system: old.system, hops: max(old.hops, old.hops+1), source: old.source}
	if e.sub == DeadLetter {
		x.source, x.reason = op.leaving.q.path, e.extras().reason
	}
	return x
}

// arrivalLocked makes the message's self in the target: a new number and a new enqueued time, the rest as it was
// (FWD-7, SEQ-16, TIME-5, DC-15, EXP-15).
func (op *transfer) arrivalLocked(m *forwarded, now int64) *entry {
	t, e := op.to.q, m.e
	to := &entry{
		seq: t.counters.draw(&op.to.drawn, t.counters.choose(&m.in)), first: e.firstSeq(), enqueued: now,
		ttl: t.options.effectiveTTL(e.ttl), row: e.row, state: Active, body: newPayload(e.body.id, m.in.m.Raw),
	}
	if to.body.copies = e.body.copies; e.body.copies != nil {
		to.body.data = e.body.data // and not what was read for the move, which the other copies do not share
	}
	to.extra = op.forwardedExtra(e).kept()
	if t.options.RequiresSession {
		to.session = t.sessions.get(m.in.info.GroupID)
	}
	return to
}

// publishLocked adds that a message goes through a topic: the copies share the body that is stored already.
func (op *transfer) publishLocked(m *forwarded, now int64) {
	t, e := op.to.q, m.e
	x := op.forwardedExtra(e)
	o := &original{
		in: &m.in, overlay: x.overlay, system: x.system, hops: x.hops, reason: x.reason, source: x.source,
		seq: t.counters.draw(&op.to.drawn, t.counters.choose(&m.in)), first: e.firstSeq(), at: now,
		ttl: t.options.effectiveTTL(e.ttl), body: e.body.id, stored: true, kept: e.body.data != nil, of: e.body.copies,
	}
	op.fanOut.sent++
	copies := op.fanOut.fanOutLocked(o)
	if op.fanOut.passLocked(EventForwardedHere, o, copies); copies == 0 {
		op.removeLocked(e, EventForwarded)
		return
	}
	op.addLeavingLocked(e, effectHandOn, EventForwarded)
	op.to.change.Ops = append(op.to.change.Ops, e.rowDeletion(op.leaving.q.id))
}

// Completed takes the messages out of the source, then shows them in the target.
func (op *transfer) Completed(err error) {
	source := op.leaving.q
	source.mu.Lock()
	op.leaving.finishLocked(err)
	if err == nil && op.to.q == source { // it comes back from the entity's own dead-letter queue
		for i := range op.to.steps {
			source.bodies.count(op.to.steps[i].e.body)
		}
	}
	source.mu.Unlock()
	op.arriving.Completed(err)
	op.result <- err
}
