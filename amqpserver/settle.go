package amqpserver

import (
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqp/message"
)

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
	case *frames.TransactionalState: // [AMQP 4.4.2]
		v = verdictOf(&frames.Disposition{Settled: d.Settled, State: state.Outcome})
		v.transaction = state.TxnID
		if v.forget {
			v.forget = false
			v.refused = linkErrorf(amqp.CondInvalidField, "A settlement in a transaction needs an outcome.")
		}
	}
	if len(modified) > 0 {
		v.settlement.Properties, v.refused = encodeProperties(modified)
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
	plain := make(amqp.Map, 0, len(m))
	for _, p := range m {
		name, ok := amqp.AsString(p.Key)
		if !ok || message.Compound(p.Value) {
			return nil, linkErrorf(amqp.CondArgument,
				"The property '%s' to modify has a key or value of a type that properties can't have.", name)
		}
		plain = append(plain, amqp.Pair{Key: name, Value: p.Value})
	}
	encoded, err := message.EncodeProperties(plain)
	if err != nil {
		return nil, linkErrorf(amqp.CondArgument, "The properties to modify can't be stored: %v.", err)
	}
	return encoded, nil
}

// expiredError returns why a delivery whose lock has ended can't be settled.
func (o *outgoingLink) expiredError(v *verdict) amqpError {
	if v.transaction != nil {
		if _, err := o.s.c.transactions.join(v.transaction, rootOf(o.queue)); err != nil {
			return amqpErrorOf(err)
		}
	}
	return lockLost(o.entity())
}

// settleOp is one settlement on its way to the journal. It is reused.
type settleOp struct {
	s        *session
	id       serial
	echo     outcome
	quiet    bool
	refused  error
	link     *outgoingLink
	err      error
	injected *emulator.Fault // hits the answer; nil: none
}

// Completed implements emulator.Completion: it runs on the journal's goroutine.
func (op *settleOp) Completed(err error) {
	op.err = err
	op.s.c.mailbox.post(op)
}

func (op *settleOp) run(c *conn) {
	if (op.injected != nil || c.delayed != nil) && c.delay(&op.link.link, op.injected, op.answer) {
		return
	}
	op.answer()
}

func (op *settleOp) answer() {
	c, ds := op.s.c, &op.s.sent
	wasFull := ds.left() <= 0
	ds.settling--
	if op.err == nil && op.injected != nil && op.injected.Options().After && op.link.state != linkDetaching {
		_ = op.link.inject(op.injected, emulator.OperationSettle) // errEnded
	} else {
		op.answerWith(op.err)
	}
	op.link.answered()
	c.settleOps.put(op)
	ds.resume(wasFull)
}

// answerWith answers with the outcome that the client asked for, or with the error.
func (op *settleOp) answerWith(err error) {
	if op.refused != nil {
		err = op.refused
	}
	switch {
	case op.link.state == linkDetaching: // the peer has forgotten the delivery
	case err != nil:
		op.s.c.log.refusedErr("settle", op.link.entity(), err)
		if !op.quiet {
			op.s.settled.reject(op.id, op.id, finalError(op.link.amqpError(err)))
		}
	case !op.quiet:
		op.s.settled.answer(op.id, op.echo)
	}
}

// finalError gives a refused settlement a condition that every SDK reports to its caller. After a condition that is not
// final the Go SDK tries again, and go-amqp answers that by itself with success, since the delivery is settled: the
// application would take the message for done, and get it again. The text still says what is wrong.
func finalError(failure amqpError) amqpError {
	switch failure.condition {
	case amqp.CondInternal, amqp.CondServerBusy:
		failure.condition = amqp.CondResourceLimit
	case amqp.CondArgument:
		failure.condition = amqp.CondNotAllowed
	}
	return failure
}

// outcome says how a delivery ended. Outcomes without an error can share a disposition: they are comparable, so equal
// neighbours are found cheaply.
type outcome uint8

const (
	outcomeAccepted outcome = iota
	outcomeReleased
	outcomeAbandoned
	outcomeDeferred
	outcomeDeadLettered
)

// outcomeStates has the states that the service answers with: the type that the client asked for, without an error
// (amqp-data-plane 6.2). Clients compare the type.
var outcomeStates = [...]frames.DeliveryState{
	outcomeAccepted:     &frames.Accepted{},
	outcomeReleased:     &frames.Released{},
	outcomeAbandoned:    &frames.Modified{},
	outcomeDeferred:     &frames.Modified{UndeliverableHere: true},
	outcomeDeadLettered: &frames.Rejected{},
}

// outcomes collects and writes the outcomes of one session and role. It joins neighbours into a range: hundreds of
// deliveries cost one disposition.
type outcomes struct {
	s       *session
	role    frames.Role // ours
	write   func(frames.Performative)
	some    bool // there is a range
	first   serial
	last    serial
	outcome outcome
}

// answer collects an outcome without an error. If it does not continue the current range, that range is written first.
func (o *outcomes) answer(id serial, what outcome) {
	if o.s.released {
		return
	}
	if c := o.s.c; !o.s.dirty {
		o.s.dirty = true
		c.dirty = append(c.dirty, o.s)
	}
	// A range must not end in 0 unless it begins there: some clients read 0 as "no last" (amqp-data-plane 3.7).
	if o.some && id == o.last+1 && id != 0 && what == o.outcome {
		o.last = id
		return
	}
	o.flush()
	o.some = true
	o.first, o.last = id, id
	o.outcome = what
}

func (o *outcomes) flush() {
	if !o.some {
		return
	}
	o.some = false
	o.write(&frames.Disposition{
		Role: o.role, First: o.first, Last: o.last, HasLast: true, Settled: true, State: outcomeStates[o.outcome],
	})
}

// answerAs writes an outcome that can't be joined into ranges.
func (o *outcomes) answerAs(id serial, state frames.DeliveryState) { o.writeAs(id, id, state, true) }

// answerOpen writes the state of a delivery that stays unsettled (TXN-24).
func (o *outcomes) answerOpen(id serial, state frames.DeliveryState) { o.writeAs(id, id, state, false) }

// reject writes the outcome of deliveries that failed. The error is always present: clients read its fields.
func (o *outcomes) reject(first, last serial, failure amqpError) {
	o.writeAs(first, last, &frames.Rejected{Error: o.s.c.wireError(failure)}, true)
}

// rejectOpen is reject for a delivery that stays unsettled.
func (o *outcomes) rejectOpen(id serial, failure amqpError) {
	o.writeAs(id, id, &frames.Rejected{Error: o.s.c.wireError(failure)}, false)
}

func (o *outcomes) writeAs(first, last serial, state frames.DeliveryState, settled bool) {
	if o.s.released {
		return
	}
	o.flush()
	o.write(&frames.Disposition{Role: o.role, First: first, Last: last, HasLast: true, Settled: settled, State: state})
}
