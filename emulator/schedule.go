package emulator

import (
	"fmt"
	"strings"
)

// schedule has the scheduled messages of an entity. The entity's mutex guards it.
type schedule struct {
	q    *Entity
	dues deadlines[*entry]
}

func (s *schedule) init(q *Entity) {
	s.q = q
	s.dues = newDeadlines(s.stands, seqOf)
}

// stands reports whether a deadline is still that of an entry: its time, or, when that is over, a later one at which
// to try again.
func (s *schedule) stands(e *entry, at int64) bool {
	if e.mark == markRemoved || e.state != Scheduled {
		return false
	}
	return at == e.extras().due || at > e.extras().due && e.extras().due <= s.q.ns.Now()
}

// activate appends due messages at the tail, each with a new number and the present instant as its enqueued
// time (SCHED-9, SEQ-11, TIME-3). Until that is committed they are still scheduled.
func (s *schedule) activate(due []*entry, now int64) {
	if s.q.topic != nil {
		s.q.topic.publishDueLocked(due, now)
		return
	}
	op := newTransition(s.q, len(due), noCompletion)
	s.q.usage.touch(now) // until now the queue was in use (SCHED-26)
	for _, e := range due {
		if e.mark != markFree {
			continue // it was due twice: a failed cancel adds it once more
		}
		to := &entry{
			seq: s.q.counters.draw(&op.drawn, s.q.counters.partitionOf(e.seq)), first: e.first, enqueued: max(now,
				e.extras().due), ttl: e.ttl, row: e.row,
			body: e.body, session: e.session, state: Active, count: e.count,
		}
		x := *e.extras()
		x.due = 0
		to.extra = x.kept()
		op.replaceLocked(e, to, true, EventActivated, fallback{undo: undoDueLater})
	}
	op.appendLocked()
}

// CancelScheduled deletes scheduled messages by their numbers, all or none (SCHED-4, SCHED-14). It fails with
// CodeMessageNotFound, naming the missing numbers, if one of them is not scheduled (any more) (SCHED-8, SCHED-13).
func (q *Entity) CancelScheduled(seqs []int64, c Completion) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	found, err := q.schedule.find(seqs)
	if err != nil {
		return err
	}
	q.usage.touch(q.ns.Now())
	op := newRemoval(q, found, EventCancelled, fallback{undo: undoReschedule}, c)
	q.ns.faults.failJournalLocked(q, &op.change, OperationManage, Main, op.client)
	op.appendLocked()
	return nil
}

// putBack puts a scheduled message back whose removal failed or was rolled back. Its deadline was passed over if it
// came meanwhile, else it still stands.
func (s *schedule) putBack(e *entry) {
	e.mark = markFree
	if e.extras().due <= s.q.ns.Now() {
		s.dues.add(e, e.extras().due)
	}
	s.q.alarm.set(e.extras().due)
}

// find returns the scheduled messages with the given numbers, to cancel them, which takes the right to send.
func (s *schedule) find(seqs []int64) ([]*entry, error) {
	if err := s.q.may.send(); err != nil {
		return nil, err
	}
	if err := s.q.may.browse(Main); err != nil {
		return nil, err
	}
	var found []*entry
	var missing []string
	seen := make(map[int64]bool, len(seqs))
	for _, seq := range seqs {
		e := s.q.subQueue(Main).findLoose(seq)
		if e == nil || e.state != Scheduled || e.mark != markFree || seen[seq] {
			missing = append(missing, fmt.Sprint(seq))
			continue
		}
		seen[seq] = true
		found = append(found, e)
	}
	if len(missing) > 0 {
		return nil, errorf(CodeMessageNotFound, s.q.path,
			"Messages not found. Missing sequence numbers: %s", strings.Join(missing, ","))
	}
	return found, nil
}

// reservation is numbers that are being drawn for messages that a transaction schedules (SCHED-19): they are told
// before the messages are stored, and are used up even if the transaction is rolled back. If they can't be written
// they are given to others; then the transaction can't be committed.
type reservation struct {
	change     Change
	q          *Entity
	seqs       []int64
	drawn      drawn
	dependency dependency // of the change, for a commit that is appended behind it before it is written
	failed     error      // guarded by the queue's mutex; for a commit that comes later
}

// newReservation draws numbers for messages that are scheduled in a transaction.
func newReservation(q *Entity, in []incoming) *reservation {
	r := &reservation{q: q, seqs: make([]int64, 0, len(in))}
	r.change.Done = r
	t := r.change.tie()
	t.dependents = append(t.dependents, &r.dependency)
	partition := q.counters.choose(&in[0])
	for range in {
		seq := q.counters.draw(&r.drawn, partition)
		r.seqs = append(r.seqs, seq)
		r.change.Ops = append(r.change.Ops, q.counters.markDrawn(Op{Kind: OpCounter, Record: MessageRecord{Entity: q.id,
			Seq: seq}}))
	}
	q.ns.journal.Append(&r.change)
	return r
}

// Completed notes whether the numbers are the messages' own.
func (r *reservation) Completed(err error) {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	r.drawn.end(err)
	r.failed = err
}
