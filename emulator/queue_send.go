package emulator

import (
	"fmt"

	"minibus/internal/amqp/message"
)

// incoming is a message on its way in, checked but not numbered.
type incoming struct {
	raw  []byte
	info message.Info
}

// Send stores messages, all or none (SEQ-14), in their order. A message with a scheduled enqueue time in the future
// is stored as scheduled (SCHED-5, SCHED-21). The queue keeps the messages' bytes.
//
// An error means that nothing was stored and that c will not be called; otherwise c is told once whether the
// messages are durable. Errors: CodeNotFound, CodeEntityDisabled, CodeMessageTooLarge, CodeArgument.
func (q *Queue) Send(msgs []message.Message, c Completion) error {
	_, err := q.store(msgs, false, c)
	return err
}

// Schedule stores messages as Send does and returns the number of each, in their order, by which it can be
// cancelled while it is scheduled (SCHED-6). The numbers are valid once c was told of success. A message whose time
// has come, or that has none, becomes available at once (SCHED-11).
func (q *Queue) Schedule(msgs []message.Message, c Completion) ([]int64, error) {
	return q.store(msgs, true, c)
}

func (q *Queue) store(msgs []message.Message, numbers bool, c Completion) ([]int64, error) {
	if len(msgs) == 0 {
		c.Completed(nil) // QUO-14: an empty batch is legal
		return nil, nil
	}
	var one [1]incoming
	in := one[:0]
	if len(msgs) > 1 {
		in = make([]incoming, 0, len(msgs))
	}
	for i := range msgs {
		info, err := msgs[i].Info()
		if err != nil {
			return nil, &Error{Code: CodeArgument, Entity: q.path, Text: fmt.Sprintf("Message %d of %d is not valid", i+1, len(msgs)), Err: err}
		}
		in = append(in, incoming{raw: msgs[i].Raw, info: info})
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.canSendLocked(); err != nil {
		return nil, err
	}
	if err := q.fitLocked(in); err != nil {
		return nil, err
	}
	op := q.newSendLocked(in, c)
	var seqs []int64
	if numbers {
		seqs = make([]int64, len(op.entries))
		for i, e := range op.entries {
			seqs[i] = e.seq
		}
	}
	q.ns.journal.Append(&op.change)
	return seqs, nil
}

// fitLocked fails if one of the messages is larger than the queue takes (QUO-5).
func (q *Queue) fitLocked(in []incoming) error {
	limit := q.options.maxMessageBytes()
	for i := range in {
		if n := len(in[i].raw); int64(n) > limit {
			return errorf(CodeMessageTooLarge, q.path,
				"The message has %d bytes, which exceeds the limit of %d bytes for the entity '%s'.", n, limit, q.path)
		}
	}
	return nil
}

// sendOp is a send that is being written.
type sendOp struct {
	change  Change
	q       *Queue
	entries []*entry
	done    Completion
	one     [1]*entry
}

func (q *Queue) newSendLocked(in []incoming, c Completion) *sendOp {
	op := &sendOp{q: q, done: c}
	op.entries, op.change.Ops = op.one[:0], op.change.Single[:0]
	if len(in) > 1 {
		op.entries = make([]*entry, 0, len(in))
		op.change.Ops = make([]Op, 0, len(in))
	}
	op.change.Done = op
	now := q.ns.Now()
	q.touchLocked(now)
	q.drawing++
	for i := range in {
		e := q.newEntryLocked(&in[i], now)
		q.box(Main).expect(e)
		op.entries = append(op.entries, e)
		r := e.record(q.id)
		q.describe(&r, &in[i].info)
		op.change.Ops = append(op.change.Ops, Op{Kind: OpInsert, Record: r, Data: in[i].raw})
	}
	return op
}

func (q *Queue) newEntryLocked(in *incoming, now int64) *entry {
	row := q.ns.newRow()
	e := &entry{
		seq: q.drawLocked(), enqueued: now, row: row, ttl: q.effectiveTTLLocked(in.info.TTL),
		body: &payload{id: row, data: in.raw, size: uint32(len(in.raw)), refs: 1},
	}
	if due := int64(in.info.Scheduled); in.info.HasScheduled && due > now {
		e.state = Scheduled
		e.extra = &extra{due: due}
	}
	return e
}

// effectiveTTLLocked is the smaller of the message's and the entity's time to live, in milliseconds (EXP-1).
func (q *Queue) effectiveTTLLocked(ttl int64) int64 {
	if d := q.options.DefaultMessageTimeToLive.Milliseconds(); d > 0 && (ttl <= 0 || d < ttl) {
		return d
	}
	return max(ttl, 0)
}

// describe adds to the record what only people and duplicate detection read.
func (q *Queue) describe(r *MessageRecord, info *message.Info) {
	r.HasSession, r.SessionID = info.HasGroupID, info.GroupID
	r.MessageID = info.MessageID
	if !info.HasMessageID {
		r.MessageID = q.ns.madeID(r.Body)
	}
}

// Completed makes the messages visible, or takes them back.
func (op *sendOp) Completed(err error) {
	q := op.q
	q.mu.Lock()
	b := q.box(Main)
	q.drawnLocked(op.entries[len(op.entries)-1].seq, err)
	for _, e := range op.entries {
		if err != nil {
			b.forget(e)
			continue
		}
		q.settleBodyLocked(e.body)
		b.arrive(e)
		q.timeLocked(e)
	}
	b.wake()
	q.mu.Unlock()
	op.done.Completed(err)
}

// timeLocked arms the deadlines of an entry that has just come to rest in the main log.
func (q *Queue) timeLocked(e *entry) {
	switch {
	case e.state == Scheduled:
		q.dues.add(e, e.due())
		q.rearmLocked(e.due())
	case e.ttl > 0 && e.sub == Main:
		q.expiries.add(e, e.expires())
		q.rearmLocked(e.expires())
	}
}
