package amqpserver

import (
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/sas"
)

// Keys of link properties and filters.
const (
	keySessionFilter       = "com.microsoft:session-filter"
	keyMaxBatchSize        = "com.microsoft:max-message-batch-size"
	keyTransferDestination = "com.microsoft:transfer-destination-address"
)

// unlimited is the max-message-size that the service writes for no limit.
const unlimited = 1<<64 - 1

// handleAttach opens a link or refuses it [AMQP 2.6.3].
func (s *session) handleAttach(a *frames.Attach) error {
	o := &s.c.srv.options
	if e := s.links.get(a.Handle); e != nil && e.base().left {
		e.base().detachNow() // a peer that reuses the handle waits for no more answers
	}
	switch {
	case a.Handle > o.HandleMax:
		return connErrorf(amqp.CondFraming, "Handle %d is above the handle-max of %d.", a.Handle, o.HandleMax)
	case a.Handle > s.handleMax:
		// We answer on the peer's number, so the two handles are never confused. Only a peer that breaks its own limit ever
		// sees this error.
		return sessionErrorf(amqp.CondNotAllowed, "Handle %d is above your own handle-max of %d.", a.Handle, s.handleMax)
	case s.links.get(a.Handle) != nil:
		return sessionErrorf(amqp.CondHandleInUse, "Handle %d is in use.", a.Handle)
	case s.c.sessions.linked >= s.c.tokens.limit(o.MaxLinks, unauthenticatedLinks):
		return sessionErrorf(amqp.CondResourceLimit, "The connection has %d links already%s.", s.c.sessions.linked, s.c.tokens.limitReason())
	}
	if s.isEcho(a) {
		s.put(&refusedLink{link{s: s, handle: a.Handle, role: a.Role, state: linkDetaching, released: true}})
		return nil
	}
	if err := s.attach(a); err != nil {
		s.refuseLink(a, err)
	}
	return nil
}

// isEcho reports whether an attach is the refusal of a link that has just ended [AMQP 2.6.3]. rhea writes one when it has closed a link
// before it saw our attach, and another for each answer. It gets none: its own detach follows and ends the link.
func (s *session) isEcho(a *frames.Attach) bool {
	return a.Source == nil && a.Target == nil && a.Coordinator == nil && a.LinkName == s.lastEnded && s.lastEnded != ""
}

func (s *session) attach(a *frames.Attach) error {
	names := len(a.LinkName)
	if a.Source != nil {
		names += len(a.Source.Address)
	}
	if a.Target != nil {
		names += len(a.Target.Address)
	}
	switch {
	case names > maxNames:
		return linkErrorf(amqp.CondInvalidField, "The link's name and addresses have %d bytes; at most %d are allowed.", names, maxNames)
	case a.Role == frames.RoleSender:
		return s.attachIncoming(a)
	}
	return s.attachOutgoing(a)
}

// refuseLink answers as the service does: an attach without source and target, which says that the link was not created,
// and a detach with the reason [AMQP 2.6.3].
func (s *session) refuseLink(a *frames.Attach, err error) {
	s.c.log.logError("attach refused", "attach", "attach", causeOf("", err), "address", sas.Clip(addressOf(a)))
	s.c.noteAttach(a, amqpErrorOf(err))
	r := &refusedLink{link{s: s, handle: a.Handle, role: a.Role, state: linkDetaching, released: true}}
	s.put(r)
	s.write(reply(a))
	s.write(&frames.Detach{Handle: a.Handle, Closed: true, Error: s.c.wireError(amqpErrorOf(err))})
}

func addressOf(a *frames.Attach) string {
	switch {
	case a.Role == frames.RoleReceiver && a.Source != nil:
		return a.Source.Address
	case a.Role == frames.RoleSender && a.Target != nil:
		return a.Target.Address
	}
	return ""
}

// reply returns an attach with the fields that we echo: clients compare name and settle modes.
func reply(a *frames.Attach) *frames.Attach {
	return &frames.Attach{
		LinkName: a.LinkName, Handle: a.Handle, Role: !a.Role,
		SndSettleMode: a.SndSettleMode, HasSndSettleMode: a.HasSndSettleMode,
		RcvSettleMode: a.RcvSettleMode, HasRcvSettleMode: a.HasRcvSettleMode,
		HasInitialDeliveryCount: a.Role == frames.RoleReceiver,
	}
}

// accepted returns the answer to an attach that succeeds: source and target as the peer wrote them, and never null.
func accepted(a *frames.Attach) *frames.Attach {
	r := reply(a)
	r.Source, r.Target, r.Properties = &frames.Source{}, &frames.Target{}, amqp.Map{}
	if a.Source != nil {
		source := *a.Source
		// Leaving out a filter says that it is not in effect [AMQP 3.5.3]. We support none here but the session filter.
		source.Filter = amqp.Map{}
		r.Source = &source
	}
	if a.Target != nil {
		r.Target = a.Target
	}
	return r
}

func (s *session) newLink(a *frames.Attach, n node) link {
	s.c.sessions.numbered++
	return link{s: s, handle: a.Handle, number: s.c.sessions.numbered, name: a.LinkName, role: a.Role, node: n}
}

// attachIncoming opens a link on which the client sends.
func (s *session) attachIncoming(a *frames.Attach) error {
	switch {
	case a.Coordinator != nil:
		return s.attachCoordinator(a)
	case a.Target == nil:
		return linkErrorf(amqp.CondNotImplemented, "The attach has no target. Name the address of a queue or topic as the target of a sender.")
	case a.Target.Dynamic:
		return linkErrorf(amqp.CondNotImplemented, noDynamic, "target")
	case a.Target.Address == "":
		return linkErrorf(amqp.CondNotImplemented, "The target has no address, and there is no anonymous relay. Attach a sender for each queue or topic.")
	}
	n := parseAddress(a.Target.Address)
	in := s.newIncoming(a, n)
	answer := accepted(a)
	var err error
	switch n.kind {
	case nodeCBS:
		err = in.openCBS(answer)
	case nodeManagement:
		err = in.openManagement(answer)
	default:
		err = in.openQueue(answer, a.Properties)
	}
	if err != nil {
		return err
	}
	s.put(in)
	in.watch()
	in.watchViaEntity()
	s.write(answer)
	in.topUp()
	return nil
}

// openQueue makes the link send messages to a queue, or through it to another (TXN-9).
func (in *incomingLink) openQueue(answer *frames.Attach, properties amqp.Map) error {
	if in.node.sub != 0 {
		return linkErrorf(amqp.CondNotAllowed, "Messages can't be sent to the sub-queue '%s'.", in.node)
	}
	if err := in.lookUp(sas.Send); err != nil {
		return err
	}
	if err := in.queue.CanSend(); err != nil {
		return err
	}
	if err := in.openViaEntity(properties); err != nil {
		return err
	}
	in.s.noteEntity(in.root())
	limit := in.queue.MaxMessageSize()
	in.sink, in.window = sendSink{}, sendCredit
	in.maxMessage, in.maxBatch = int(limit), int(min(limit, maxBatchBytes))
	answer.MaxMessageSize, answer.HasMaxMessageSize = uint64(limit), true
	answer.Properties = amqp.Map{{Key: amqp.Symbol(keyMaxBatchSize), Value: int64(in.maxBatch)}}
	if destination, ok := properties.Get(keyTransferDestination); ok {
		answer.Properties = append(answer.Properties, amqp.Pair{Key: amqp.Symbol(keyTransferDestination), Value: destination})
	}
	return nil
}

// attachOutgoing opens a link on which the client receives.
func (s *session) attachOutgoing(a *frames.Attach) error {
	if err := checkSource(a); err != nil {
		return err
	}
	n := parseAddress(a.Source.Address)
	if n.kind != nodeEntity {
		return s.attachReplies(a, n)
	}
	o := &outgoingLink{sendingLink: sendingLink{link: s.newLink(a, n)}}
	if err := o.open(a); err != nil {
		return err
	}
	s.noteEntity(rootOf(o.queue.Path()))
	s.put(o)
	o.watch()
	if o.opening == nil {
		o.answer(a)
	}
	return nil
}

func (o *outgoingLink) answer(a *frames.Attach) {
	answer := accepted(a)
	answer.MaxMessageSize, answer.HasMaxMessageSize = unlimited, true
	if o.accept != nil {
		o.describeSession(answer)
	}
	o.s.write(answer)
}

// lookUp finds the entity of the link's address and checks that the connection has a right there; an empty claim stands
// for any.
func (l *link) lookUp(claim sas.Claims) error {
	if l.node.path == "" {
		return linkErrorf(amqp.CondInvalidField, "The address names no entity.")
	}
	if err := l.s.c.checkAddress(l.node); err != nil {
		return err
	}
	if err := l.allow(right{l.node, claim}); err != nil {
		return err // before the client learns what exists
	}
	q, err := l.s.c.ns.Entity(l.node.path)
	if err != nil {
		return err
	}
	l.queue, l.node.path = q, q.Path() // the logs and the connections show the broker's spelling (DEC-9)
	return l.injectAttach()
}
