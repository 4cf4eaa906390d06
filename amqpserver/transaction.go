package amqpserver

import (
	"bytes"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// transaction is a transaction that was declared on this connection and not discharged (TXN-4).
type transaction struct {
	id      string
	control *incomingLink         // the link that declared it; the transaction ends with that link (TXN-5)
	work    *emulator.Transaction // nil until the first operation
	root    string                // the entity that it is bound to, from the first operation on (TXN-8)
	cross   bool                  // its sends may go to other entities (TXN-9)
	bytes   int                   // in transactions.bytes
	settled []settlement          // of deliveries on this connection, in their order

	waiting []waitingSettlement // for its end
	timer   *time.Timer         // of them, on the real clock; nil: none waits
}

// transactions holds a connection's open transactions.
type transactions struct {
	c       *conn
	open    map[string]*transaction         // by id
	settles map[*emulator.Lock]*transaction // by the locks of the deliveries that they settle, until they have ended
	bytes   int                             // of messages that they hold
	last    uint64
}

func (ts *transactions) forget(t *transaction) {
	delete(ts.open, t.id)
	ts.bytes -= t.bytes
}

// rollBack rolls back the transactions of a control link that has ended (TXN-5).
func (ts *transactions) rollBack(control *incomingLink) {
	for _, t := range ts.open {
		if t.control != control {
			continue
		}
		ts.forget(t)
		if t.work != nil {
			t.work.Rollback()
		}
		ts.end(t, false)
	}
}

// join finds the transaction that an operation names [AMQP 4.4]. The first operation that succeeds binds it to the
// via entity of the control link's session, if any, or else to the operation's entity (TXN-8, TXN-9).
func (ts *transactions) join(id []byte, root string) (*transaction, error) {
	t := ts.open[string(id)]
	if t == nil {
		return nil, unknownTransaction(id)
	}
	cross := false
	if via := t.control.s.viaEntity; via != "" {
		root, cross = via, true
	}
	if t.work == nil {
		t.work = ts.c.ns.Begin(true, root)
		t.root, t.cross = root, cross
	} else if t.work.Rebind(true, root) {
		t.root, t.cross = root, cross
	}
	return t, nil
}

func unknownTransaction(id []byte) error {
	return linkErrorf(amqp.CondUnknownTransaction,
		"The transaction %.64q is not known on this connection, or was discharged.", string(id))
}

// reserve counts a message against the bytes that the connection's transactions may hold.
func (ts *transactions) reserve(t *transaction, size int) error {
	if ts.bytes > 0 && ts.bytes+size > maxTransactionBytes {
		return linkErrorf(amqp.CondResourceLimit,
			"The open transactions of the connection hold %d bytes of messages.", ts.bytes)
	}
	t.bytes += size
	ts.bytes += size
	return nil
}

// sendIn sends a delivery in a transaction; its messages stay invisible before the commit (TXN-2).
func (in *incomingLink) sendIn(d *delivered, id []byte) {
	c := in.s.c
	op := c.pendingSends.get()
	defer c.pendingSends.put(op)
	op.in = in
	messages, err := op.parse(d)
	var t *transaction
	if err == nil {
		t, err = c.transactions.join(id, in.root())
	}
	if err == nil {
		err = in.checkEntity(t)
	}
	if err == nil && len(messages) > 0 {
		if err = c.transactions.reserve(t, len(d.raw)); err == nil {
			t.work.Introduce(in.client())
			if err = t.work.Send(in.queue, messages); err != nil {
				t.bytes -= len(d.raw)
				c.transactions.bytes -= len(d.raw)
			}
		}
	}
	if err != nil {
		in.refuse("send", d, err)
		return
	}
	if !d.settled {
		in.s.received.answerAs(d.id, inTransaction(id, outcomeAccepted))
	}
}

// checkEntity fails if the transaction is bound to another entity than the link. Other entities can be reached by a
// link that names the bound one as its via entity, or from the session of the control link (TXN-8, TXN-9).
func (in *incomingLink) checkEntity(t *transaction) error {
	if root := in.root(); root == t.root || root == "" || t.cross && in.viaEntity == nil {
		return nil
	}
	text := "The transaction is bound to the entity '" + t.root +
		"': all its operations must be on the same entity, or go through it."
	return amqpError{condition: amqp.CondNotAllowed, text: text, entity: in.entity(), ends: endsLink}
}

// settlement is a delivery that a transaction will settle.
type settlement struct {
	ds   *deliveries
	id   serial
	u    unsettled
	echo outcome
}

// waitingSettlement is a settlement of a delivery that a transaction has.
type waitingSettlement struct {
	ds *deliveries
	id serial
	v  verdict
}

// rollbackTime is how long a settlement waits for the end of the transaction that has its delivery. One client does not
// wait for the answer to a rollback: what it does next may overtake that.
const rollbackTime = 2 * time.Second

// awaitEnd lets a settlement of a delivery that the transaction has wait for its end.
func (t *transaction) awaitEnd(ds *deliveries, id serial, v *verdict) {
	c := ds.s.c
	waiting := *v
	waiting.transaction = bytes.Clone(v.transaction)
	t.waiting = append(t.waiting, waitingSettlement{ds, id, waiting})
	if t.timer == nil {
		t.timer = time.AfterFunc(rollbackTime, func() { c.post(t.refuseWaiting) })
	}
}

// refuseWaiting refuses the settlements that wait for the end of the transaction.
func (t *transaction) refuseWaiting() {
	waiting := t.waiting
	t.waiting, t.timer = nil, nil
	for i := range waiting {
		w := &waiting[i]
		u, ok := w.ds.unsettled[w.id]
		switch {
		case !ok:
		case w.v.quiet && w.v.transaction == nil:
			delete(w.ds.unsettled, w.id)
		default:
			w.ds.refuseIn(w.id, u, &w.v, lockLost(u.link.entity()))
		}
	}
}

// settleIn settles a delivery in a transaction: its message stays locked, and the delivery unsettled, until the
// discharge (TXN-6, TXN-17, TXN-24), and after it if that is refused (TXN-15).
func (ds *deliveries) settleIn(id serial, u unsettled, v *verdict) {
	ts := &ds.s.c.transactions
	if v.quiet {
		delete(ds.unsettled, id)
		if ts.settles[u.lock] != nil {
			return // the client has had the answer, and is done with the delivery
		}
	}
	_, over := ds.hitSettlement(id, u, v)
	if over {
		return
	}
	err := v.refused
	if err == nil {
		err = ds.enlist(id, u, v)
	}
	switch {
	case err != nil:
		ds.refuseIn(id, u, v, err)
	case !v.quiet:
		ds.s.settled.answerOpen(id, inTransaction(v.transaction, v.echo))
	}
}

// enlist adds a settlement to a transaction.
func (ds *deliveries) enlist(id serial, u unsettled, v *verdict) error {
	ts := &ds.s.c.transactions
	t, err := ts.join(v.transaction, rootOf(u.link.queue))
	if err != nil {
		return err
	}
	t.work.Introduce(u.link.client())
	outcome := v.settlement
	outcome.Forgotten = v.quiet // nobody can settle it again (JMS-5)
	if err := u.link.consumer.SettleIn(t.work, u.lock, outcome); err != nil {
		return u.link.lockError(err)
	}
	if ts.settles == nil {
		ts.settles = make(map[*emulator.Lock]*transaction)
	}
	ts.settles[u.lock] = t
	t.settled = append(t.settled, settlement{ds, id, u, v.echo})
	return nil
}

// refuseIn answers a settlement that its transaction does not take. The delivery stays unsettled while its lock holds.
// A client that has settled it loses the lock (JMS-5), and its link, or it would commit the rest of the transaction
// without knowing.
func (ds *deliveries) refuseIn(id serial, u unsettled, v *verdict, err error) {
	if v.quiet {
		u.link.consumer.GiveUp(u.lock)
	}
	if u.link.state == linkDetaching {
		return
	}
	ds.s.c.log.refusedErr("settle", u.link.entity(), err)
	failure := finalError(u.link.amqpError(err))
	lost := failure.condition == amqp.CondMessageLockLost || failure.condition == amqp.CondSessionLockLost
	switch {
	case v.quiet:
		u.link.endWith(failure)
	case lost && ds.s.c.transactions.settles[u.lock] == nil:
		delete(ds.unsettled, id)
		ds.s.settled.reject(id, id, failure)
	default:
		ds.s.settled.rejectOpen(id, failure)
	}
}

// end ends the settlements of a transaction. If they are committed their deliveries are settled. Else those are as they
// were, and are settled as clients have asked meanwhile.
func (ts *transactions) end(t *transaction, committed bool) {
	for i := range t.settled {
		s := &t.settled[i]
		delete(ts.settles, s.u.lock)
		if !committed || s.ds.unsettled[s.id].lock != s.u.lock {
			continue
		}
		wasFull := s.ds.left() <= 0
		delete(s.ds.unsettled, s.id)
		if s.u.link.state != linkDetaching {
			s.ds.s.settled.answerAs(s.id, inTransaction([]byte(t.id), s.echo))
		}
		s.ds.resume(wasFull)
	}
	waiting := t.waiting
	t.settled, t.waiting = nil, nil
	if t.timer != nil {
		t.timer.Stop()
	}
	for i := range waiting {
		w := &waiting[i]
		wasFull := w.ds.left() <= 0
		w.ds.settleSingle(w.id, &w.v)
		w.ds.resume(wasFull)
	}
}

// transactionFor returns the transaction of a request to an entity's management node. For an unknown transaction it
// returns one that has ended, so that the reply has the error: clients do not read the outcome of a request's delivery.
func (in *incomingLink) transactionFor(d *delivered) *emulator.Transaction {
	id := d.transaction()
	if id == nil {
		return nil
	}
	c := in.s.c
	t, err := c.transactions.join(id, in.root())
	if err == nil {
		err = c.transactions.reserve(t, len(d.raw))
	}
	if err != nil {
		c.log.refusedErr("request", in.entity(), err)
		ended := c.ns.Begin(false, "")
		ended.Rollback()
		return ended
	}
	return t.work
}

// inTransaction returns the state of a delivery whose outcome waits for a commit [AMQP 4.5.6].
func inTransaction(id []byte, what outcome) frames.DeliveryState {
	return &frames.TransactionalState{TxnID: id, Outcome: outcomeStates[what]}
}

// commitError gives a failed commit the condition that clients know; the text keeps the reason.
func commitError(err error) amqpError {
	failure := amqpErrorOf(err)
	if failure.condition != amqp.CondUnknownTransaction && failure.condition != amqp.CondTransactionTimeout {
		failure.condition = amqp.CondTransactionRollback
	}
	return failure
}
