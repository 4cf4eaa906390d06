package amqpserver

import (
	"cmp"
	"slices"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqp/message"
)

// handleDisposition settles deliveries that the client has received [AMQP 2.7.6]. It ignores what the client says about
// deliveries that it has sent: we settle those.
func (s *session) handleDisposition(d *frames.Disposition) error {
	if d.Role != frames.RoleReceiver {
		return nil
	}
	if _, ok := d.State.(*frames.Received); (ok || d.State == nil) && !d.Settled {
		return nil // no outcome
	}
	last := d.First
	// One client takes a last of 0 for none, and may write it with that meaning.
	if d.HasLast && !serialLess(d.Last, d.First) {
		last = d.Last
	}
	wasFull := s.ringFull()
	v := verdictOf(d)
	if last == d.First {
		s.settleSingle(d.First, &v)
	} else {
		s.settleRange(d.First, last, &v)
	}
	if wasFull && !s.ringFull() {
		s.resume()
	}
	return nil
}

// ringFull reports whether the client cannot have more unsettled deliveries.
func (s *session) ringFull() bool { return len(s.unsettled)+s.settling >= s.ring }

// verdict says what a disposition does to each delivery that it names.
type verdict struct {
	settlement  emulator.Settlement
	transaction []byte // id of the transaction that it is part of; nil: none
	echo        outcome
	quiet       bool  // the client has settled and gets no answer
	forget      bool  // no outcome: the lock runs on
	refused     error // error of the disposition itself
}

// verdictOf reads the outcome of a disposition (LOCK-12; amqp-data-plane 6.1).
func verdictOf(d *frames.Disposition) verdict {
	v := verdict{quiet: d.Settled}
	var modified amqp.Map
	switch state := d.State.(type) {
	case nil, *frames.Received:
		v.forget = true
	case *frames.Accepted:
		v.settlement.Outcome, v.echo = emulator.Complete, outcomeAccepted
	case *frames.Released:
		v.settlement.Outcome, v.echo = emulator.Release, outcomeReleased
	case *frames.Modified:
		v.settlement.Outcome, v.echo = emulator.Abandon, outcomeAbandoned
		if state.UndeliverableHere {
			v.settlement.Outcome, v.echo = emulator.Defer, outcomeDeferred
		}
		modified = state.MessageAnnotations
	case *frames.Rejected:
		v.settlement.Outcome, v.echo = emulator.DeadLetterOutcome, outcomeDeadLettered
		modified = deadLetterProperties(state.Error)
	case *frames.TransactionalState:
		return verdictIn(d, state)
	}
	v.settlement.Properties, v.refused = encodeProperties(modified)
	return v
}

// verdictIn reads the outcome of a disposition that is part of a transaction [AMQP 4.4.2].
func verdictIn(d *frames.Disposition, state *frames.TransactionalState) verdict {
	v := verdictOf(&frames.Disposition{Settled: d.Settled, State: state.Outcome})
	v.transaction = state.TxnID
	if v.forget {
		v.forget, v.refused = false, linkErrorf(amqp.CondInvalidField, "A settlement in a transaction needs an outcome.")
	}
	return v
}

// deadLetterProperties returns the properties that a dead-lettering sets: reason and description, if given,
// and all other keys of the info map (LOCK-14, DLQ-8).
func deadLetterProperties(e *frames.Error) amqp.Map {
	if e == nil {
		return nil
	}
	var properties amqp.Map
	for _, p := range e.Info {
		name, _ := amqp.AsString(p.Key)
		if p.Value == nil && (name == emulator.DeadLetterReason || name == emulator.DeadLetterErrorDescription) {
			continue // not given
		}
		properties = append(properties, p)
	}
	return properties
}

// encodeProperties encodes modified properties as application properties: string keys, no compound values.
func encodeProperties(m amqp.Map) ([]byte, error) {
	if len(m) == 0 {
		return nil, nil
	}
	plain := make(amqp.Map, 0, len(m))
	for _, p := range m {
		name, ok := amqp.AsString(p.Key)
		if !ok || message.Compound(p.Value) {
			return nil, linkErrorf(amqp.CondArgument, "The property '%s' to modify has a key or value of a type that properties can't have.", name)
		}
		plain = append(plain, amqp.Pair{Key: name, Value: p.Value})
	}
	encoded, err := message.EncodeProperties(plain)
	if err != nil {
		return nil, linkErrorf(amqp.CondArgument, "The properties to modify can't be stored: %v.", err)
	}
	return encoded, nil
}

// settleSingle settles one delivery. To the client, an unknown delivery is one whose lock is lost.
func (s *session) settleSingle(id serial, v *verdict) {
	u, ok := s.unsettled[id]
	switch {
	case ok:
		s.settle(id, u, v)
	case s.gone(id):
	case !v.quiet:
		f := fault{condition: amqp.CondMessageLockLost, text: emulator.LockLostText}
		s.c.refused("settle", f)
		s.reject(&s.settled, id, f)
	default:
		s.refuseLapsed(id, id, v)
	}
}

// settleRange settles the unsettled deliveries of a range and ignores the others. A client's range
// may span four thousand million ids, so the work is bounded by the number of deliveries.
func (s *session) settleRange(first, last serial, v *verdict) {
	s.refuseLapsed(first, last, v)
	if span := int64(last-first) + 1; span <= int64(len(s.unsettled)) {
		for id := first; ; id++ {
			if u, ok := s.unsettled[id]; ok {
				s.settle(id, u, v)
			}
			if id == last {
				return
			}
		}
	}
	var ids []serial
	for id := range s.unsettled {
		if id-first <= last-first {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b serial) int { return cmp.Compare(a-first, b-first) })
	for _, id := range ids {
		if u, ok := s.unsettled[id]; ok { // a refused one may have ended the link
			s.settle(id, u, v)
		}
	}
}

// refuseLapsed rejects the deliveries of a range whose locks have ended (LOCK-7).
func (s *session) refuseLapsed(first, last serial, v *verdict) {
	for _, e := range s.links {
		o, ok := e.(*outgoing)
		if !ok || len(o.lapsed) == 0 {
			continue
		}
		o.lapsed.cut(first, last, func(r idRange) {
			o.touch()
			f := o.lapsedFault(v)
			s.c.refused("settle", f)
			switch {
			case !v.quiet:
				s.rejectAll(&s.settled, r.first, r.last, f)
			case v.transaction != nil: // as in tell
				s.endLink(o, f)
			}
		})
	}
}

// lapsedFault returns why a delivery whose lock has ended can't be settled.
func (o *outgoing) lapsedFault(v *verdict) fault {
	if v.transaction != nil {
		if _, err := o.s.c.join(v.transaction, rootOf(o.queue.Path())); err != nil {
			return faultOf(err)
		}
	}
	return fault{condition: amqp.CondMessageLockLost, text: emulator.LockLostText, entity: o.entity()}
}

// settle settles one delivery; the answer follows the commit.
func (s *session) settle(id serial, u unsettled, v *verdict) {
	delete(s.unsettled, id)
	u.link.touch()
	if v.forget {
		return
	}
	refused := v.refused
	if v.transaction != nil && refused == nil {
		if refused = s.settleIn(id, u, v); refused == nil {
			return
		}
	}
	op := s.c.settlings.get()
	op.s, op.id, op.echo, op.quiet, op.link = s, id, v.echo, v.quiet, u.link
	op.work = v.transaction != nil
	settlement := v.settlement
	if refused != nil {
		// A refused settlement still ends the delivery: the message becomes available again (LOCK-24).
		settlement, op.refused = emulator.Settlement{Outcome: emulator.Release}, refused
	}
	if err := u.link.consumer.Settle(u.lock, settlement, op); err != nil {
		op.tell(u.link.lockError(err))
		s.c.settlings.put(op)
		return
	}
	s.settling++
	u.link.owe()
}

// settling is one settlement on its way to the journal. It is reused.
type settling struct {
	s       *session
	id      serial
	echo    outcome
	quiet   bool
	work    bool // part of a transaction, which has refused it
	refused error
	link    *outgoing
	err     error
}

// Completed implements [emulator.Completion]: it runs on the journal's goroutine.
func (op *settling) Completed(err error) {
	op.err = err
	op.s.c.box.post(op)
}

var _ emulator.Completion = (*settling)(nil)

// run tells the client once the commit has succeeded or failed.
func (op *settling) run(c *conn) {
	s := op.s
	wasFull := s.ringFull()
	s.settling--
	op.tell(op.err)
	op.link.paid()
	c.settlings.put(op)
	if wasFull && !s.ringFull() {
		s.resume()
	}
}

// tell answers with the outcome that the client asked for, or with the error.
func (op *settling) tell(err error) {
	if op.refused != nil {
		err = op.refused
	}
	if op.link.mute() {
		return
	}
	if err == nil {
		if !op.quiet {
			op.s.answer(&op.s.settled, op.id, op.echo)
		}
		return
	}
	op.s.c.refusedErr("settle", op.link.entity(), err)
	f := believable(faultOf(err))
	if f.entity == "" {
		f.entity = op.link.entity()
	}
	switch {
	case !op.quiet:
		op.s.reject(&op.s.settled, op.id, f)
	case op.work: // or the client would commit the rest of the transaction without knowing
		op.s.endLink(op.link, f)
	}
}

// believable gives a refused settlement a condition that every SDK reports to its caller. After a condition that is not final the
// Go SDK tries again, and go-amqp answers that by itself with success, since the delivery is settled: the application would
// take the message for done, and get it again. The text still says what is wrong.
func believable(f fault) fault {
	switch f.condition {
	case amqp.CondInternal, amqp.CondServerBusy:
		f.condition = amqp.CondResourceLimit
	case amqp.CondArgument:
		f.condition = amqp.CondNotAllowed
	}
	return f
}
