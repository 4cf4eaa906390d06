package amqpserver

import (
	"errors"
	"fmt"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// formatMessage is the format of a plain message [AMQP 2.8.11]; the envelope of a batch has message.BatchFormat (amqp-data-plane 3.6).
const formatMessage = 0

// sizeText returns the service's sentence for a message that is too large; clients show it.
func sizeText(size, limit int) string {
	return fmt.Sprintf("The received message (delivery-id:0, size:%d bytes) exceeds the limit (%d bytes) currently allowed on the link.",
		size, limit)
}

type sendSink struct{}

func (sendSink) window(in *incomingLink) uint32 {
	if in.starved(emulator.OperationSend) {
		return 0
	}
	return sendCredit
}

// take sends a delivery's messages to the queue, in the order in which the deliveries ended (ORD-8). The
// outcome follows the commit.
func (sendSink) take(in *incomingLink, d *delivered) {
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
	if id := transactionOf(d); id != nil {
		in.sendIn(d, id)
		return
	}
	op := c.sendOps.get()
	op.injected = fault
	op.in, op.id, op.settled, op.size = in, d.id, d.settled, len(d.raw)
	messages, err := op.parse(d)
	if err == nil && len(messages) > 0 {
		c.assembly.beginCommit(op.size)
		if err = in.send(messages, op); err != nil {
			c.assembly.endCommit(op.size)
			c.uncommitted -= op.size
		}
	}
	switch {
	case err != nil:
		c.sendOps.put(op)
		in.refuse("send", d, err)
	case len(messages) == 0: // an empty batch is legal (QUO-14)
		c.sendOps.put(op)
		if !d.settled {
			in.s.received.answer(d.id, outcomeAccepted)
		}
	default:
		in.addOutstanding()
	}
}

// sendOp is one delivery on its way to the journal. It is reused: a busy connection needs tens of thousands
// a second.
type sendOp struct {
	in      *incomingLink
	id      serial
	settled bool
	size    int
	weight  int // operations that the journal makes of it, if it goes to a topic
	err     error
	one     [1]message.Message // storage for a single message

	injected *emulator.Fault // hits the answer; nil: none
}

// Weighs implements [emulator.Weighed].
func (op *sendOp) Weighs(operations int) {
	c := op.in.s.c
	op.weight = operations
	c.weight += operations
	c.reader.limitBatch(operations)
}

// Client says whose message it is.
func (op *sendOp) Client() *emulator.Client { return op.in.client() }

// parse finds the messages in a delivery without decoding their bodies.
func (op *sendOp) parse(d *delivered) ([]message.Message, error) {
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
		if err := op.in.s.c.ns.Limits().CheckBatch(op.in.entity(), len(messages)); err != nil { // QUO-7
			return nil, err
		}
		return messages, nil
	}
	return nil, linkErrorf(amqp.CondNotImplemented, "The message format %#x is not known.", d.format)
}

// Completed implements emulator.Completion: it runs on the journal's goroutine.
func (op *sendOp) Completed(err error) {
	op.err = err
	c := op.in.s.c
	c.assembly.endCommit(op.size)
	c.mailbox.post(op)
}

func (op *sendOp) run(c *conn) {
	c.uncommitted -= op.size
	c.weight -= op.weight
	if (op.injected != nil || c.delayed != nil) && c.delay(&op.in.link, op.injected, op.answer) {
		return
	}
	op.answer()
}

// answer gives the client the outcome.
func (op *sendOp) answer() {
	s, c := op.in.s, op.in.s.c
	switch {
	case op.in.state == linkDetaching:
	case op.err == nil && op.injected != nil && op.injected.Options().After:
		_ = op.in.inject(op.injected, emulator.OperationSend) // errEnded
	case op.err != nil:
		op.in.refuse("send", &delivered{id: op.id, settled: op.settled}, op.err)
	case !op.settled:
		s.received.answer(op.id, outcomeAccepted)
	}
	op.in.answered()
	c.sendOps.put(op)
}
