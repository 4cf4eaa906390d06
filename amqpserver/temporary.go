package amqpserver

import (
	"fmt"
	"slices"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
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
	if ok && policy != nil && !isDescribedAs(policy, deleteOnClose, deleteOnCloseSymbol) {
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
