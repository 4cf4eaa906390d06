package emulator

import "minibus/internal/amqp/message"

// deletion is deliveries whose messages are being removed before they leave (RAD-1).
type deletion struct {
	change Change
	q      *Queue
	ds     []*Delivery
	then   func(error) // instead of notifying the consumer; may be nil
}

// deliverDeletedLocked removes the messages of deliveries, whose entries are busy. Each delivery becomes ready once
// its removal is committed, so that a message is never delivered twice in this mode.
func (q *Queue) deliverDeletedLocked(ds []*Delivery) { q.deleteLocked(ds, nil) }

func (q *Queue) deleteLocked(ds []*Delivery, then func(error)) {
	op := &deletion{q: q, ds: ds, then: then}
	op.change.Done = op
	var missing []*Delivery
	for _, d := range ds {
		if d.body = d.e.body.data; d.body == nil {
			missing = append(missing, d)
		}
	}
	if len(missing) == 0 {
		op.appendLocked()
		return
	}
	q.readLocked(missing, op.bodiesRead)
}

// bodiesRead goes on once bodies were read. A message whose body is gone does not hold up the others, unless the
// caller wants all or none of them.
func (op *deletion) bodiesRead(err error) {
	q := op.q
	q.mu.Lock()
	var there, gone []*Delivery
	for _, d := range op.ds {
		if d.body != nil {
			there = append(there, d)
		} else {
			gone = append(gone, d)
		}
	}
	if err == nil && len(gone) > 0 && (op.then != nil || len(there) == 0) {
		err = errorf(CodeInternal, q.path, "The body of message %d is missing.", gone[0].seq)
	}
	if err == nil {
		err = q.usableLocked()
	}
	if err == nil {
		if len(gone) > 0 {
			q.restAfterFaultLocked(giveUp(gone))
		}
		op.ds = there
		op.appendLocked()
	}
	q.mu.Unlock()
	if err != nil {
		op.Completed(err)
	}
}

func (op *deletion) appendLocked() {
	op.change.Ops = op.change.Single[:0]
	for _, d := range op.ds {
		e := d.e
		op.change.Ops = append(op.change.Ops, Op{
			Kind: OpDelete, DropBody: e.body.last(),
			Record: MessageRecord{Row: e.row, Entity: op.q.id, Sub: e.sub, Body: e.body.id},
		})
	}
	op.q.ns.append(&op.change)
}

// giveUp marks deliveries as gone and returns their entries.
func giveUp(ds []*Delivery) []*entry {
	entries := make([]*entry, len(ds))
	for i, d := range ds {
		d.become(deliveryGone, nil)
		entries[i] = d.e
	}
	return entries
}

// Completed lets the deliveries go, or puts their messages back.
func (op *deletion) Completed(err error) {
	q := op.q
	q.mu.Lock()
	if err == nil {
		op.letGoLocked()
		q.restAfterFaultLocked(nil)
	} else {
		q.restAfterFaultLocked(giveUp(op.ds))
	}
	q.mu.Unlock()
	if err != nil {
		q.ns.logger.Error("messages could not be removed", "entity", q.path, "error", err)
	}
	switch {
	case op.then != nil:
		op.then(err)
	default:
		op.ds[0].notify()
	}
}

func (op *deletion) letGoLocked() {
	q := op.q
	for _, d := range op.ds {
		d.removed = true
		q.dismissLocked(d.e)
		q.countLocked(eventCompleted)
		if d.returned {
			q.storeAgainLocked(d)
			continue
		}
		d.become(deliveryReady, d.body)
	}
}

// takeBackLocked undoes a receive-and-delete whose message did not reach the wire (RAD-5).
func (q *Queue) takeBackLocked(d *Delivery) {
	if d.returned || d.progress.Load() == deliveryGone {
		return
	}
	d.returned = true
	if d.removed {
		q.storeAgainLocked(d)
	}
}

// storeAgainLocked stores a message that was removed but not delivered, in its old place.
func (q *Queue) storeAgainLocked(d *Delivery) {
	if q.gone {
		return
	}
	old := d.e
	row := q.ns.newRow()
	e := &entry{
		seq: old.seq, first: old.first, enqueued: old.enqueued, ttl: old.ttl, row: row, extra: old.extra, count: old.count,
		state: old.state, sub: old.sub, body: newPayload(d.bodyID, d.body),
	}
	m, err := message.Scan(d.body)
	if err != nil {
		return // every stored message was scanned before
	}
	if old.body.copies != nil {
		// Other copies may have the body still: this one gets one of its own, and keeps the message id of the old one.
		e.body.id = row
		if !m.HasMessageID() {
			x := e.withExtra()
			x.system = message.MergeProperties(messageIDOverlay(q.ns.madeID(d.bodyID)), x.system)
			e.setExtra(x)
		}
	}
	if old.session != nil {
		e.session = q.sessionLocked(old.session.id) // it may have been forgotten meanwhile
	}
	q.box(e.sub).expect(e)
	r := e.record(q.id)
	if info, err := m.Info(); err == nil {
		info.Overlay(e.system())
		q.describe(&r, &info)
	}
	op := &restoring{q: q, e: e}
	op.change.Done, op.change.Restores = op, true
	op.change.Ops = append(op.change.Single[:0], Op{Kind: OpInsert, Record: r, Data: d.body})
	op.tryLocked()
}

// messageIDOverlay is the system overlay that gives a message an id.
func messageIDOverlay(id string) []byte {
	var o message.Overlay
	o.Add(message.SystemMessageID, message.Scalar{Type: message.TypeString, Text: id}.Append(nil))
	return o.Bytes()
}

// restoring is a message that is being stored again.
type restoring struct {
	change Change
	q      *Queue
	e      *entry
}

// Completed makes the message available again. Nobody else has it: if it could not be stored that is tried again.
func (op *restoring) Completed(err error) {
	q := op.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		q.ns.logger.Error("an undelivered message could not be stored again; trying once more",
			"entity", q.path, "sequenceNumber", op.e.seq, "error", err)
		q.ns.clock.At(instant(q.laterLocked()), op.again)
		return
	}
	q.settleBodyLocked(op.e.body)
	q.joinLocked(op.e.body)
	q.arriveLocked(op.e)
}

// again is the next try.
func (op *restoring) again() {
	op.q.mu.Lock()
	defer op.q.mu.Unlock()
	op.tryLocked()
}

// tryLocked hands the change to the journal, unless the queue is no more. While its deletion is being written nothing is
// appended for it; should that fail, it is time again.
func (op *restoring) tryLocked() {
	q := op.q
	switch {
	case q.gone, q.stopped:
		q.box(op.e.sub).forget(op.e)
	case q.deleted:
		q.stranded = append(q.stranded, op)
	default:
		q.ns.append(&op.change)
	}
}
