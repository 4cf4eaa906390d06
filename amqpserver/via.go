package amqpserver

import (
	"errors"
	"strings"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/entitypath"
	"minibus/internal/sas"
)

// rootOf returns what counts as one entity in a transaction: a topic stands for its subscriptions too (TXN-8).
func rootOf(path string) string { return strings.ToLower(entitypath.Root(path)) }

// root returns the entity that a link works on or through, as transactions see it.
func (in *incoming) root() string {
	if in.via != nil {
		return rootOf(in.via.Path())
	}
	return rootOf(in.queue.Path())
}

// enter notes the entity of the first link in a session. With a coordinator, the session is that of a
// client with transactions over several entities, and all of them go through that entity (TXN-9).
func (s *session) enter(root string) {
	if s.via == "" {
		s.via = root
	}
}

// mayReceive fails for a receiver that would bring a second entity into a transaction (TXN-9).
func (s *session) mayReceive(q *emulator.Entity) error {
	if s.coordinators == 0 || s.via == "" || s.via == rootOf(q.Path()) {
		return nil
	}
	return amqpError{condition: amqp.CondNotAllowed, text: "Local transactions cannot span multiple top-level entities such as queue or topic. " +
		"Those of this session go through the entity '" + s.via + "', so it takes no receiver for another one. Use a client of its own for that.",
		entity: q.Path(), ends: endsLink}
}

// openVia finds the destination of a link's messages, if the link's target is only the entity that they go
// through (TXN-9). Then the destination becomes the link's queue.
func (in *incoming) openVia(properties amqp.Map) error {
	v, ok := properties.Get(keyTransferDestination)
	if !ok || v == nil {
		return nil
	}
	address, ok := amqp.AsString(v)
	n := parseAddress(address)
	if !ok || n.kind != nodeEntity || n.sub != emulator.Main || n.path == "" {
		return linkErrorf(amqp.CondInvalidField, "The property '%s' must name a queue or topic.", keyTransferDestination)
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
	in.via, in.queue = in.queue, q
	return nil
}

// send sends messages outside of a transaction. If they go through another entity and the
// destination is disabled, they end in the transfer dead-letter queue of that entity (DLQ-16, TXN-11).
func (in *incoming) send(messages []message.Message, op *sending) error {
	err := in.queue.Send(messages, op)
	if err == nil || in.via == nil {
		return err
	}
	var e *emulator.Error
	if !errors.As(err, &e) || e.Code != emulator.CodeEntityDisabled {
		return err
	}
	transfer := in.s.c.ns.Begin(true, in.root())
	transfer.Introduce(in.client())
	if transfer.Send(in.queue, messages) != nil { // too many, or the via entity is gone as well
		transfer.Rollback()
		return err
	}
	return transfer.Commit(op)
}

// watchVia detaches the link when its via entity is changed or deleted, as watch does for the
// destination.
func (in *incoming) watchVia() {
	if in.via != nil {
		in.unwatchVia = in.via.Watch(emulator.Main, func(err error) { in.detachSoon(err, in.via) })
	}
}
