package emulator

// ReceiveDeferred receives deferred messages by their numbers, all or none, in the order asked for (DEF-3 to DEF-5).
// done is called once with ready deliveries, possibly before ReceiveDeferred returns and on any goroutine, or with
// an error. A synchronous error means that done will not be called: CodeMessageNotFound if one of the messages is
// unknown, not deferred, locked or named twice; one that has expired is treated as expired by the attempt (EXP-11).
//
// On an entity with sessions, holder is the consumer that holds the messages' session (DEF-9): without one the error is
// CodeNotAllowed (DEF-14), with one that has lost it CodeSessionLockLost, and messages of other sessions are unknown
// (DEF-13). Elsewhere it is nil.
func (q *Entity) ReceiveDeferred(sub SubQueue, seqs []int64, mode ReceiveMode, holder *Consumer, done func([]*Delivery, error)) error {
	q.mu.Lock()
	if err := q.may.takeFrom(sub, holder, "Deferred messages", "received"); err != nil {
		q.mu.Unlock()
		return err
	}
	now := q.ns.Now()
	entries, err := q.findDeferredLocked(sub, seqs, holder, now)
	if err != nil || len(entries) == 0 {
		q.mu.Unlock()
		if err == nil {
			done(nil, nil)
		}
		return err
	}
	q.usage.touch(now)
	ds := make([]*Delivery, len(entries))
	for i, e := range entries {
		if mode == PeekLock {
			q.locks.lockForDelivery(e, now)
		} else {
			e.mark = markBusy
		}
		ds[i] = newDelivery(q, e, nil)
		ds[i].withState = true
	}
	if mode == ReceiveAndDelete {
		q.returns.receiveDeleteLocked(ds, func(err error) { finishDeferred(ds, err, done) })
		q.mu.Unlock()
		return nil
	}
	missing := make([]*Delivery, 0, len(ds))
	for _, d := range ds {
		if data := d.e.body.data; data != nil {
			d.become(deliveryReady, data)
		} else {
			missing = append(missing, d)
		}
	}
	if len(missing) > 0 {
		q.bodies.read(missing, func(err error) { q.finishDeferredRead(ds, missing, err, done) })
		q.mu.Unlock()
		return nil
	}
	q.mu.Unlock()
	done(ds, nil)
	return nil
}

// finishDeferredRead ends a receive whose bodies had to be read. If one of them can't be had none of the messages is
// received: their locks are given back.
func (q *Entity) finishDeferredRead(ds, missing []*Delivery, err error, done func([]*Delivery, error)) {
	q.mu.Lock()
	var damaged []*entry
	readErr := err
	for _, d := range missing {
		unfit := d.unfitLocked(readErr == nil && q.locks.byToken[d.lock.token] != nil)
		if readErr == nil && (unfit || d.body == nil) {
			err = deferredNotFound(q.path) // it was settled by its token, or removed, meanwhile, or is about to be
		}
		if unfit {
			if e := q.faults.reclaim(d); e != nil {
				damaged = append(damaged, e)
			}
		}
		d.become(deliveryReady, d.body)
	}
	q.faults.deadLetterDamaged(damaged)
	if err != nil {
		now := q.ns.Now()
		for _, d := range ds {
			if e := q.faults.reclaim(d); e != nil {
				q.restLocked(e, now)
			}
		}
	}
	q.mu.Unlock()
	finishDeferred(ds, err, done)
}

func finishDeferred(ds []*Delivery, err error, done func([]*Delivery, error)) {
	if err != nil {
		done(nil, err)
		return
	}
	done(ds, nil)
}

// findDeferredLocked returns the deferred, unlocked messages with the given numbers.
func (q *Entity) findDeferredLocked(sub SubQueue, seqs []int64, holder *Consumer, now int64) ([]*entry, error) {
	var entries, expired []*entry
	bad := false
	seen := make(map[int64]bool, len(seqs))
	for _, s := range seqs {
		e := q.box(sub).findLoose(s)
		if e == nil || e.state != Deferred || e.mark != markFree || seen[s] || e.session != nil && e.session != holder.session {
			bad = true
			continue
		}
		seen[s] = true
		if e.expired(now) {
			expired = append(expired, e)
			continue
		}
		entries = append(entries, e)
	}
	if len(expired) > 0 {
		op := newTransition(q, len(expired), nil)
		for _, e := range expired {
			op.expireLocked(e, e.count, nil, fallback{undo: undoRest})
		}
		op.appendLocked()
	}
	if bad || len(expired) > 0 {
		return nil, deferredNotFound(q.path)
	}
	return entries, nil
}
