package emulator

// reservation is numbers that are being drawn for messages that a transaction schedules (SCHED-19): they are told before
// the messages are stored, and are used up even if the transaction is rolled back. If they can't be written they are given to
// others; then the transaction can't be committed.
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
		r.change.Ops = append(r.change.Ops, q.counters.drawing(Op{Kind: OpCounter, Record: MessageRecord{Entity: q.id, Seq: seq}}))
	}
	q.ns.append(&r.change)
	return r
}

// Completed notes whether the numbers are the messages' own.
func (r *reservation) Completed(err error) {
	r.q.mu.Lock()
	defer r.q.mu.Unlock()
	r.drawn.end(err)
	r.failed = err
}
