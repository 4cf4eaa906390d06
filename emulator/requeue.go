package emulator

import (
	"time"

	"minibus/internal/amqp/message"
)

// Return gives back a delivery that has not reached its client whole, as [Consumer.Return] does; its consumer may be
// closed, and one that was received by its number needs none. A second call does nothing.
func (d *Delivery) Return() {
	d.q.mu.Lock()
	defer d.q.mu.Unlock()
	d.returnLocked(d.q.ns.Now())
}

// returnLocked undoes a delivery that did not reach the wire.
func (d *Delivery) returnLocked(now int64) {
	if d.e == nil {
		return // it was only looked at
	}
	if d.mode != PeekLock {
		d.q.requeues.returnLocked(d)
		return
	}
	if e := d.q.failedDeliveries.unlock(d); e != nil {
		d.q.messages.free(e, now)
	}
}

// requeues are the messages of an entity that were removed for a client and did not reach it.
type requeues struct {
	q *Entity

	// guarded by the entity's mutex
	underWay int           // removals for receive and delete, and returns of what they removed, that are being written
	written  chan struct{} // closed when underWay becomes zero; nil while no goroutine waits for that
	waiting  []*requeue    // to be stored again that could not be, or not before the entity's deletion fails
}

// returnLocked undoes a receive-and-delete whose message did not reach the wire (RAD-5).
func (r *requeues) returnLocked(d *Delivery) {
	if d.returned || r.q.deleted || d.progress.Load() >= deliveryLost {
		return
	}
	d.returned = true
	r.q.sessions.block(d.e)
	if d.removed {
		r.requeueLocked(d)
	}
}

// reopenLocked opens the sessions of messages that were given back while their removal, which has failed, was being
// prepared or written.
func (r *requeues) reopenLocked(ds []*Delivery) {
	for _, d := range ds {
		if d.returned {
			r.q.sessions.unblock(d.e)
		}
	}
}

// requeueLocked stores a message that was removed but not delivered, in its old place.
func (r *requeues) requeueLocked(d *Delivery) {
	if r.q.deleted {
		return
	}
	old := d.e
	row := r.q.ns.newRow()
	e := &entry{
		seq: old.seq, first: old.first, enqueued: old.enqueued, ttl: old.ttl, row: row,
		extra: old.extra, count: old.count,
		state: old.state, sub: old.sub, body: newPayload(d.bodyID, d.body),
	}
	m, err := message.Scan(d.body)
	if err != nil {
		return // every stored message was scanned before
	}
	if old.body.copies != nil {
		// Other copies may have the body still: this one gets one of its own, and keeps the message id of the old one.
		e.body.id, e.body.data = row, nil // the bytes in memory count for the other copies
		if !m.HasMessageID() {
			x := *e.extras()
			x.system = message.MergeProperties(messageIDOverlay(r.q.ns.ids.of(d.bodyID)), x.system)
			e.extra = x.kept()
		}
	}
	if old.session != nil {
		e.session = r.q.sessions.get(old.session.id)
	}
	r.q.subQueue(e.sub).addExpected(e)
	record := e.record(r.q.id)
	if info, err := m.Info(); err == nil {
		info.Overlay(e.extras().system)
		r.q.ns.ids.describe(&record, &info)
	}
	op := &requeue{q: r.q, e: e}
	op.change.Done, op.change.Requeues = op, true
	op.change.Ops = append(op.change.Single[:0], Op{Kind: OpInsert, Record: record, Data: d.body})
	op.tryLocked()
}

// messageIDOverlay is the system overlay that gives a message an id.
func messageIDOverlay(id string) []byte {
	var o message.Overlay
	o.Add(message.SystemMessageID, message.Scalar{Type: message.TypeString, Text: id}.Append(nil))
	return o.Bytes()
}

// requeue is a message that is being stored again.
type requeue struct {
	change Change
	q      *Entity
	e      *entry
}

// Completed makes the message available again. If it could not be stored it is stored again later:
// no client has it.
func (op *requeue) Completed(err error) {
	q := op.q
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.requeues.endedLocked()
	if err != nil {
		q.ns.logger.Error("an undelivered message could not be stored again; trying once more",
			"entity", q.path, "sequenceNumber", op.e.seq, "error", err)
		if q.requeues.waiting = append(q.requeues.waiting, op); len(q.requeues.waiting) == 1 {
			q.ns.clock.At(instant(q.alarm.later()), q.requeues.retry)
		}
		return
	}
	q.messages.evaluateSelectors(op.e)
	q.bodies.keep(op.e.body)
	q.bodies.count(op.e.body)
	q.messages.arrive(op.e)
	q.sessions.unblock(op.e)
	q.ns.common.record.add(q, q.ns.Now(),
		&happened{kind: EventReturned, sub: op.e.sub, seq: op.e.seq, first: op.e.first, body: op.e.body.id,
			count: op.e.count})
}

// retry is the next try for all messages that could not be stored again.
func (r *requeues) retry() {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	r.retryLocked()
}

func (r *requeues) retryLocked() {
	ops := r.waiting
	r.waiting = nil
	for _, op := range ops {
		op.tryLocked()
	}
}

// tryLocked hands the change to the journal, unless the queue is no more. While its deletion is being written nothing
// is appended for it; should that fail, it is time again.
func (op *requeue) tryLocked() {
	q := op.q
	switch {
	case q.deleted:
		q.subQueue(op.e.sub).removeExpected(op.e)
	case q.deleting:
		q.requeues.waiting = append(q.requeues.waiting, op)
	default:
		q.requeues.underWay++
		q.ns.journal.Append(&op.change)
	}
}

// endedLocked notes the end of a removal, or of a return, that was under way.
func (r *requeues) endedLocked() {
	if r.underWay--; r.underWay == 0 && r.written != nil {
		close(r.written)
		r.written = nil
	}
}

// await waits until no removal and no return is under way, and returns how many messages could not be stored again.
func (r *requeues) await() (stranded int) {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	for r.underWay > 0 {
		if r.written == nil {
			r.written = make(chan struct{})
		}
		written := r.written
		r.q.mu.Unlock()
		<-written
		r.q.mu.Lock()
	}
	return len(r.waiting)
}

// At the end of the process, what could not be stored again is tried so often, at intervals. It is real time: the
// broker's may stand still.
const (
	lastTries = 4
	lastPause = 500 * time.Millisecond
)

// awaitRequeues waits until what was removed, and did not reach its client, is stored again (RAD-5). Clients have
// been let go before, so their links have given it back.
func awaitRequeues(queues []*Entity) {
	for try := 1; ; try++ {
		lost := 0
		for _, q := range queues {
			q.requeues.retry()
		}
		for _, q := range queues {
			lost += q.requeues.await()
		}
		if lost == 0 {
			return
		}
		if try == lastTries {
			queues[0].ns.common.logger.Error(
				"undelivered messages are lost: they were removed, and the store takes them no more", "messages", lost)
			return
		}
		time.Sleep(lastPause)
	}
}
