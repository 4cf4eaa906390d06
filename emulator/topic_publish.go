package emulator

import (
	"slices"
	"sync/atomic"

	"minibus/internal/amqp/message"
)

// publication is messages on their way through a topic, being written: one change with their copies in all subscriptions,
// and those that are scheduled in the topic itself. It is made and appended under the topic's mutex, with those of the
// subscriptions taken one at a time inside it; it is completed one entity after another.
type publication struct {
	storing
	held  bool     // the maker holds the mutexes of all subscriptions
	given bool     // the numbers were drawn before
	own   []*entry // scheduled messages
	sent  int64    // messages that were not scheduled
	parts []*part
	bytes int64    // of the bodies that have copies
	grown []growth // bodies of which there were copies before
	olds  []*entry // scheduled messages that have become due, in the topic
	lost  []*entry // those of them that nobody gets
}

// part is what one subscription gets of a publication.
type part struct {
	q       *Queue
	drawn   drawn
	entries []*entry
	one     [1]*entry
}

// growth is copies that were added to a body's count, to be taken back if the commit fails.
type growth struct {
	stored *atomic.Int32
	by     int32
}

// newPublicationLocked makes the change that sends messages to a topic.
func (q *Queue) newPublicationLocked(in []incoming, n numbering, held bool, c Completion) *Change {
	op := q.publicationLocked(held, c)
	op.given = n.given != nil
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
	op.finishLocked()
	return &op.change
}

func (q *Queue) publicationLocked(held bool, c Completion) *publication {
	op := &publication{held: held}
	op.q, op.done = q, c
	op.change.Done = op
	return op
}

// takeLocked adds one message: its copies, or, if it is scheduled, the message itself (SCHED-16).
func (op *publication) takeLocked(in *incoming, seq, now int64) {
	if in.info.HasScheduled && int64(in.info.Scheduled) > now {
		op.keepLocked(in, seq, now)
		return
	}
	op.sent++
	op.fanOutLocked(&original{
		in: in, seq: seq, first: seq, at: now, ttl: op.q.effectiveTTLLocked(in.info.TTL), body: op.q.ns.newRow(),
		hops: in.hops,
	})
}

// keepLocked adds a scheduled message.
func (op *publication) keepLocked(in *incoming, seq, now int64) {
	q := op.q
	e := q.newEntryLocked(in, seq, now)
	q.box(Main).expect(e)
	op.own = append(op.own, e)
	r := e.record(q.id)
	q.describe(&r, &in.info)
	op.change.Ops = append(op.change.Ops, Op{Kind: OpInsert, Record: r, Data: in.m.Raw})
}

// fanOutLocked adds the copies of a message and returns how many. All of them share one body (QUO-4).
func (op *publication) fanOutLocked(o *original) int {
	list := op.q.fan.copiesLocked(op.q.ns, o)
	if len(list) == 0 {
		return 0
	}
	proto := payload{id: o.body, data: op.q.ns.ownBytes(&o.in.m), size: uint32(len(o.in.m.Raw))}
	proto.copies = op.countLocked(o, int32(len(list)))
	op.bytes += proto.joint(len(list))
	op.change.Ops = slices.Grow(op.change.Ops, len(list)+1)
	for i := range list {
		body := proto
		op.copyLocked(&list[i], o, &body, i == 0)
	}
	return len(list)
}

// countLocked counts the new copies of a body.
func (op *publication) countLocked(o *original, n int32) *copies {
	if o.of != nil {
		// The copy that goes through the topic is counted already, and will be no more.
		c := &copies{stored: o.of.stored, shown: o.of.shown}
		if !o.kept || c.shown == nil {
			c.shown = new(atomic.Int32) // its bytes are not those that the other copies have, if any
		}
		c.stored.Add(n - 1)
		c.here.Store(n)
		op.grown = append(op.grown, growth{c.stored, n - 1})
		return c
	}
	if n == 1 {
		return nil
	}
	return newCopies(n)
}

// copyLocked adds one copy to its subscription, with a number of the subscription's own (SEQ-15, SEQ-21).
func (op *publication) copyLocked(c *copyOf, o *original, body *payload, first bool) {
	p := op.partOf(c.s)
	q := p.q
	if !op.held {
		q.mu.Lock()
		defer q.mu.Unlock()
	}
	e := &entry{
		seq: q.drawLocked(&p.drawn, q.partitionOf(o.seq)), first: o.first, enqueued: o.at,
		ttl: q.effectiveTTLLocked(c.ttl), row: o.body, body: body,
	}
	if !first || o.stored {
		e.row = q.ns.newRow()
	}
	q.placeLocked(e, c, o)
	q.box(e.sub).expect(e)
	p.entries = append(p.entries, e)
	r := e.record(q.id)
	q.describe(&r, c.info)
	insert := Op{Kind: OpInsert, Record: r}
	if first && !o.stored {
		insert.Data = o.in.m.Raw
	}
	op.change.Ops = append(op.change.Ops, q.drawing(insert))
}

// placeLocked gives a copy what few messages have, and its place in the subscription: a session, or the dead-letter queue
// if it can't be delivered.
func (q *Queue) placeLocked(e *entry, c *copyOf, o *original) {
	x := extra{overlay: c.overlay, system: c.system, reason: c.reason, hops: o.hops, source: o.source}
	switch {
	case c.reason != "": // TOP-10
		e.sub = DeadLetter
	case q.options.RequiresSession && !c.info.HasGroupID: // SESS-3, DLQ-R4
		e.sub = DeadLetter
		x.overlay, x.reason = deadLetterOverlay(x.overlay, sessionIDProperties())
	case o.overflows(x.overlay, x.system): // DLQ-R3
		e.sub = DeadLetter
		x.overlay, x.reason = deadLetterOverlay(o.overlay, headerSizeProperties())
		x.system = o.system
	case q.options.RequiresSession:
		e.session = q.sessionLocked(c.info.GroupID)
	}
	if x.reason == "" {
		x.reason = o.reason
	}
	e.setExtra(x)
}

// overflows reports whether what rules have changed makes the message's properties longer than they may be (QUO-8). They
// are written out for that only where their parts together come near it: most of what a rule sets replaces something.
func (o *original) overflows(overlay, system []byte) bool {
	changed := len(overlay) + len(system)
	if changed == 0 || o.in.m.HeaderBytes()+changed <= maxHeaderBytes {
		return false
	}
	p := message.Patch{Properties: overlay, System: system, OmitBody: true}
	m, err := message.Scan(p.Append(nil, &o.in.m))
	return err != nil || m.HeaderBytes() > maxHeaderBytes
}

// partOf returns the publication's part of a subscription.
func (op *publication) partOf(s *subscription) *part {
	if s.part == nil {
		s.part = &part{q: s.q}
		s.part.entries = s.part.one[:0]
		op.parts = append(op.parts, s.part)
	}
	return s.part
}

// finishLocked ends the making: nothing is added any more. The topic's counters go into the change even if nobody got a
// copy (TOP-2).
func (op *publication) finishLocked() {
	for _, p := range op.parts {
		p.q.subscription.part = nil
	}
	op.q.fan.match.forget()
	op.drawn.each(func(seq int64) {
		op.change.Ops = append(op.change.Ops, op.q.drawing(Op{Kind: OpCounter, Record: MessageRecord{Entity: op.q.id, Seq: seq}}))
	})
}

// Completed lets every subscription have its copies, or takes everything back.
func (op *publication) Completed(err error) {
	q := op.q
	q.mu.Lock()
	op.endLocked(err)
	q.landLocked(op.own, err)
	op.endDueLocked(err)
	if err == nil {
		q.traffic.Stored += op.sent
	}
	q.mu.Unlock()
	if err == nil {
		q.fan.bytes.Add(op.bytes)
	}
	for _, p := range op.parts {
		p.q.mu.Lock()
		p.drawn.end(err)
		p.q.landLocked(p.entries, err)
		p.q.mu.Unlock()
	}
	if err != nil {
		for _, g := range op.grown {
			g.stored.Add(-g.by)
		}
	}
	op.done.Completed(err)
}
