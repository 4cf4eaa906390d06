package emulator

// takeMoves reports why nothing may be moved to the entity by a job, or nil. What comes from its own dead-letter queue
// needs no room.
func (p *preconditions) takeMoves(own bool) error {
	if err := p.use(); err != nil {
		return err
	}
	if s := p.q.options.Status; s == StatusDisabled || s == StatusSendDisabled {
		return p.disabled(s)
	}
	if own {
		return nil
	}
	return p.grow()
}

// startMove is start for what a job moves. It returns how many messages go; the others are in op.left, and the job
// knows why.
func (op *transfer) startMove(list []forwarded, j *Job) (moving int, err error) {
	t := op.to.q
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.may.takeMoves(t == op.leaving.q); err != nil {
		return 0, err
	}
	now := t.ns.Now()
	t.usage.touch(now)
	for i := range list {
		if err := op.moveLocked(&list[i], now); err != nil {
			j.fail(list[i].e.seq, err)
			op.left = append(op.left, list[i].e)
		}
	}
	if op.fanOut != nil {
		op.fanOut.endLocked()
	}
	if len(op.to.change.Ops) > 0 {
		t.ns.journal.Append(&op.to.change)
	}
	return len(op.leaving.steps), nil
}

// moveLocked adds one message. An error says why the target does not take it.
func (op *transfer) moveLocked(m *forwarded, now int64) error {
	t := op.to.q
	key, remember, duplicate := t.duplicates.checkAndAdd(&m.in, now)
	if duplicate {
		return errorf(CodeNotAllowed, t.path,
			"The entity '%s' detects duplicates and has had a message with the id '%s' lately. "+
				"Give the message another id, or wait until the window is over.", t.path, m.in.info.MessageID)
	}
	scheduled := m.in.waits(now)
	if op.fanOut != nil && !scheduled {
		if !op.publishMovedLocked(m, now) {
			return errorf(CodeNotAllowed, t.path,
				"No rule of a subscription of the topic '%s' selects the message.", t.path)
		}
	} else {
		op.arriveMovedLocked(m, scheduled, now)
	}
	if remember {
		op.to.rememberLocked(key, now)
	}
	return nil
}

// arriveMovedLocked adds that a message comes into the target itself.
func (op *transfer) arriveMovedLocked(m *forwarded, scheduled bool, now int64) {
	t := op.to.q
	to := op.arrivalLocked(m, now)
	to.ttl = t.options.effectiveTTL(m.in.info.TTL)
	x := m.moved.extra
	if scheduled {
		to.state, x.due = Scheduled, int64(m.in.info.Scheduled)
	}
	to.extra = x.kept()
	if m.moved.fresh {
		to.row = t.ns.newRow()
		to.body = newPayload(to.row, m.in.m.Raw)
		op.to.insertLocked(to, &m.in, true)
		op.arrivedLocked()
		op.removeLocked(m.e, EventForwarded)
		return
	}
	to.body.count(1)
	op.to.expectLocked(to)
	op.arrivedLocked()
	op.addLeavingLocked(m.e, effectHandOn, EventForwarded)
	op.to.change.Ops = append(op.to.change.Ops, t.counters.markDrawn(Op{Kind: OpUpdate, Record: to.record(t.id)}))
}

// publishMovedLocked adds that a message goes through a topic. It reports whether a subscription gets a copy; if not,
// the message stays.
func (op *transfer) publishMovedLocked(m *forwarded, now int64) bool {
	t, e, x := op.to.q, m.e, &m.moved.extra
	o := &original{
		in: &m.in, overlay: x.overlay, system: x.system, reason: x.reason,
		seq: t.counters.draw(&op.to.drawn, t.counters.choose(&m.in)), first: e.firstSeq(), at: now,
		ttl: t.options.effectiveTTL(m.in.info.TTL), body: e.body.id, stored: true,
		kept: e.body.data != nil, of: e.body.copies,
	}
	if m.moved.fresh {
		o.body, o.stored, o.kept, o.of = t.ns.newRow(), false, false, nil
	}
	copies := op.fanOut.fanOutLocked(o)
	if copies == 0 {
		return false
	}
	op.fanOut.passLocked(EventForwardedHere, o, copies)
	op.fanOut.sent++
	if m.moved.fresh {
		op.removeLocked(e, EventForwarded)
		return true
	}
	op.addLeavingLocked(e, effectHandOn, EventForwarded)
	op.to.change.Ops = append(op.to.change.Ops, e.rowDeletion(op.leaving.q.id))
	return true
}
