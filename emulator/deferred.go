package emulator

// ReceiveDeferred receives deferred messages by their numbers, all or none, in the order asked for (DEF-3 to DEF-5).
// done is called once with ready deliveries, possibly before ReceiveDeferred returns and on any goroutine, or with
// an error. A synchronous error means that done will not be called: CodeMessageNotFound if one of the messages is
// unknown, not deferred, locked or named twice; one that has expired is treated as expired by the attempt (EXP-11).
//
// On an entity with sessions, holder is the consumer that holds the messages' session (DEF-9): without one the error is
// CodeNotAllowed (DEF-14), with one that has lost it CodeSessionLockLost, and messages of other sessions are unknown
// (DEF-13). Elsewhere it is nil. who receives.
func (q *Entity) ReceiveDeferred(sub SubQueue, seqs []int64, mode ReceiveMode, holder *Consumer, client *Client,
	done func([]*Delivery, error)) error {
	r := &deferredReceive{q: q, sub: sub, holder: holder, client: client, done: done}
	q.mu.Lock()
	ready, err := r.takeLocked(seqs, mode)
	q.mu.Unlock()
	if ready {
		done(r.ds, nil)
	}
	return err
}

// SizeOf returns the bytes of the messages of a sub-queue with those numbers, of those that are there.
func (q *Entity) SizeOf(sub SubQueue, seqs []int64) (bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.may.browse(sub) != nil {
		return 0
	}
	for _, seq := range seqs {
		if e := q.subQueue(sub).findLoose(seq); e != nil {
			bytes += int(e.body.size)
		}
	}
	return bytes
}

// deferredReceive is a receive of messages by their numbers.
type deferredReceive struct {
	q      *Entity
	sub    SubQueue
	holder *Consumer
	client *Client
	ds     []*Delivery
	done   func([]*Delivery, error)
}

// takeLocked takes the messages and reports whether they are ready; if not, the receive goes on later.
func (r *deferredReceive) takeLocked(seqs []int64, mode ReceiveMode) (ready bool, err error) {
	q := r.q
	if err := q.may.takeFrom(r.sub, r.holder, "Deferred messages", "received"); err != nil {
		return false, err
	}
	now := q.ns.Now()
	entries, err := r.findLocked(seqs, now)
	if err != nil || len(entries) == 0 {
		return err == nil, err
	}
	q.usage.touch(now)
	r.ds = make([]*Delivery, len(entries))
	for i, e := range entries {
		if mode == PeekLock {
			q.locks.lockForDelivery(e, now)
			if record := q.ns.common.record; record != nil {
				record.delivered(q, e, r.client, now)
			}
		} else {
			e.mark = markBusy
		}
		r.ds[i] = newDelivery(q, e, nil)
		r.ds[i].withState = true
	}
	if mode == ReceiveAndDelete {
		q.requeues.receiveDeleteLocked(r.ds, r.client, r.finish)
		return false, nil
	}
	missing := takeBodies(r.ds)
	if len(missing) > 0 {
		q.bodies.read(missing, func(err error) { r.bodiesRead(missing, err) })
	}
	return len(missing) == 0, nil
}

// bodiesRead ends a receive whose bodies had to be read. If one of them can't be had none of the messages is
// received: their locks are given back.
func (r *deferredReceive) bodiesRead(missing []*Delivery, err error) {
	q := r.q
	q.mu.Lock()
	var damaged []*entry
	readErr := err
	for _, d := range missing {
		unfit := d.unfitLocked(readErr == nil && q.locks.byToken[d.lock.token] != nil)
		if readErr == nil && (unfit || d.body == nil) {
			err = deferredNotFound(q.path) // it was settled by its token, or removed, meanwhile, or is about to be
		}
		if unfit {
			if e := q.failedDeliveries.unlock(d); e != nil {
				damaged = append(damaged, e)
			}
		}
		d.become(deliveryReady, d.body)
	}
	q.failedDeliveries.deadLetterDamaged(damaged)
	if err != nil {
		now := q.ns.Now()
		for _, d := range r.ds {
			if e := q.failedDeliveries.unlock(d); e != nil {
				q.messages.free(e, now)
			}
		}
	}
	q.mu.Unlock()
	r.finish(err)
}

func (r *deferredReceive) finish(err error) {
	if err != nil {
		r.ds = nil
	}
	r.done(r.ds, err)
}

// findLocked returns the deferred, unlocked messages with the given numbers.
func (r *deferredReceive) findLocked(seqs []int64, now int64) ([]*entry, error) {
	q := r.q
	var entries, expired []*entry
	bad := false
	seen := make(map[int64]bool, len(seqs))
	for _, s := range seqs {
		e := q.subQueue(r.sub).findLoose(s)
		if e == nil || e.state != Deferred || e.mark != markFree || seen[s] ||
			e.session != nil && e.session != r.holder.session {
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
			op.expireLocked(e, e.count, nil, fallback{undo: undoFree})
		}
		op.appendLocked()
	}
	if bad || len(expired) > 0 {
		return nil, deferredNotFound(q.path)
	}
	return entries, nil
}

// takeFrom says why messages may not be taken out of a sub-queue other than in their order. Those in sessions may by
// the consumer that holds their session (DEF-9, BDEL-4).
func (p *preconditions) takeFrom(sub SubQueue, holder *Consumer, what, taken string) error {
	if err := p.settle(); err != nil {
		return err
	}
	if err := p.browse(sub); err != nil {
		return err
	}
	switch {
	case !p.q.options.RequiresSession || sub != Main:
		return nil
	case holder == nil:
		return errorf(CodeNotAllowed, p.q.path,
			"%s of the entity '%s', which requires sessions, can be %s by the receiver of their session only.",
			what, p.q.path, taken)
	}
	return holder.holdsLocked()
}
