package emulator

import "slices"

// storing is messages that are being written to an entity, whatever becomes of them there.
type storing struct {
	change    Change
	q         *Queue
	partition int          // of its messages
	keys      []remembered // new in the history
	fate      *fate        // of the change; nil while it has no keys
	drawn     drawn
	done      Completion
}

// numbering says which numbers messages get that are being stored. The zero value is the next ones.
type numbering struct {
	given []int64  // drawn before
	told  *[]int64 // where to put them, which duplicates then get too (DUP-7)
}

// storeLocked makes the change that stores messages, without appending it. On a topic, held says that the caller holds the
// mutexes of all its subscriptions.
func (q *Queue) storeLocked(in []incoming, n numbering, held bool, c Completion) *Change {
	if q.fan != nil {
		return q.newPublicationLocked(slices.Clone(in), n, held, c) // a copy: for a queue, the caller's stays on its stack
	}
	op := newSendOp(q)
	op.done, op.given = c, n.given != nil
	op.entries, op.change.Ops = op.one[:0], op.change.Single[:0]
	if len(in) > 1 {
		op.entries = make([]*entry, 0, len(in))
		op.change.Ops = make([]Op, 0, len(in))
	}
	now := q.ns.Now()
	q.touchLocked(now)
	op.partition = q.partitionForLocked(&in[0])
	for i := range in {
		r := op.nextLocked(in, i, n, now)
		if r.skip {
			continue
		}
		op.takeLocked(&in[i], r.seq, now)
		if r.remember {
			op.rememberLocked(r.key, now)
		}
	}
	return &op.change
}

// stored is what becomes of one message that is being stored.
type stored struct {
	seq      int64
	skip     bool // it is a duplicate: nothing is stored
	remember bool // under key
	key      historyKey
}

// nextLocked gives the i-th message its number, or finds that it is a duplicate, which gets a number only if somebody is
// told (SEQ-18).
func (s *storing) nextLocked(in []incoming, i int, n numbering, now int64) (r stored) {
	q := s.q
	duplicate := false
	r.key, r.remember, duplicate = s.knownLocked(&in[i], now)
	if r.skip = duplicate; duplicate && n.told == nil {
		return r
	}
	if n.given != nil {
		r.seq = n.given[i]
	} else {
		r.seq = q.drawLocked(&s.drawn, s.partition)
	}
	if n.told != nil {
		*n.told = append(*n.told, r.seq)
	}
	if duplicate {
		s.change.Ops = append(s.change.Ops, q.drawing(Op{Kind: OpCounter, Record: MessageRecord{Entity: q.id, Seq: r.seq}}))
	}
	return r
}

// knownLocked says whether a message is a duplicate (DUP-2) and, if not, whether it is to be remembered. As long as the
// message that it repeats is still being written, that may yet fail: then this change fails as well, for what it leaves out
// would be nowhere.
func (s *storing) knownLocked(in *incoming, now int64) (key historyKey, remember, duplicate bool) {
	key, remember, duplicate = s.q.rememberLocked(in, now)
	if first := s.q.history.writing[key]; duplicate && first != nil && first != s.fate {
		t := s.change.tie()
		t.needed = append(t.needed, first)
	}
	return key, remember, duplicate
}

func (s *storing) rememberLocked(key historyKey, now int64) {
	if s.fate == nil {
		s.fate = &fate{}
		t := s.change.tie()
		t.told = append(t.told, s.fate)
	}
	s.q.history.await(key, s.fate)
	s.keys = append(s.keys, remembered{key, now})
	s.change.Ops = append(s.change.Ops, Op{
		Kind: OpHistory, Record: MessageRecord{Entity: s.q.id, Enqueued: now}, Data: append([]byte(nil), key[:]...),
	})
}

// endLocked ends what the change did to the entity's counters and history.
func (s *storing) endLocked(err error) {
	s.drawn.end(err)
	for _, k := range s.keys {
		s.q.history.written(k.key)
		if err != nil {
			s.q.history.drop(k.key, k.at)
		}
	}
}

// sendOp is a send to a queue that is being written.
type sendOp struct {
	storing
	entries []*entry
	given   bool // the numbers were drawn before
	one     [1]*entry
}

// newSendOp makes one to which nothing is added yet and which nobody waits for.
func newSendOp(q *Queue) *sendOp {
	op := &sendOp{}
	op.q, op.done = q, CompletionFunc(func(error) {})
	op.change.Done = op
	return op
}

// takeLocked adds one message to the change.
func (op *sendOp) takeLocked(in *incoming, seq, now int64) {
	q := op.q
	e := q.newEntryLocked(in, seq, now)
	q.box(Main).expect(e)
	op.entries = append(op.entries, e)
	r := e.record(q.id)
	q.describe(&r, &in.info)
	o := Op{Kind: OpInsert, Record: r, Data: in.m.Raw}
	if !op.given {
		o = q.drawing(o)
	}
	op.change.Ops = append(op.change.Ops, o)
}

// Completed makes the messages visible, or takes them back.
func (op *sendOp) Completed(err error) {
	q := op.q
	q.mu.Lock()
	op.endLocked(err)
	q.landLocked(op.entries, err)
	q.mu.Unlock()
	op.done.Completed(err)
}
