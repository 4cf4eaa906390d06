package amqpserver

import (
	"fmt"
	"slices"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqp/message"
	"minibus/internal/sas"
)

// lifetimePolicy is the property of a dynamic node that says when it goes [AMQP 3.5.10]; deleteOnClose, the only policy
// that is served, means with its link.
const (
	lifetimePolicy      = "lifetime-policy"
	deleteOnClose       = 0x2b
	deleteOnCloseSymbol = "amqp:delete-on-close:list"
)

// attachTemporary makes a temporary queue or topic, which goes with the link.
func (s *session) attachTemporary(a *frames.Attach) error {
	c := s.c
	if err := c.needJMS("dynamic targets", " "+fmt.Sprintf(noDynamic, "target")); err != nil {
		return err
	}
	policy, ok := a.Target.DynamicNodeProperties.Get(lifetimePolicy)
	if ok && policy != nil && !isFilter(policy, deleteOnClose, deleteOnCloseSymbol) {
		return linkErrorf(amqp.CondNotImplemented, "A temporary queue or topic is deleted with the link that has made "+
			"it: the only lifetime policy is delete-on-close.")
	}
	in := s.newIncoming(a, node{})
	// Who makes a reply queue wants to receive from it. Only rights on the whole namespace count for its name.
	if err := in.allow(right{in.node, sas.Listen}); err != nil {
		return err
	}
	topic := slices.Contains(a.Target.Capabilities, capabilityTemporaryTopic)
	var path string
	e := &errand{
		do: func() (err error) {
			path, err = c.ns.CreateTemporary(topic)
			return err
		},
		undo: func() { _ = c.ns.DeleteTemporary(path) },
	}
	s.attachAfter(a, in.node, e, func() error {
		in.node.path = path
		answer := s.accepted(a)
		target := *a.Target
		target.Address, target.HasAddress = path, true
		answer.Target = &target
		if err := in.openTemporary(answer); err != nil {
			return err
		}
		in.temporary = true
		s.put(in)
		in.watch()
		s.write(answer)
		in.topUp()
		return nil
	})
	return nil
}

// openTemporary lets the link send to what it has made, if the client may send.
func (in *incomingLink) openTemporary(answer *frames.Attach) error {
	if in.s.c.tokens.authorize(right{in.node, sas.Send}) == nil {
		return in.openQueue(answer, nil)
	}
	in.take = func(d *delivered) {
		in.refuse("send", d, in.s.c.tokens.authorize(right{in.node, sas.Send}))
	}
	return in.lookUp(sas.Listen)
}

// deleteTemporary deletes what the link has made. After a restart it is gone anyway.
func (in *incomingLink) deleteTemporary() {
	c, path := in.s.c, in.node.path
	if !c.srv.isClosed() {
		in.follow(func() error { return c.ns.DeleteTemporary(path) }, func(err error) {
			c.log.refusedErr("delete", path, err) // it is tried again
		})
	}
}

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
	q, err := in.destination(d)
	if err != nil {
		in.refuse("send", d, err)
		return
	}
	in.queue = q
	in.s.noteEntity(in.root())
	in.takeMessages(d)
}

// destination finds the queue or topic that a message for the relay names, and checks that it may be sent there.
func (in *incomingLink) destination(d *delivered) (*emulator.Entity, error) {
	c := in.s.c
	if d.format != formatMessage {
		return nil, linkErrorf(amqp.CondNotImplemented,
			"A link without an address takes single messages only, no batches.")
	}
	m, err := message.Scan(d.raw)
	if err != nil {
		return nil, linkErrorf(amqp.CondDecode, "The message could not be decoded: %v.", err)
	}
	to, _ := m.Property(message.PropertyTo)
	address, _ := amqp.AsString(to)
	n := parseAddress(address)
	if n.kind != nodeEntity || n.path == "" {
		return nil, linkErrorf(amqp.CondNotFound, "The message names no queue or topic in its property 'to'.")
	}
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
