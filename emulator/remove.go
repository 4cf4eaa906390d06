package emulator

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Remove removes messages of a sub-queue by their numbers, all or none, in one change, whatever the entity's status. Scheduled ones are cancelled. Those
// that a client has locked, or that are being changed, are not removed.
//
// An error means that c will not be called: CodeMessageNotFound names the numbers that are not there, CodeNotAllowed says who has a message and until
// when, and CodeArgument refuses more than [MaxBatchDelete] numbers.
func (ms Messages) Remove(sub SubQueue, seqs []int64, c Completion) error {
	q := ms.q
	seqs = slices.Compact(slices.Sorted(slices.Values(seqs)))
	if len(seqs) == 0 || len(seqs) > MaxBatchDelete {
		return errorf(CodeArgument, q.path, "The number of messages to remove must be between 1 and %d; it is %d.", MaxBatchDelete, len(seqs))
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
			q.sessions.open(e)
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

// takeAside takes a free message out of the reach of consumers, to be changed. Its session, if it is in one, is shut until
// [sessionTable.open]: others must not overtake it if it comes back.
func (m *messages) takeAside(e *entry) {
	b := m.q.subQueue(e.sub)
	if e.state == Active {
		b.take(e, markBusy)
		m.q.sessions.shut(e)
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
		return nil, errorf(CodeMessageNotFound, q.path, "There are no messages with the sequence numbers %s.", strings.Join(missing, ", "))
	}
	return entries, held
}

// heldLocked says who has a message that is not free.
func (ms Messages) heldLocked(e *entry) error {
	q := ms.q
	switch s := ms.viewLocked(e); {
	case e.mark == markLocked:
		return errorf(CodeNotAllowed, q.path, "The message %d of '%s' is locked by %s until %s. Settle it there, or wait until the lock ends.",
			e.seq, q.path, s.HeldBy(), time.UnixMilli(s.LockedUntil).UTC().Format(time.RFC3339))
	case e.mark == markMoving:
		return errorf(CodeNotAllowed, q.path, "The message %d of '%s' is being forwarded, or waits because its target can't take it.", e.seq, q.path)
	}
	return errorf(CodeNotAllowed, q.path, "The message %d of '%s' is being settled or moved at this moment. Look again.", e.seq, q.path)
}
