package amqpserver

import (
	"cmp"
	"fmt"

	"minibus/emulator"
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
	if l := s.links.get(a.Handle); l != nil && l.left {
		l.detachNow() // a peer that reuses the handle waits for no more answers
	}
	switch {
	case a.Handle > o.HandleMax:
		return connErrorf(amqp.CondFraming, "Handle %d is above the handle-max of %d.", a.Handle, o.HandleMax)
	case a.Handle > s.handleMax:
		// We answer on the peer's number. Only a peer that breaks its own limit ever sees this error.
		return sessionErrorf(amqp.CondNotAllowed,
			"Handle %d is above your own handle-max of %d.", a.Handle, s.handleMax)
	case s.links.get(a.Handle) != nil:
		return sessionErrorf(amqp.CondHandleInUse, "Handle %d is in use.", a.Handle)
	case s.c.sessions.linked >= s.c.tokens.limit(o.MaxLinks, unauthenticatedLinks):
		return sessionErrorf(amqp.CondResourceLimit,
			"The connection has %d links already%s.", s.c.sessions.linked, s.c.tokens.limitReason())
	}
	if s.isEcho(a) {
		s.putRefused(a)
		return nil
	}
	if err := s.attach(a); err != nil {
		s.refuseLink(a, err)
	}
	return nil
}

// isEcho reports whether an attach is the refusal of a link that has just ended [AMQP 2.6.3]. rhea writes one when it
// has closed a link before it saw our attach, and another for each answer. It gets none: its own detach follows and
// ends the link.
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
		return linkErrorf(amqp.CondInvalidField,
			"The link's name and addresses have %d bytes; at most %d are allowed.", names, maxNames)
	case a.Role == frames.RoleSender:
		return s.attachIncoming(a)
	}
	return s.attachOutgoing(a)
}

// refuseLink answers as the service does: an attach without source and target, which says that the link was not
// created, and a detach with the reason [AMQP 2.6.3].
func (s *session) refuseLink(a *frames.Attach, err error) {
	s.c.log.logError("attach refused", "attach", "attach", causeOf("", err), "address", sas.Clip(addressOf(a)))
	s.c.noteAttach(a, amqpErrorOf(err))
	s.putRefused(a)
	s.write(reply(a))
	s.write(&frames.Detach{Handle: a.Handle, Closed: true, Error: s.c.wireError(amqpErrorOf(err))})
}

// putRefused keeps the handle of a refused link until the peer's detach arrives.
func (s *session) putRefused(a *frames.Attach) {
	s.put(&refusedLink{link{s: s, handle: a.Handle, role: a.Role, state: linkDetaching, released: true}})
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
func (s *session) accepted(a *frames.Attach) *frames.Attach {
	r := reply(a)
	r.OfferedCapabilities = s.c.offered(a.DesiredCapabilities)
	r.Source = &frames.Source{}
	r.Target = cmp.Or(a.Target, &frames.Target{})
	r.Properties = amqp.Map{}
	if a.Source != nil {
		*r.Source = *a.Source
		// Leaving out a filter says that it is not in effect [AMQP 3.5.3]. Those that are get in by themselves.
		r.Source.Filter = amqp.Map{}
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
	case a.Target != nil && a.Target.Dynamic:
		return s.attachTemporary(a)
	case a.Target != nil && a.Target.Address == "":
		return s.attachRelay(a)
	case a.Target == nil:
		return linkErrorf(amqp.CondNotImplemented,
			"The attach has no target. Name the address of a queue or topic as the target of a sender.")
	}
	n := parseAddress(a.Target.Address)
	in := s.newIncoming(a, n)
	answer := s.accepted(a)
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
		return s.createMissing(a, &in.link, a.Target.Capabilities, err, s.attachIncoming)
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
	in.take = in.takeMessages
	in.window = sendCredit
	in.maxMessage = int(limit)
	in.maxBatch = int(min(limit, maxBatchBytes))
	answer.MaxMessageSize, answer.HasMaxMessageSize = uint64(limit), true
	answer.Properties = amqp.Map{{Key: amqp.Symbol(keyMaxBatchSize), Value: int64(in.maxBatch)}}
	if v, ok := properties.Get(keyTransferDestination); ok {
		answer.Properties = append(answer.Properties, amqp.Pair{Key: amqp.Symbol(keyTransferDestination), Value: v})
	}
	return nil
}

// attachOutgoing opens a link on which the client receives.
func (s *session) attachOutgoing(a *frames.Attach) error {
	if a.Source == nil && a.Target != nil && s.c.jms != jmsOff {
		return s.attachUnsubscribe(a)
	}
	if err := checkSource(a); err != nil {
		return err
	}
	n := parseAddress(a.Source.Address)
	if n.kind != nodeEntity {
		return s.attachReplies(a, n)
	}
	o := &outgoingLink{deliveringLink: deliveringLink{link: s.newLink(a, n)}}
	if err := o.find(sas.Listen); err != nil {
		return s.createMissing(a, &o.link, a.Source.Capabilities, err, s.attachOutgoing)
	}
	sel, err := sourceFilterOf(a.Source)
	switch {
	case err != nil:
		return err
	case o.queue.Kind() == emulator.KindTopic && n.sub == emulator.Main:
		return s.attachToTopic(a, o, sel)
	case a.Source.DistributionMode == modeCopy:
		return s.attachBrowser(a, o.link, sel)
	}
	return s.attachConsumer(a, o, sel)
}

// attachConsumer opens a link on the messages of the entity that it has found.
func (s *session) attachConsumer(a *frames.Attach, o *outgoingLink, sel *sourceFilter) error {
	if sel != nil {
		name, _ := amqp.AsString(sel.filter[0].Key)
		fix := " Give a subscription a rule that selects messages and receive from it."
		if err := s.c.needJMS("selectors such as "+filterName(name, sel.filter[0].Value), fix); err != nil {
			return err
		}
	}
	if err := o.open(a, sel); err != nil {
		return err
	}
	o.begin(a)
	return nil
}

// begin lets a link live whose consumer is attached, or waits for a session.
func (o *outgoingLink) begin(a *frames.Attach) {
	o.s.noteEntity(rootOf(o.queue))
	o.s.put(o)
	o.watch()
	if o.opening == nil {
		o.answer(a)
	}
}

func (o *outgoingLink) answer(a *frames.Attach) {
	answer := o.s.accepted(a)
	answer.MaxMessageSize, answer.HasMaxMessageSize = unlimited, true
	o.selector.describe(answer)
	if o.accept != nil {
		o.describeSession(answer)
	}
	o.s.write(answer)
}

// lookUp finds the entity of the link's address, and lets faults hit the attach.
func (l *link) lookUp(claim sas.Claims) error {
	if err := l.find(claim); err != nil {
		return err
	}
	return l.hitAttach()
}

// find finds the entity of the link's address and checks that the connection has a right there; an empty claim stands
// for any.
func (l *link) find(claim sas.Claims) error {
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
	return nil
}

// noDynamic answers a client that asks for a dynamic node.
const noDynamic = "There are no dynamic nodes for a %s to be. Create a queue, " +
	"with AutoDeleteOnIdle if it is for a while only, and name its address."

// checkSource refuses sources that we can't serve. Leaving a filter out of the answer says that it is not in effect
// [AMQP 3.5.3], but few clients look, and a client that asked for some messages would take all of them.
func checkSource(a *frames.Attach) error {
	source := a.Source
	switch {
	case source == nil || !source.Dynamic && source.Address == "":
		return linkErrorf(amqp.CondNotImplemented,
			"The attach has no source. Name the address of a queue or subscription as the source of a receiver.")
	case source.Dynamic:
		return linkErrorf(amqp.CondNotImplemented, noDynamic, "source")
	}
	for _, f := range source.Filter {
		name, _ := amqp.AsString(f.Key)
		if name == keySessionFilter || f.Value == nil { // a null value means no such key [AMQP 3.5.8]
			continue
		}
		if isDescribedAs(f.Value, codeSelector, symbolSelector) || isDescribedAs(f.Value, codeNoLocal, symbolNoLocal) {
			continue
		}
		// No quotation mark may come behind the link's name: .NET's client reads the rest.
		return linkErrorf(amqp.CondNotAllowed, "The link '%s' contains invalid filter type. System only support Jms "+
			"or Apache selector filter type. Found %s; receivers of Minibus can have the filter %s only.",
			sas.Clip(a.LinkName), filterName(name, f.Value), keySessionFilter)
	}
	return nil
}

// filterName names a filter by its key and, if it has one, its type.
func filterName(key string, value any) string {
	name := sas.Clip(key)
	described, ok := value.(amqp.Described)
	if !ok {
		return name
	}
	if symbol, ok := amqp.AsString(described.Descriptor); ok {
		return fmt.Sprintf("%s (%s)", name, sas.Clip(symbol))
	}
	if code, ok := described.Descriptor.(uint64); ok {
		return fmt.Sprintf("%s (%#016x)", name, code)
	}
	return name
}
