package emulator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// Remove removes messages of a sub-queue by their numbers, all or none, in one change, whatever the entity's status.
// Scheduled ones are cancelled. Those that a client has locked, or that are being changed, are not removed.
//
// An error means that c will not be called: CodeMessageNotFound names the numbers that are not there, CodeNotAllowed
// says who has a message and until when, and CodeArgument refuses more than [MaxBatchDelete] numbers.
func (ms Messages) Remove(sub SubQueue, seqs []int64, c Completion) error {
	q := ms.q
	seqs = slices.Compact(slices.Sorted(slices.Values(seqs)))
	if len(seqs) == 0 || len(seqs) > MaxBatchDelete {
		return errorf(CodeArgument, q.path, "The number of messages to remove must be between 1 and %d; it is %d.",
			MaxBatchDelete, len(seqs))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.use(); err != nil {
		return err
	}
	entries, err := ms.freeLocked(sub, seqs)
	if err != nil {
		return err
	}
	q.usage.touch(q.ns.Now())
	op := newTransition(q, len(entries), By(clientOf(c), CompletionFunc(func(err error) {
		q.mu.Lock()
		for _, e := range entries {
			q.sessions.unblock(e)
		}
		q.mu.Unlock()
		c.Completed(err)
	})))
	for _, e := range entries {
		q.messages.takeAside(e)
		event := EventPurged
		if e.state == Scheduled {
			event = EventCancelled
		}
		op.removeLocked(e, event, backTo(e))
	}
	op.appendLocked()
	return nil
}

// takeAside takes a free message out of the reach of consumers, to be changed. Its session, if it is in one, is blocked
// until [sessionTable.unblock]: others must not overtake it if it comes back.
func (m *messages) takeAside(e *entry) {
	b := m.q.subQueue(e.sub)
	if e.state == Active {
		b.take(e, markBusy)
		m.q.sessions.block(e)
	} else {
		b.remark(e, markBusy)
	}
}

// backTo is the fallback of a message that is taken aside.
func backTo(e *entry) fallback {
	if e.state == Scheduled {
		return fallback{undo: undoReschedule}
	}
	return fallback{undo: undoFree}
}

// freeLocked returns the messages with the numbers, or says which are not there or not free.
func (ms Messages) freeLocked(sub SubQueue, seqs []int64) ([]*entry, error) {
	q := ms.q
	entries := make([]*entry, 0, len(seqs))
	var missing []string
	var held error
	for _, seq := range seqs {
		e := q.subQueue(sub).find(seq)
		switch {
		case e == nil:
			missing = append(missing, fmt.Sprint(seq))
		case e.mark != markFree && held == nil:
			held = ms.heldLocked(e)
		}
		entries = append(entries, e)
	}
	if len(missing) == 1 {
		return nil, errorf(CodeMessageNotFound, q.path, "There is no message with the sequence number %s.", missing[0])
	}
	if len(missing) > 1 {
		return nil, errorf(CodeMessageNotFound, q.path, "There are no messages with the sequence numbers %s.",
			strings.Join(missing, ", "))
	}
	return entries, held
}

// heldLocked says who has a message that is not free.
func (ms Messages) heldLocked(e *entry) error {
	q := ms.q
	switch s := ms.viewLocked(e); {
	case e.mark == markLocked:
		return errorf(CodeNotAllowed, q.path,
			"The message %d of '%s' is locked by %s until %s. Settle it there, or wait until the lock ends.",
			e.seq, q.path, s.HeldBy(), time.UnixMilli(s.LockedUntil).UTC().Format(time.RFC3339))
	case e.mark == markMoving:
		return errorf(CodeNotAllowed, q.path,
			"The message %d of '%s' is being forwarded, or waits because its target can't take it.", e.seq, q.path)
	}
	return errorf(CodeNotAllowed, q.path,
		"The message %d of '%s' is being settled or moved at this moment. Look again.", e.seq, q.path)
}

// latest is the end of the service's time, in milliseconds.
const latest = 253402300799999

// Reschedule changes the time at which a scheduled message becomes active, in milliseconds, in one change. The
// message keeps its number, so clients that know it can still cancel it. A time that has come makes it active at
// once. Other messages are not scheduled by it.
//
// An error means that c will not be called: CodeMessageNotFound if there is no such message, CodeNotAllowed if it is
// not scheduled or is being changed, and CodeArgument for a time that the service does not have.
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
	x := *e.extras()
	x.due, x.system = at, message.MergeProperties(e.extras().system, told.Bytes())
	r := e.record(op.q.id)
	r.Scheduled, r.System = x.due, x.system
	op.addLocked(step{e: e, effect: effectReschedule, event: EventRescheduled,
		fallback: fallback{undo: undoReschedule}, extra: x.kept()}, Op{Kind: OpUpdate, Record: r})
}

// move gives a scheduled message another time. The change is committed. What is due is activated here, since no timer
// of a frozen clock fires.
func (s *schedule) move(e *entry, x *extra, now int64) {
	old, b := e.extras().due, s.q.subQueue(Main)
	b.tally(e, -1)
	e.extra, e.mark = x, markFree
	b.tally(e, 1)
	s.dues.remove(old)
	if e.extras().due <= now {
		s.activate([]*entry{e}, now)
		return
	}
	s.q.alarm.watch(e)
}

// MaxBatchDelete is how many messages one call deletes at most (BDEL-2).
const MaxBatchDelete = 4000

// DeleteBatch deletes up to max available messages of a sub-queue that were enqueued at or before the given instant,
// in milliseconds, the oldest first (BDEL-1, BDEL-5); locked, deferred and scheduled ones stay (BDEL-3, DEC-33). On
// an entity with sessions it works on the session of holder (BDEL-4). client asks for it. done is called once with
// how many are gone. A synchronous error means that it will not be called: CodeArgument for a max out of range.
func (q *Entity) DeleteBatch(sub SubQueue, limit int, before int64, holder *Consumer, client *Client,
	done func(int, error)) error {
	if limit <= 0 || limit > MaxBatchDelete {
		return errorf(CodeArgument, q.path, "The number of messages to delete must be between 1 and %d; it is %d.",
			MaxBatchDelete, limit)
	}
	q.mu.Lock()
	if err := q.may.takeFrom(sub, holder, "Messages", "deleted"); err != nil {
		q.mu.Unlock()
		return err
	}
	q.usage.touch(q.ns.Now())
	var s *session
	if holder != nil && sub == Main {
		s = holder.session
	}
	found := q.subQueue(sub).takeOld(limit, before, s)
	n := len(found)
	newRemoval(q, found, EventPurged, fallback{undo: undoFree}, By(client, CompletionFunc(func(err error) {
		if err != nil {
			n = 0
		}
		done(n, err)
	}))).appendLocked()
	q.mu.Unlock()
	return nil
}

// takeOld takes the oldest available messages, with a session only its own.
func (b *subQueue) takeOld(limit int, before int64, s *session) []*entry {
	var found []*entry
	if b.partitions != nil && s == nil { // numbers of different partitions do not tell what is older
		for len(found) < limit {
			e := b.nextReady()
			if e == nil || e.enqueued > before {
				break
			}
			b.take(e, markBusy)
			found = append(found, e)
		}
		return found
	}
	v := messageIterator(&b.log)
	if s != nil {
		v = sessionMessages{s, &b.log}
	}
	var seqs []int64
	v.look(-1<<63, func(e *entry) bool {
		if e.ready() && e.enqueued <= before {
			seqs = append(seqs, e.seq)
		}
		return len(seqs) < limit
	})
	for _, seq := range seqs {
		e := b.find(seq)
		b.take(e, markBusy)
		found = append(found, e)
	}
	return found
}
