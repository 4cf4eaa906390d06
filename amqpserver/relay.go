package amqpserver

import (
	"cmp"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqp/message"
	"minibus/internal/sas"
)

// attachRelay opens a link without an address: each message names its queue or topic.
func (s *session) attachRelay(a *frames.Attach) error {
	err := s.c.needJMS("anonymous relay", " Attach a sender for each queue or topic.")
	if err != nil {
		return err
	}
	if c := s.c; c.tokens.unauthenticated() { // each message needs a right, but its bytes would be there before
		return &emulator.Error{Code: emulator.CodeUnauthorized,
			Text: sas.Required(sas.Send, c.peer.host(c.ns.Name()), "")}
	}
	in := s.newIncoming(a, node{kind: nodeRelay})
	in.take = in.takeRelayed
	in.window = sendCredit
	in.maxMessage = int(s.c.ns.Profile().Limits().Kilobytes.Most) << 10
	in.maxBatch = maxBatchBytes
	s.put(in)
	answer := s.accepted(a)
	answer.MaxMessageSize, answer.HasMaxMessageSize = uint64(in.maxMessage), true
	s.write(answer)
	in.topUp()
	return nil
}

// takeRelayed sends a message to the queue or topic that it names.
func (in *incomingLink) takeRelayed(d *delivered) {
	to, err := destination(d)
	var q *emulator.Entity
	if err == nil {
		q, err = in.relay(to)
	}
	if err != nil {
		failure := amqpErrorOf(err)
		failure.entity = cmp.Or(failure.entity, to.path)
		in.refuseAs("send", d, err, failure)
		return
	}
	in.queue = q
	in.s.noteEntity(in.root())
	in.takeMessages(d)
}

// destination returns the address that a message for the relay names.
func destination(d *delivered) (n node, err error) {
	if d.format != formatMessage {
		return n, linkErrorf(amqp.CondNotImplemented,
			"A link without an address takes single messages only, no batches.")
	}
	m, err := message.Scan(d.raw)
	if err != nil {
		return n, linkErrorf(amqp.CondDecode, "The message could not be decoded: %v.", err)
	}
	to, _ := m.Property(message.PropertyTo)
	address, _ := amqp.AsString(to)
	n = parseAddress(address)
	if n.kind != nodeEntity || n.path == "" {
		return n, linkErrorf(amqp.CondNotFound, "The message names no queue or topic in its property 'to'.")
	}
	return n, nil
}

// relay finds the queue or topic of an address, and checks that messages may be sent there.
func (in *incomingLink) relay(n node) (*emulator.Entity, error) {
	c := in.s.c
	if n.sub != emulator.Main {
		return nil, linkErrorf(amqp.CondNotAllowed, "Messages can't be sent to the sub-queue '%s'.", n)
	}
	if err := c.checkAddress(n); err != nil {
		return nil, err
	}
	if err := c.tokens.authorize(right{n, sas.Send}); err != nil {
		return nil, err
	}
	q, err := c.ns.Entity(n.path)
	if err != nil {
		return nil, err
	}
	return q, q.CanSend()
}
