package emulator

import (
	"slices"
	"sync/atomic"

	"minibus/internal/amqp/message"
)

// publication is messages on their way through a topic, being written: one change with their copies in all
// subscriptions, and those that are scheduled in the topic itself. It is made and appended under the topic's mutex,
// with those of the subscriptions taken one at a time inside it; it is completed one entity after another.
type publication struct {
	transition       // of the topic: messages that are scheduled, and those of them that have become due
	held       bool  // the maker holds the mutexes of all subscriptions
	sent       int64 // messages that were not scheduled
	copied     []*entitySteps
	room       []entitySteps  // for more of them
	lent       *[]entitySteps // the first room, whole; the topic gets it back at the end
	alike      bool           // what differs from its last copy in its place alone can join it
	passed     []happened     // what to record of the topic
	bytes      int64          // of the bodies that have copies
}

// newPublicationLocked makes the change that sends messages to a topic.
func (t *Topic) newPublicationLocked(in []incoming, n numbering, held bool, c Completion) *Change {
	op := t.publicationLocked(held, c)
	now := t.ns.Now()
	op.eachLocked(in, n, now, func(i int, seq int64, _ bool) { op.takeLocked(&in[i], seq, now) })
	op.endLocked()
	t.weight.Store(int64(len(op.change.Ops) / max(len(in), 1)))
	if w, ok := c.(Weighed); ok {
		w.Weighs(len(op.change.Ops))
	}
	return &op.change
}

// SendWeight returns about how many operations the journal makes of a message that is sent to a topic; 0 of a queue.
func (q *Entity) SendWeight() int64 {
	if q.topic == nil {
		return 0
	}
	return q.topic.weight.Load()
}

// Weighed is a [Completion] that learns what its change is, for a sender that is to have no more than so much under
// way.
type Weighed interface {
	// Weighs gets the number of the change's operations before it is appended, on the goroutine of the sender. It
	// must not block.
	Weighs(operations int)
}

func (t *Topic) publicationLocked(held bool, c Completion) *publication {
	op := &publication{held: held}
	op.begin(t.Entity, 1, op)
	op.done, op.client = c, clientOf(c)
	return op
}

// takeLocked adds one message: its copies, or, if it is scheduled, the message itself (SCHED-16).
func (op *publication) takeLocked(in *incoming, seq, now int64) {
	if in.waits(now) {
		op.storeLocked(in, seq, false, now) // endLocked writes the counters
		return
	}
	op.sent++
	o := &original{
		in: in, seq: seq, first: seq, at: now, ttl: op.q.options.effectiveTTL(in.info.TTL), body: op.q.ns.newRow(),
		hops: in.hops,
	}
	op.passLocked(EventSent, o, op.fanOutLocked(o))
}

// passLocked notes that a message goes through the topic, to be recorded.
func (op *publication) passLocked(kind EventKind, o *original, copies int) {
	if op.q.ns.common.record == nil {
		return
	}
	h := happened{kind: kind, seq: o.seq, first: o.first, body: o.body, value: -int64(copies) - 1, client: op.client,
		text: o.in.info.MessageID}
	if !o.in.info.HasMessageID {
		h.text = op.q.ns.ids.of(o.body)
	}
	h.text = op.q.ns.common.record.sentText(h.text, &o.in.m)
	op.passed = append(op.passed, h)
}

// fanOutLocked adds the copies of a message and returns how many. All of them share one body (QUO-4).
func (op *publication) fanOutLocked(o *original) int {
	list := op.q.topic.matchRulesLocked(o)
	op.q.topic.offered++
	if len(list) == 0 {
		return 0
	}
	proto := payload{id: o.body, data: op.q.ns.budget.retain(&o.in.m), size: uint32(len(o.in.m.Raw))}
	proto.copies = o.newCopies(int32(len(list)))
	op.bytes += proto.joint(len(list))
	op.alike = false
	row := o.body
	if o.stored {
		row = op.q.ns.newRows(len(list))
	}
	for i := range list {
		if i == 1 && !o.stored {
			row = op.q.ns.newRows(len(list) - 1)
		}
		if s := list[i].s; i == 0 || s != list[i-1].s {
			s.reach.selected, s.reach.last = s.reach.selected+1, o.at
		}
		op.copyLocked(list[i:], o, &proto, row)
		row++
	}
	return len(list)
}

// newCopies counts n new copies of a body.
func (o *original) newCopies(n int32) *copies {
	if o.of != nil {
		// The copy that goes through the topic counts until the change is committed.
		c := &copies{stored: o.of.stored, inMemory: o.of.inMemory}
		if !o.kept || c.inMemory == nil {
			c.inMemory = new(atomic.Int32) // its bytes are not those that the other copies have, if any
		}
		c.stored.Add(n)
		c.inTopic.Store(n)
		return c
	}
	if n == 1 {
		return nil
	}
	return newCopies(n)
}

// copyLocked adds the first copy of a list to its subscription, with a number of the subscription's own (SEQ-15,
// SEQ-21).
func (op *publication) copyLocked(list []copyOf, o *original, body *payload, row int64) {
	c := &list[0]
	p := op.stepsFor(c.s, len(list))
	q := p.q
	if !op.held {
		q.mu.Lock()
		defer q.mu.Unlock()
	}
	both := &struct {
		e entry
		p payload
	}{p: *body}
	e := &both.e
	e.seq = q.counters.draw(&p.drawn, q.counters.partitionOf(o.seq))
	e.first = o.first
	e.enqueued = o.at
	e.row = row
	e.body = &both.p
	e.ttl = q.options.effectiveTTL(c.ttl)
	c.s.placeLocked(e, c, o)
	p.expectLocked(e)
	last := &p.steps[len(p.steps)-1]
	last.event, last.text = EventCopied, c.rule
	op.insertCopyLocked(q, e, c, o, len(list))
}

// insertCopyLocked adds a copy to the change: to the operation that stores the copy before, if it differs in nothing
// but its place.
func (op *publication) insertCopyLocked(q *Entity, e *entry, c *copyOf, o *original, left int) {
	x := e.extras()
	alike := e.sub == Main && c.info == &o.in.info && x.overlay == nil && x.system == nil && x.reason == "" &&
		e.extras().source == ""
	if alike && op.alike && op.joinLocked(q, e, left) {
		return
	}
	op.alike = alike
	r := e.record(q.id)
	q.ns.ids.describe(&r, c.info)
	insert := Op{Kind: OpInsert, Record: r}
	if e.row == o.body && !o.stored {
		insert.Data = o.in.m.Raw
	}
	op.change.Ops = append(op.change.Ops, q.counters.markDrawn(insert))
}

// joinLocked adds a copy to the last operation, and reports whether it could. At most left copies are still to come.
func (op *publication) joinLocked(q *Entity, e *entry, left int) bool {
	last := &op.change.Ops[len(op.change.Ops)-1]
	r := &last.Record
	if e.body.id != r.Body || e.ttl != r.TTL || e.row != r.Row+int64(max(len(last.Copies), 1)) ||
		len(last.Copies) == MaxCopies {
		return false
	}
	if last.Copies == nil {
		last.Copies = make([]CopyRecord, 1, min(left+1, MaxCopies))
		last.Copies[0] = CopyRecord{Entity: r.Entity, Seq: r.Seq, Partition: last.Partition}
	}
	last.Copies = append(last.Copies,
		CopyRecord{Entity: q.id, Seq: e.seq, Partition: uint8(q.counters.partitionOf(e.seq))})
	return true
}

// placeLocked gives a copy what few messages have, and its place in the subscription: a session, or the dead-letter
// queue if it can't be delivered.
func (s *Subscription) placeLocked(e *entry, c *copyOf, o *original) {
	x := extra{hops: o.hops, source: o.source}
	if s.deadOnArrival(c, o, &x) {
		e.sub = DeadLetter
	} else if s.options.RequiresSession {
		e.session = s.sessions.get(c.info.GroupID)
	}
	if x.reason == "" {
		x.reason = o.reason
	}
	e.extra = x.kept()
}

// deadOnArrival reports whether a copy belongs into the dead-letter queue, and sets what was changed of it in x.
func (s *Subscription) deadOnArrival(c *copyOf, o *original, x *extra) bool {
	x.overlay = c.overlay
	x.system = c.system
	x.reason = c.reason
	switch {
	case c.reason != "": // TOP-10
		return true
	case s.options.RequiresSession && !c.info.HasGroupID: // SESS-3, DLQ-R4
		x.overlay, x.reason = deadLetterOverlay(x.overlay, sessionIDProperties())
		return true
	case o.overflows(x.overlay, x.system): // DLQ-R3
		x.overlay, x.reason = deadLetterOverlay(o.overlay, headerSizeProperties())
		x.system = o.system
		return true
	}
	return false
}

// overflows reports whether what rules have changed makes the message's properties longer than they may be (QUO-8).
// They are written out for that only where their parts together come near it: most of what a rule sets replaces
// something.
func (o *original) overflows(overlay, system []byte) bool {
	changed := len(overlay) + len(system)
	if changed == 0 || o.in.m.HeaderBytes()+changed <= maxHeaderBytes {
		return false
	}
	p := message.Patch{Properties: overlay, System: system, OmitBody: true}
	m, err := message.Scan(p.Append(nil, &o.in.m))
	return err != nil || m.HeaderBytes() > maxHeaderBytes
}

// stepsFor returns the steps of the publication in a subscription. Some others may be needed after them.
func (op *publication) stepsFor(s *Subscription, some int) *entitySteps {
	if s.copying == nil {
		if len(op.room) == 0 {
			op.room = op.newRoom(some)
			op.copied = slices.Grow(op.copied, some)
		}
		s.copying, op.room = &op.room[0], op.room[1:]
		s.copying.q, s.copying.client = s.Entity, op.client
		s.copying.steps = s.copying.one[:0]
		op.copied = append(op.copied, s.copying)
	}
	return s.copying
}

// newRoom returns room for the steps in at least n subscriptions. The first one of a publication is used again, and few
// need another.
func (op *publication) newRoom(n int) []entitySteps {
	if op.lent != nil {
		return make([]entitySteps, n)
	}
	op.lent, _ = op.q.topic.rooms.Get().(*[]entitySteps)
	if op.lent == nil || len(*op.lent) < n {
		room := make([]entitySteps, n)
		op.lent = &room
	}
	return *op.lent
}

// giveBack lets the topic's next publication have the first room.
func (op *publication) giveBack() {
	if op.lent == nil {
		return
	}
	clear((*op.lent)[:min(len(op.copied), len(*op.lent))])
	op.q.topic.rooms.Put(op.lent)
	op.copied, op.room, op.lent = nil, nil, nil
}

// endLocked ends the making: nothing is added any more. The topic's counters go into the change even if no
// subscription got a copy (TOP-2).
func (op *publication) endLocked() {
	for _, p := range op.copied {
		p.q.subscription.copying = nil
	}
	op.q.topic.match.forget()
	op.drawn.each(func(seq int64) {
		op.change.Ops = append(op.change.Ops,
			op.q.counters.markDrawn(Op{Kind: OpCounter, Record: MessageRecord{Entity: op.q.id, Seq: seq}}))
	})
}

// Completed lets every subscription have its copies, or takes everything back.
func (op *publication) Completed(err error) {
	q := op.q
	q.mu.Lock()
	op.completeLocked(err)
	if err == nil {
		q.traffic.Stored += op.sent
		now := q.ns.Now()
		for i := range op.passed {
			q.ns.common.record.add(q, now, &op.passed[i])
		}
	}
	q.mu.Unlock()
	if err == nil {
		q.topic.bytes.Add(op.bytes)
	}
	for _, p := range op.copied {
		p.q.mu.Lock()
		p.completeLocked(err)
		p.q.mu.Unlock()
	}
	op.giveBack()
	op.done.Completed(err)
}
