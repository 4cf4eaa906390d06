package amqpserver

import "minibus/internal/amqp/frames"

// outcome says how a delivery ended. Outcomes without an error can share a
// disposition; being comparable, equal neighbours are found cheaply.
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

// ranges collects the outcomes of one session and role and joins neighbours: hundreds of deliveries cost one
// disposition.
type ranges struct {
	role  frames.Role // ours
	some  bool
	first serial
	last  serial
	what  outcome
}

// add notes an outcome. If it does not continue the current range, that range is written first.
func (r *ranges) add(id serial, what outcome, write func(*frames.Disposition)) {
	// A range must not end in 0 unless it begins there: some clients read 0 as "no last" (amqp-data-plane 3.7).
	if r.some && id == r.last+1 && id != 0 && what == r.what {
		r.last = id
		return
	}
	r.flush(write)
	r.some, r.first, r.last, r.what = true, id, id, what
}

func (r *ranges) flush(write func(*frames.Disposition)) {
	if !r.some {
		return
	}
	r.some = false
	write(&frames.Disposition{
		Role: r.role, First: r.first, Last: r.last, HasLast: true, Settled: true, State: outcomeStates[r.what],
	})
}

// outcomes writes the outcomes of one session and role.
type outcomes struct {
	s *session
	ranges
}

// answer collects an outcome without an error.
func (o *outcomes) answer(id serial, what outcome) {
	if o.s.released {
		return
	}
	o.add(id, what, o.write)
	o.s.c.runQueue.markDirty(o.s)
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

func (o *outcomes) flush() { o.ranges.flush(o.write) }

func (o *outcomes) write(d *frames.Disposition) { o.s.write(d) }
