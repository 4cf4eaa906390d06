package amqpserver

import (
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqp/message"
)

// join finds the transaction that an operation names [AMQP 4.4]. The first operation that succeeds binds it to the
// via entity of the control link's session, if any, or else to the operation's entity (TXN-8, TXN-9).
func (c *conn) join(id []byte, root string) (*transaction, error) {
	t := c.transactions[string(id)]
	if t == nil {
		return nil, unknownTransaction(id)
	}
	cross := false
	if via := t.control.s.via; via != "" {
		root, cross = via, true
	}
	if t.work == nil {
		t.work = c.srv.ns.Begin(true, root)
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
func (c *conn) hold(t *transaction, size int) error {
	if c.transactionBytes > 0 && c.transactionBytes+size > maxTransactionBytes {
		return linkErrorf(amqp.CondResourceLimit, "The open transactions of the connection hold %d bytes of messages.", c.transactionBytes)
	}
	t.bytes += size
	c.transactionBytes += size
	return nil
}

// sendHeld adds messages to a transaction that holds them until it is discharged.
func (c *conn) sendHeld(t *transaction, q *emulator.Entity, messages []message.Message, size int) error {
	if err := c.hold(t, size); err != nil {
		return err
	}
	err := t.work.Send(q, messages)
	if err != nil {
		t.bytes -= size
		c.transactionBytes -= size
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
		t, err = c.join(id, in.root())
	}
	if err == nil {
		err = in.mayWorkIn(t)
	}
	if err == nil && len(messages) > 0 {
		err = c.sendHeld(t, in.queue, messages, len(d.raw))
	}
	if err != nil {
		in.refuse("send", d, err)
		return
	}
	if !d.settled {
		in.s.settleAs(&in.s.received, d.id, inTransaction(id, outcomeAccepted))
	}
}

// mayWorkIn fails if the transaction is bound to another entity than the link. Other entities can be reached by a link that
// names the bound one as its via entity, or from the session of the control link (TXN-8, TXN-9).
func (in *incoming) mayWorkIn(t *transaction) error {
	if in.root() == t.root || t.cross && in.via == nil {
		return nil
	}
	return linkError{fault{amqp.CondNotAllowed, "The transaction is bound to the entity '" + t.root +
		"': all its operations must be on the same entity, or go through it.", in.entity()}}
}

// settleIn settles a delivery in a transaction: its message stays locked until the discharge (TXN-6, TXN-17).
func (s *session) settleIn(id serial, u unsettled, v *verdict) error {
	t, err := s.c.join(v.transaction, rootOf(u.link.queue.Path()))
	if err != nil {
		return err
	}
	token := [1]emulator.LockToken{u.lock.Token()}
	if err := t.work.Settle(u.link.queue, token[:], v.settlement); err != nil {
		return u.link.lockError(err)
	}
	if !v.quiet {
		s.settleAs(&s.settled, id, inTransaction(v.transaction, v.echo))
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
	t, err := c.join(id, in.root())
	if err == nil {
		err = c.hold(t, len(d.raw))
	}
	if err != nil {
		c.refusedErr("request", in.entity(), err)
		ended := c.srv.ns.Begin(false, "")
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

// settleAs writes an outcome that can't be joined into ranges.
func (s *session) settleAs(r *ranges, id serial, state frames.DeliveryState) {
	if s.released {
		return
	}
	r.flush(s.writeDisposition)
	s.writeDisposition(&frames.Disposition{Role: r.role, First: id, Last: id, HasLast: true, Settled: true, State: state})
}

// commitFault gives a failed commit the condition that clients know; the text keeps the reason.
func commitFault(err error) fault {
	f := faultOf(err)
	if f.condition != amqp.CondUnknownTransaction && f.condition != amqp.CondTransactionTimeout {
		f.condition = amqp.CondTransactionRollback
	}
	return f
}
