package emulator

import (
	"time"

	"minibus/internal/amqp/message"
)

// TakeBack gives back a delivery that has not reached its client whole, as [Consumer.Return] does; its consumer may be closed, and one
// that was received by its number needs none. A second call does nothing.
func (d *Delivery) TakeBack() {
	d.q.mu.Lock()
	defer d.q.mu.Unlock()
	d.giveBackLocked(d.q.ns.Now())
}

// giveBackLocked undoes a delivery that did not reach the wire.
func (d *Delivery) giveBackLocked(now int64) {
	if d.mode != PeekLock {
		d.q.returns.takeBackLocked(d)
		return
	}
	if e := d.q.undelivered.reclaim(d); e != nil {
		d.q.messages.rest(e, now)
	}
}

// returns are the messages of an entity that were removed for a client and did not reach it.
type returns struct {
	q *Entity

	// guarded by the entity's mutex
	underWay int           // removals for receive and delete, and returns of what they removed, that are being written
	written  chan struct{} // closed when underWay becomes zero; nil while no goroutine waits for that
	stranded []*restoring  // to be stored again that could not be, or not before the entity's deletion fails
}

// takeBackLocked undoes a receive-and-delete whose message did not reach the wire (RAD-5).
func (r *returns) takeBackLocked(d *Delivery) {
	if d.returned || r.q.gone || d.progress.Load() >= deliveryGone {
		return
	}
	d.returned = true
	r.q.sessions.shut(d.e)
	if d.removed {
		r.storeAgainLocked(d)
	}
}

// reopenLocked opens the sessions of messages that were given back while their removal, which has failed, was being prepared or
// written.
func (r *returns) reopenLocked(ds []*Delivery) {
	for _, d := range ds {
		if d.returned {
			r.q.sessions.open(d.e)
		}
	}
}

// storeAgainLocked stores a message that was removed but not delivered, in its old place.
func (r *returns) storeAgainLocked(d *Delivery) {
	if r.q.gone {
		return
	}
	old := d.e
	row := r.q.ns.newRow()
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
		e.body.id, e.body.data = row, nil // the bytes in memory count for the other copies
		if !m.HasMessageID() {
			x := e.withExtra()
			x.system = message.MergeProperties(messageIDOverlay(r.q.ns.ids.of(d.bodyID)), x.system)
			e.setExtra(x)
		}
	}
	if old.session != nil {
		e.session = r.q.sessions.get(old.session.id)
	}
	r.q.box(e.sub).addExpected(e)
	record := e.record(r.q.id)
	if info, err := m.Info(); err == nil {
		info.Overlay(e.system())
		r.q.ns.ids.describe(&record, &info)
	}
	op := &restoring{q: r.q, e: e}
	op.change.Done, op.change.Restores = op, true
	op.change.Ops = append(op.change.Single[:0], Op{Kind: OpInsert, Record: record, Data: d.body})
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
	q      *Entity
	e      *entry
}

// Completed makes the message available again. If it could not be stored it is stored again later:
// no client has it.
func (op *restoring) Completed(err error) {
	q := op.q
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.returns.endedLocked()
	if err != nil {
		q.ns.logger.Error("an undelivered message could not be stored again; trying once more",
			"entity", q.path, "sequenceNumber", op.e.seq, "error", err)
		if q.returns.stranded = append(q.returns.stranded, op); len(q.returns.stranded) == 1 {
			q.ns.clock.At(instant(q.alarm.later()), q.returns.storeStranded)
		}
		return
	}
	q.bodies.keep(op.e.body)
	q.bodies.count(op.e.body)
	q.messages.arrive(op.e)
	q.sessions.open(op.e)
	q.ns.common.record.add(q, q.ns.Now(), &happened{kind: EventReturned, sub: op.e.sub, seq: op.e.seq, first: op.e.first, body: op.e.body.id, count: op.e.count})
}

// storeStranded is the next try for all messages that could not be stored again.
func (r *returns) storeStranded() {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	r.storeStrandedLocked()
}

func (r *returns) storeStrandedLocked() {
	ops := r.stranded
	r.stranded = nil
	for _, op := range ops {
		op.tryLocked()
	}
}

// tryLocked hands the change to the journal, unless the queue is no more. While its deletion is being written nothing is
// appended for it; should that fail, it is time again.
func (op *restoring) tryLocked() {
	q := op.q
	switch {
	case q.gone:
		q.box(op.e.sub).removeExpected(op.e)
	case q.deleted:
		q.returns.stranded = append(q.returns.stranded, op)
	default:
		q.returns.underWay++
		q.ns.append(&op.change)
	}
}

// endedLocked notes the end of a removal, or of a return, that was under way.
func (r *returns) endedLocked() {
	if r.underWay--; r.underWay == 0 && r.written != nil {
		close(r.written)
		r.written = nil
	}
}

// await waits until no removal and no return is under way, and returns how many messages could not be stored again.
func (r *returns) await() (stranded int) {
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
	return len(r.stranded)
}

// At the end of the process, what could not be stored again is tried so often, at intervals. It is real time: the broker's
// may stand still.
const (
	lastTries = 4
	lastPause = 500 * time.Millisecond
)

// awaitReturns waits until what was removed, and did not reach its client, is stored again (RAD-5). Clients have been let go
// before, so their links have given it back.
func awaitReturns(queues []*Entity) {
	for try := 1; ; try++ {
		lost := 0
		for _, q := range queues {
			q.returns.storeStranded()
		}
		for _, q := range queues {
			lost += q.returns.await()
		}
		if lost == 0 {
			return
		}
		if try == lastTries {
			queues[0].ns.common.logger.Error("undelivered messages are lost: they were removed, and the store takes them no more", "messages", lost)
			return
		}
		time.Sleep(lastPause)
	}
}
