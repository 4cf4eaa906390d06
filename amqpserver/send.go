package amqpserver

import (
	"errors"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// formatMessage is the format of a plain message [AMQP 2.8.11]. The envelope of a batch has message.BatchFormat
// (amqp-data-plane 3.6).
const formatMessage = 0

// takeMessages sends a delivery's messages to the queue, in the order in which the deliveries ended (ORD-8). The
// outcome follows the commit.
func (in *incomingLink) takeMessages(d *delivered) {
	c := in.s.c
	fault := in.hit(emulator.OperationSend)
	if fault != nil && !fault.Options().After {
		if err := in.inject(fault, emulator.OperationSend); errors.Is(err, errEnded) {
			return
		} else if err != nil {
			in.refuse("send", d, err)
			return
		}
	}
	if id := d.transaction(); id != nil {
		in.sendIn(d, id)
		return
	}
	op := c.pendingSends.get()
	op.in = in
	op.id = d.id
	op.settled = d.settled
	op.size = len(d.raw)
	op.injected = fault
	messages, err := op.parse(d)
	if err == nil && len(messages) > 0 {
		c.uncommitted += op.size
		c.assembly.addUncommitted(op.size)
		if err = in.send(messages, op); err != nil {
			c.assembly.addUncommitted(-op.size)
			c.uncommitted -= op.size
		}
	}
	switch {
	case err != nil:
		c.pendingSends.put(op)
		in.refuse("send", d, err)
	case len(messages) == 0: // an empty batch is legal (QUO-14)
		c.pendingSends.put(op)
		if !d.settled {
			in.s.received.answer(d.id, outcomeAccepted)
		}
	default:
		in.addOutstanding()
	}
}

// send sends messages outside of a transaction. If they go through another entity and the destination is disabled, they
// end in the transfer dead-letter queue of that entity (DLQ-16, TXN-11).
func (in *incomingLink) send(messages []message.Message, op *pendingSend) error {
	err := in.queue.Send(messages, op)
	if err == nil || in.viaEntity == nil {
		return err
	}
	var e *emulator.Error
	if !errors.As(err, &e) || e.Code != emulator.CodeEntityDisabled {
		return err
	}
	transfer := in.s.c.ns.Begin(true, in.root())
	transfer.Introduce(in.client())
	if transfer.Send(in.queue, messages) != nil { // too many, or the via entity is deleted as well
		transfer.Rollback()
		return err
	}
	return transfer.Commit(op)
}

// pendingSend is a delivery of messages that is being committed. It is reused: a busy connection needs tens of
// thousands a second.
type pendingSend struct {
	in       *incomingLink
	id       serial
	settled  bool
	size     int
	weight   int // operations that the journal makes of it, if it goes to a topic
	err      error
	one      [1]message.Message // storage for a single message
	injected *emulator.Fault    // hits the answer; nil: none
}

// Weighs implements [emulator.Weighed].
func (op *pendingSend) Weighs(operations int) {
	c := op.in.s.c
	op.weight = operations
	c.weight += operations
	c.reader.limitBatch(operations)
}

// Client says whose message it is.
func (op *pendingSend) Client() *emulator.Client { return op.in.client() }

// parse finds the messages in a delivery without decoding their bodies.
func (op *pendingSend) parse(d *delivered) ([]message.Message, error) {
	switch d.format {
	case formatMessage:
		m, err := message.Scan(d.raw)
		if err != nil {
			return nil, linkErrorf(amqp.CondDecode, "The message could not be decoded: %v.", err)
		}
		op.one[0] = m
		return op.one[:], nil
	case message.BatchFormat:
		if limit := op.in.maxBatch; len(d.raw) > limit {
			return nil, op.in.batchTooLarge(len(d.raw), limit) // a link without larger messages ended before
		}
		messages, err := message.Batch(d.raw)
		if err != nil {
			return nil, linkErrorf(amqp.CondDecode, "The batch could not be decoded: %v.", err)
		}
		if err := op.in.s.c.ns.CheckBatch(op.in.entity(), len(messages)); err != nil { // QUO-7
			return nil, err
		}
		return messages, nil
	}
	return nil, linkErrorf(amqp.CondNotImplemented, "The message format %#x is not known.", d.format)
}

// Completed implements emulator.Completion: it runs on the journal's goroutine.
func (op *pendingSend) Completed(err error) {
	op.err = err
	c := op.in.s.c
	c.assembly.addUncommitted(-op.size)
	c.mailbox.post(op)
}

func (op *pendingSend) run(c *conn) {
	c.uncommitted -= op.size
	c.weight -= op.weight
	if (op.injected != nil || c.delayed != nil) && c.delay(&op.in.link, op.injected, op.answer) {
		return
	}
	op.answer()
}

func (op *pendingSend) answer() {
	in := op.in
	switch {
	case in.state == linkDetaching: // the peer has forgotten the delivery
	case op.err == nil && op.injected != nil && op.injected.Options().After:
		_ = in.inject(op.injected, emulator.OperationSend) // errEnded
	case op.err != nil:
		in.refuse("send", &delivered{id: op.id, settled: op.settled}, op.err)
	case !op.settled:
		in.s.received.answer(op.id, outcomeAccepted)
	}
	in.answered()
	in.s.c.pendingSends.put(op)
}
