package amqpserver

import (
	"cmp"
	"errors"
	"fmt"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqp/message"
	"minibus/internal/sas"
)

const (
	sendCredit    = 1000    // deliveries that a sender may have under way
	maxBatchBytes = 1 << 20 // of a batch, even where single messages may be larger (QUO-6)
)

// incomingLink is a link on which the client sends: messages to a queue, or requests to a node.
//
// Transfers beyond the link's credit are taken: one client counts for itself (amqp-data-plane 3.4). The loop limits a
// sender by not reading.
type incomingLink struct {
	link
	take             func(*delivered) // takes a whole delivery and gives it its outcome; only raw stays valid after it
	window           uint32           // deliveries that the client may have under way
	maxMessage       int              // bytes
	maxBatch         int              // bytes
	noRejected       bool             // the client's source does not have that outcome
	viaEntity        *emulator.Entity // the entity that messages pass on their way to queue; nil: none (TXN-9)
	unwatchViaEntity func()

	count   serial // the client's delivery-count: its initial value plus what was received [AMQP 2.6.7]
	credit  uint32 // what the client may still send, as far as it knows
	partial partialDelivery
}

func (s *session) newIncoming(a *frames.Attach, n node) *incomingLink {
	return &incomingLink{link: s.newLink(a, n), count: a.InitialDeliveryCount}
}

// delivered is one whole delivery from the client.
type delivered struct {
	id      serial
	format  uint32
	settled bool
	state   frames.DeliveryState
	raw     []byte
}

// transaction returns the id of the transaction that the delivery is part of, or nil.
func (d *delivered) transaction() []byte {
	if state, ok := d.state.(*frames.TransactionalState); ok {
		return state.TxnID
	}
	return nil
}

// handleTransfer adds a frame to its delivery, and hands the whole delivery on [AMQP 2.7.5].
func (s *session) handleTransfer(t *frames.Transfer, payload []byte) error {
	if s.win.received() {
		s.write(s.flow())
	}
	l, err := s.linkOf(t.Handle)
	if err != nil {
		return err
	}
	in, ok := l.self.(*incomingLink)
	switch {
	case l.state != linkAttached:
		return nil
	case !ok:
		return sessionErrorf(amqp.CondErrantLink, "The link with handle %d is one that you receive on.", t.Handle)
	}
	in.touch()
	p := &in.partial
	switch {
	case !p.begun && !t.HasDeliveryID:
		return linkErrorf(amqp.CondInvalidField, "The first transfer of a delivery must have a delivery-id.")
	case !p.begun:
		p.begun = true
		p.delivered = delivered{id: t.DeliveryID, format: t.MessageFormat}
		in.count++
		in.passed++
		in.credit -= min(in.credit, 1)
	case t.HasDeliveryID && t.DeliveryID != p.id:
		return linkErrorf(amqp.CondInvalidField, "Delivery %d begins before delivery %d has ended.", t.DeliveryID, p.id)
	}
	p.settled = p.settled || t.Settled
	if t.State != nil {
		p.state = t.State // any frame of a delivery may name a transaction [AMQP 2.7.5]
	}
	if t.Aborted {
		in.drop()
		in.topUp()
		return nil
	}
	if !p.refused {
		in.collect(payload, t.More)
	}
	if !t.More && !in.released {
		if !p.refused {
			s.c.whole = p.delivered
			in.take(&s.c.whole)
			s.c.whole = delivered{}
		}
		in.drop() // after take, which goes on with the delivery's share of the memory
	}
	in.topUp()
	return nil
}

// collect adds a payload to the delivery. It refuses a delivery as soon as it exceeds a limit: the sender may never
// end it.
func (in *incomingLink) collect(payload []byte, more bool) {
	p, c := &in.partial, in.s.c
	size := p.size + len(payload)
	switch {
	case size > in.maxMessage:
		in.refusePartial(in.tooLarge(size, in.maxMessage))
	case p.pieces == nil && !more:
		p.raw = payload // the usual case: one transfer, whose payload is ours already
	case c.assembly.bytes+len(payload) > c.assembly.limitFor(in):
		in.refusePartial(linkErrorf(amqp.CondResourceLimit, "The connection has too many unfinished deliveries."))
	default:
		c.assembly.add(in, len(payload))
		p.pieces = append(p.pieces, payload)
		c.assembly.buffer(p, in.maxMessage)
		if !more {
			p.join(&c.srv.readBuffers)
		}
	}
}

// refusePartial rejects an unfinished delivery and discards what has arrived.
func (in *incomingLink) refusePartial(err error) {
	d := in.partial.delivered
	in.drop()
	in.partial.delivered = delivered{id: d.id, settled: d.settled, state: d.state}
	in.partial.begun, in.partial.refused = true, true
	in.refuse("send", &d, err)
}

// drop forgets the unfinished delivery. With the last large one the connection gives its memory back.
func (in *incomingLink) drop() {
	a, p := &in.s.c.assembly, &in.partial
	a.bytes -= p.size
	if p.size > largeDelivery {
		a.large--
	}
	if a.buffered == p {
		a.buffered = nil
	}
	*p = partialDelivery{}
	if a.large == 0 && a.limit > 0 {
		a.limit = 0
		a.waiting, a.hasMemory = false, false
		a.c.srv.incomingMemory.ask(&a.share, 0, 0, a.moved)
	}
}

// tooLarge refuses a message with the service's sentence; clients show it.
func (in *incomingLink) tooLarge(size, limit int) error {
	const text = "The received message (delivery-id:0, size:%d bytes) exceeds the limit (%d bytes) currently allowed " +
		"on the link."
	return amqpError{condition: amqp.CondSizeExceeded, text: fmt.Sprintf(text, size, limit),
		entity: in.entity(), ends: endsLink, detaches: true}
}

// batchTooLarge refuses a batch on a link for larger messages in the service's words, which surprise. Clients do not
// try again.
func (in *incomingLink) batchTooLarge(size, limit int) error {
	const text = "The link '%s' is force detached by the broker because publisher(link%d) received a batch message " +
		"with no data in it. Detach origin: Publisher. (The batch has %d bytes, and may have %d. " +
		"Send larger messages one by one.)"
	return amqpError{condition: amqp.CondNotAllowed, text: fmt.Sprintf(text, sas.Clip(in.name), in.number, size, limit),
		entity: in.entity(), ends: endsLink, detaches: true}
}

// refuse rejects a delivery. A sender that has settled it does not learn of it (ERR-7), unless the error ends the link.
func (in *incomingLink) refuse(operation string, d *delivered, err error) {
	in.refuseAs(operation, d, err, in.amqpError(err))
}

// refuseAs is refuse with another error for the client than the log gets. The link ends if the client must learn of the
// refusal and can't otherwise: because work is missing from a transaction, or the transaction does not exist.
func (in *incomingLink) refuseAs(operation string, d *delivered, err error, failure amqpError) {
	in.s.c.log.refusedErr(operation, failure.entity, err)
	if !d.settled && !in.noRejected {
		in.s.received.reject(d.id, d.id, failure)
	}
	mustTell := d.settled && (in.node.kind == nodeCoordinator || d.transaction() != nil)
	if failure.detaches || in.noRejected || mustTell { // [AMQP 2.7.3, 4.3]
		in.endWith(failure)
	}
}

// topUp grants credit when half of it is used: all of the window, or nothing while a fault or waiting replies hold it
// back.
func (in *incomingLink) topUp() {
	if in.state != linkAttached || in.credit > in.window/2 {
		return
	}
	window := in.window
	switch in.node.kind {
	case nodeEntity:
		if in.starved(emulator.OperationSend) {
			return
		}
	case nodeCBS, nodeManagement:
		window = in.s.c.requests.window()
	}
	if window > in.credit {
		in.credit = window
		in.writeFlow()
	}
}

func (in *incomingLink) writeFlow() { in.s.write(in.s.linkFlow(in.handle, in.count, in.credit)) }

// flow answers an echo. It ignores the client's credit: the receiver grants credit, and that is us.
func (in *incomingLink) flow(f *frames.Flow) {
	if f.Echo {
		in.writeFlow()
	}
}

func (in *incomingLink) detached() bool { return true }

func (in *incomingLink) release() {
	in.drop()
	switch in.node.kind {
	case nodeCBS:
		in.s.c.cbsSenders--
	case nodeCoordinator:
		in.s.coordinators--
		in.s.c.transactions.rollBack(in)
	}
	if in.unwatchViaEntity != nil {
		in.unwatchViaEntity()
	}
	if in.temporary {
		in.deleteTemporary()
	}
}

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
	op.queue = in.queue
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
	queue    *emulator.Entity // of the link then: a relay's changes with each message
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
		failure := amqpErrorOf(op.err)
		failure.entity = cmp.Or(failure.entity, op.queue.Path())
		in.refuseAs("send", &delivered{id: op.id, settled: op.settled}, op.err, failure)
	case !op.settled:
		in.s.received.answer(op.id, outcomeAccepted)
	}
	in.answered()
	in.s.c.pendingSends.put(op)
}
