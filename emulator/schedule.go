package emulator

import (
	"fmt"
	"strings"
)

// activateLocked appends due messages at the tail, each with a new number and the present instant as its enqueued
// time (SCHED-9, SEQ-11, TIME-3). Until that is committed they are still scheduled.
func (q *Entity) activateLocked(due []*entry, now int64) {
	if q.topic != nil {
		q.topic.publishDueLocked(due, now)
		return
	}
	op := newTransition(q, len(due), untold)
	q.touchLocked(now) // until now the queue was in use (SCHED-26)
	for _, e := range due {
		if e.mark != markFree {
			continue // it was due twice: a failed cancel adds it once more
		}
		to := &entry{
			seq: q.counters.draw(&op.drawn, q.counters.partitionOf(e.seq)), first: e.first, enqueued: max(now, e.due()), ttl: e.ttl, row: e.row,
			body: e.body, session: e.session, state: Active, count: e.count,
		}
		x := e.withExtra()
		x.due = 0
		to.setExtra(x)
		op.replaceLocked(e, to, true, eventNone, fallback{undo: undoDueLater})
	}
	op.appendLocked()
}

// CancelScheduled deletes scheduled messages by their numbers, all or none (SCHED-4, SCHED-14). It fails with
// CodeMessageNotFound, naming the missing numbers, if one of them is not scheduled (any more) (SCHED-8, SCHED-13).
func (q *Entity) CancelScheduled(seqs []int64, c Completion) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.send(); err != nil {
		return err
	}
	if err := q.may.browse(Main); err != nil {
		return err
	}
	found, err := q.findScheduledLocked(seqs)
	if err != nil {
		return err
	}
	q.touchLocked(q.ns.Now())
	newRemoval(q, found, fallback{undo: undoReschedule}, c).appendLocked()
	return nil
}

// rescheduleLocked puts a scheduled message back whose removal failed or was rolled back. Its deadline was passed over if it
// came meanwhile, else it still stands.
func (q *Entity) rescheduleLocked(e *entry) {
	e.mark = markFree
	if e.due() <= q.ns.Now() {
		q.alarm.dues.add(e, e.due())
	}
	q.alarm.set(e.due())
}

// findScheduledLocked returns the scheduled messages with the given numbers.
func (q *Entity) findScheduledLocked(seqs []int64) ([]*entry, error) {
	var found []*entry
	var missing []string
	seen := make(map[int64]bool, len(seqs))
	for _, s := range seqs {
		e := q.box(Main).findLoose(s)
		if e == nil || e.state != Scheduled || e.mark != markFree || seen[s] {
			missing = append(missing, fmt.Sprint(s))
			continue
		}
		seen[s] = true
		found = append(found, e)
	}
	if len(missing) > 0 {
		return nil, errorf(CodeMessageNotFound, q.path,
			"Messages not found. Missing sequence numbers: %s", strings.Join(missing, ","))
	}
	return found, nil
}
