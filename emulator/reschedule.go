package emulator

import (
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// latest is the end of the service's time, in milliseconds.
const latest = 253402300799999

// Reschedule changes the time at which a scheduled message becomes active, in milliseconds, in one change. The message keeps its number, so clients that
// know it can still cancel it. A time that has come makes it active at once. Other messages are not scheduled by it.
//
// An error means that c will not be called: CodeMessageNotFound if there is no such message, CodeNotAllowed if it is not scheduled or is being changed,
// and CodeArgument for a time that the service does not have.
func (ms Messages) Reschedule(seq, at int64, c Completion) error {
	q := ms.q
	if at <= 0 || at > latest {
		return errorf(CodeArgument, q.path, "The time must lie between the years 1970 and 9999.")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.use(); err != nil {
		return err
	}
	e := q.subQueue(Main).findLoose(seq)
	switch {
	case e == nil && !q.subQueue(Main).has(seq):
		return ms.missing(seq)
	case e == nil || e.state != Scheduled:
		return errorf(CodeNotAllowed, q.path, "The message %d of '%s' is not scheduled.", seq, q.path)
	case e.mark != markFree:
		return ms.heldLocked(e)
	}
	q.usage.touch(q.ns.Now())
	op := newTransition(q, 1, c)
	op.rescheduleLocked(e, at)
	op.appendLocked()
	return nil
}

// rescheduleLocked adds that e is scheduled for another time, which its receivers are told as well.
func (op *transition) rescheduleLocked(e *entry, at int64) {
	var told message.Overlay
	told.Add(message.SystemScheduled, amqp.AppendTimestamp(nil, amqp.Timestamp(at)))
	x := e.withExtra()
	x.due, x.system = at, message.MergeProperties(e.system(), told.Bytes())
	r := e.record(op.q.id)
	r.Scheduled, r.System = x.due, x.system
	op.addLocked(step{e: e, effect: effectReschedule, event: EventRescheduled, fallback: fallback{undo: undoReschedule}, extra: x.kept()}, Op{Kind: OpUpdate, Record: r})
}

// move gives a scheduled message another time. The change is committed. What is due is activated here, since no timer of a frozen clock fires.
func (s *schedule) move(e *entry, x *extra, now int64) {
	old, b := e.due(), s.q.subQueue(Main)
	b.tally(e, -1)
	e.extra, e.mark = x, markFree
	b.tally(e, 1)
	s.dues.remove(old)
	if e.due() <= now {
		s.activate([]*entry{e}, now)
		return
	}
	s.q.alarm.watch(e)
}
