package emulator

// receiveDelete is deliveries whose messages are being removed before they leave (RAD-1).
type receiveDelete struct {
	transition
	ds   []*Delivery
	then func(error) // instead of notifying the consumer; may be nil
}

// deliverDeletedLocked removes the messages of deliveries, whose entries are busy. Each delivery becomes ready once
// its removal is committed, so that a message is never delivered twice in this mode.
func (r *requeues) deliverDeletedLocked(ds []*Delivery, client *Client) {
	r.receiveDeleteLocked(ds, client, nil)
}

func (r *requeues) receiveDeleteLocked(ds []*Delivery, client *Client, then func(error)) {
	op := &receiveDelete{ds: ds, then: then}
	op.begin(r.q, len(ds), op)
	op.client = client
	r.underWay++
	var missing []*Delivery
	for _, d := range ds {
		if d.body = d.e.body.data; d.body == nil {
			missing = append(missing, d)
		}
	}
	if len(missing) == 0 {
		op.removeAllLocked()
		op.appendRemovalLocked()
		return
	}
	r.q.bodies.read(missing, op.bodiesRead)
}

func (op *receiveDelete) removeAllLocked() {
	for _, d := range op.ds {
		op.removeLocked(d.e, EventDeliveredDeleted, fallback{undo: undoUndelivered})
	}
}

// appendRemovalLocked appends the change.
func (op *receiveDelete) appendRemovalLocked() {
	op.q.ns.faults.failJournalLocked(op.q, &op.change, OperationReceive, op.ds[0].e.sub, op.client)
	op.q.ns.journal.Append(&op.change)
}

// bodiesRead goes on once bodies were read. A message whose body is damaged does not hold up the others, unless the
// caller wants all or none of them.
func (op *receiveDelete) bodiesRead(err error) {
	q, all := op.q, op.ds
	q.mu.Lock()
	if err == nil {
		err = q.may.use()
	}
	if err == nil {
		damaged := op.removeDamagedLocked()
		if len(damaged) > 0 && op.then != nil {
			err = deferredNotFound(q.path)
		}
		q.failedDeliveries.deadLetterDamaged(giveUp(damaged, deliveryLost))
		q.requeues.reopenLocked(damaged)
	}
	op.removeAllLocked()
	switch {
	case err != nil:
	case len(op.ds) > 0:
		op.appendRemovalLocked()
	default:
		q.requeues.endedLocked() // there is nothing to write
	}
	q.mu.Unlock()
	switch {
	case err != nil:
		op.Completed(err)
	case len(op.ds) == 0:
		all[0].notify()
	}
}

// removeDamagedLocked takes the deliveries that must not be made out of the removal.
func (op *receiveDelete) removeDamagedLocked() (damaged []*Delivery) {
	var good []*Delivery
	for _, d := range op.ds {
		if d.unfitLocked(true) {
			damaged = append(damaged, d)
		} else {
			good = append(good, d)
		}
	}
	op.ds = good
	return damaged
}

// giveUp marks deliveries as gone, or failed, and returns their entries.
func giveUp(ds []*Delivery, as uint32) []*entry {
	entries := make([]*entry, len(ds))
	for i, d := range ds {
		d.become(as, nil)
		entries[i] = d.e
	}
	return entries
}

// Completed lets the deliveries go, or puts their messages back.
func (op *receiveDelete) Completed(err error) {
	q := op.q
	q.mu.Lock()
	q.failedDeliveries.note(err != nil && len(op.ds) > 0)
	op.finishLocked(err)
	if err == nil {
		op.letGoLocked()
	} else {
		giveUp(op.ds, deliveryFailed)
		q.requeues.reopenLocked(op.ds)
	}
	if op.then == nil {
		q.requeues.endedLocked()
	}
	q.mu.Unlock()
	if err != nil {
		q.ns.logger.Error("messages could not be removed", "entity", q.path, "error", err)
	}
	switch {
	case op.then != nil:
		op.then(err)
		q.mu.Lock()
		q.requeues.endedLocked() // only now: it may have given the messages back
		q.mu.Unlock()
	default:
		op.ds[0].notify()
	}
}

func (op *receiveDelete) letGoLocked() {
	q := op.q
	for _, d := range op.ds {
		d.removed = true
		if d.returned {
			q.requeues.requeueLocked(d)
			continue
		}
		d.become(deliveryReady, d.body)
	}
}
