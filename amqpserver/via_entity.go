package amqpserver

import (
	"strings"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/entitypath"
	"minibus/internal/sas"
)

// rootOf returns what counts as one entity in a transaction: a topic stands for its subscriptions too (TXN-8).
// Temporary queues do not count, and have none (JMS-6).
func rootOf(q *emulator.Entity) string {
	if q.Temporary() {
		return ""
	}
	return rootOfPath(q.Path())
}

func rootOfPath(path string) string { return strings.ToLower(entitypath.Root(path)) }

// root returns the entity that a link works on or through, as transactions see it.
func (in *incomingLink) root() string {
	if in.viaEntity != nil {
		return rootOf(in.viaEntity)
	}
	return rootOf(in.queue)
}

// noteEntity notes the entity of the first link in a session. With a coordinator, the session is that of a
// client with transactions over several entities, and all of them go through that entity (TXN-9).
func (s *session) noteEntity(root string) {
	if s.viaEntity == "" {
		s.viaEntity = root
	}
}

// checkEntity fails for a receiver that would bring a second entity into a transaction (TXN-9).
func (s *session) checkEntity(q *emulator.Entity) error {
	root := rootOf(q)
	if s.coordinators == 0 || s.viaEntity == "" || root == "" || s.viaEntity == root {
		return nil
	}
	text := "Local transactions cannot span multiple top-level entities such as queue or topic. Those of this " +
		"session go through the entity '" + s.viaEntity + "', so it takes no receiver for another one. " +
		"Use a client of its own for that."
	return amqpError{condition: amqp.CondNotAllowed, text: text, entity: q.Path(), ends: endsLink}
}

// openViaEntity finds the destination of a link's messages, if the link's target is only the entity that they go
// through (TXN-9). Then the destination becomes the link's queue.
func (in *incomingLink) openViaEntity(properties amqp.Map) error {
	v, ok := properties.Get(keyTransferDestination)
	if !ok || v == nil {
		return nil
	}
	address, ok := amqp.AsString(v)
	n := parseAddress(address)
	if !ok || n.kind != nodeEntity || n.sub != emulator.Main || n.path == "" {
		return linkErrorf(amqp.CondInvalidField,
			"The property '%s' must name a queue or topic.", keyTransferDestination)
	}
	if err := in.s.c.checkAddress(n); err != nil {
		return err
	}
	if err := in.allow(right{n, sas.Send}); err != nil {
		return err
	}
	q, err := in.s.c.ns.Entity(n.path)
	if err != nil {
		return err
	}
	in.viaEntity, in.queue = in.queue, q
	return nil
}

// watchViaEntity detaches the link when its via entity is changed or deleted, as watch does for the
// destination.
func (in *incomingLink) watchViaEntity() {
	if in.viaEntity != nil {
		in.unwatchViaEntity = in.viaEntity.Watch(emulator.Main, func(err error) { in.detachSoon(err, in.viaEntity) })
	}
}
