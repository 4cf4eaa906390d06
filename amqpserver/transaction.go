package amqpserver

import (
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqp/message"
)

// join finds the transaction that an operation names [AMQP 4.4]. The first operation that succeeds binds it to the
// via entity of the control link's session, if any, or else to the operation's entity (TXN-8, TXN-9).
func (ts *transactions) join(id []byte, root string) (*transaction, error) {
	t := ts.open[string(id)]
	if t == nil {
		return nil, unknownTransaction(id)
	}
	cross := false
	if via := t.control.s.via; via != "" {
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
	return linkErrorf(amqp.CondUnknownTransaction, "The transaction %.64q is not known on this connection, or was discharged.", string(id))
}

// hold counts a message against the bytes that the connection's transactions may hold.
func (ts *transactions) hold(t *transaction, size int) error {
	if ts.bytes > 0 && ts.bytes+size > maxTransactionBytes {
		return linkErrorf(amqp.CondResourceLimit, "The open transactions of the connection hold %d bytes of messages.", ts.bytes)
	}
	t.bytes += size
	ts.bytes += size
	return nil
}

// send adds messages to a transaction that holds them until it is discharged.
func (ts *transactions) send(t *transaction, q *emulator.Entity, messages []message.Message, size int, who *emulator.Who) error {
	if err := ts.hold(t, size); err != nil {
		return err
	}
	t.work.Introduce(who)
	err := t.work.Send(q, messages)
	if err != nil {
		t.bytes -= size
		ts.bytes -= size
	}
	return err
}

// sendIn sends a delivery in a transaction; its messages stay invisible before the commit (TXN-2).
func (in *incoming) sendIn(d *delivered, id []byte) {
	c := in.s.c
	op := c.sendings.get()
	defer c.sendings.put(op)
	op.in = in
	messages, err := op.parse(d)
	var t *transaction
	if err == nil {
		t, err = c.transactions.join(id, in.root())
	}
	if err == nil {
		err = in.mayWorkIn(t)
	}
	if err == nil && len(messages) > 0 {
		err = c.transactions.send(t, in.queue, messages, len(d.raw), in.client())
	}
	if err != nil {
		in.refuse("send", d, err)
		return
	}
	if !d.settled {
		in.s.received.answerAs(d.id, inTransaction(id, outcomeAccepted))
	}
}

// mayWorkIn fails if the transaction is bound to another entity than the link. Other entities can be reached by a link that
// names the bound one as its via entity, or from the session of the control link (TXN-8, TXN-9).
func (in *incoming) mayWorkIn(t *transaction) error {
	if in.root() == t.root || t.cross && in.via == nil {
		return nil
	}
	return fault{condition: amqp.CondNotAllowed, text: "The transaction is bound to the entity '" + t.root +
		"': all its operations must be on the same entity, or go through it.", entity: in.entity(), ends: endsLink}
}

// settleIn settles a delivery in a transaction: its message stays locked until the discharge (TXN-6, TXN-17).
func (ds *deliveries) settleIn(id serial, u unsettled, v *verdict) error {
	t, err := ds.s.c.transactions.join(v.transaction, rootOf(u.link.queue.Path()))
	if err != nil {
		return err
	}
	token := [1]emulator.LockToken{u.lock.Token()}
	t.work.Introduce(u.link.client())
	if err := t.work.Settle(u.link.queue, token[:], v.settlement); err != nil {
		return u.link.lockError(err)
	}
	if !v.quiet {
		ds.s.settled.answerAs(id, inTransaction(v.transaction, v.echo))
	}
	return nil
}

// workFor returns the transaction of a request to an entity's management node. For an unknown transaction it returns one
// that has ended, so that the reply has the error: clients do not read the outcome of a request's delivery.
func (in *incoming) workFor(d *delivered) *emulator.Transaction {
	id := transactionOf(d)
	if id == nil {
		return nil
	}
	c := in.s.c
	t, err := c.transactions.join(id, in.root())
	if err == nil {
		err = c.transactions.hold(t, len(d.raw))
	}
	if err != nil {
		c.log.refusedErr("request", in.entity(), err)
		ended := c.ns.Begin(false, "")
		ended.Rollback()
		return ended
	}
	return t.work
}

// transactionOf returns the id of the transaction that a delivery is part of, or nil.
func transactionOf(d *delivered) []byte {
	if state, ok := d.state.(*frames.TransactionalState); ok {
		return state.TxnID
	}
	return nil
}

// inTransaction returns the state of a delivery whose outcome waits for a commit [AMQP 4.5.6].
func inTransaction(id []byte, what outcome) frames.DeliveryState {
	return &frames.TransactionalState{TxnID: id, Outcome: outcomeStates[what]}
}

// commitFault gives a failed commit the condition that clients know; the text keeps the reason.
func commitFault(err error) fault {
	f := faultOf(err)
	if f.condition != amqp.CondUnknownTransaction && f.condition != amqp.CondTransactionTimeout {
		f.condition = amqp.CondTransactionRollback
	}
	return f
}
