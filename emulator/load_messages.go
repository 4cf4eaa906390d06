package emulator

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
)

// arrivals collects the messages that are loaded into a sub-queue, in the journal's order. It packs at once what can
// be packed, so that a deep queue needs no more memory while it is loaded than afterwards.
type arrivals struct {
	packed []chunk
	mixed  bool // packed is not in order
	loose  []*entry
}

// LoadMessage takes in one message.
func (l *loader) LoadMessage(r *MessageRecord) error {
	q, err := l.entity(r.Entity)
	if err != nil {
		return fmt.Errorf("message %d: %w", r.Row, err)
	}
	if int(r.Sub) >= len(q.messages.subQueues) || r.State > Scheduled {
		return fmt.Errorf("message %d of %q has sub-queue %d and state %d, which do not exist", r.Row, q.path, r.Sub,
			r.State)
	}
	l.lastRow = max(l.lastRow, r.Row, r.Body)
	r.Enqueued = min(r.Enqueued, l.now)
	b := &q.messages.subQueues[r.Sub]
	a := l.arrived[b]
	if a == nil {
		a = &arrivals{}
		l.arrived[b] = a
	}
	var s *session
	if q.options.RequiresSession && r.Sub == Main && r.HasSession {
		s = q.sessions.get(r.SessionID)
	}
	if r.onlyNumbers() && b.partitions == nil {
		a.pack(r, s, b.shape().chunk)
		return nil
	}
	e := &entry{
		seq: r.Seq, first: r.EnqueuedSeq, enqueued: r.Enqueued, ttl: r.TTL, row: r.Row,
		count: r.DeliveryCount, state: r.State, sub: r.Sub,
		body: l.body(q, r), session: s,
	}
	e.extra = extra{
		due: r.Scheduled, overlay: r.Overlay, system: r.System, reason: r.Reason,
		hops: r.Hops, source: nameOf(r.Source),
	}.kept()
	a.loose = append(a.loose, e)
	return nil
}

// onlyNumbers reports whether the message's entry can be packed. The message may yet turn out to share its body with
// copies whose rows are not the body's own.
func (r *MessageRecord) onlyNumbers() bool {
	return r.State == Active && r.Body == r.Row && r.Scheduled == 0 && r.Overlay == nil && r.System == nil &&
		r.Reason == "" &&
		r.Hops == 0 && r.Source == ""
}

func (a *arrivals) pack(r *MessageRecord, s *session, size int) {
	n := len(a.packed)
	a.mixed = a.mixed || n > 0 && a.packed[n-1].last() > r.Seq
	if n == 0 || len(a.packed[n-1].packed) == size {
		a.packed = append(a.packed, chunk{packed: make([]packedEntry, 0, size)})
		n++
	}
	c := &a.packed[n-1]
	c.top = r.Seq
	c.packed = append(c.packed, packedEntry{
		seq: r.Seq, first: r.EnqueuedSeq, enqueued: r.Enqueued, ttl: r.TTL, row: r.Row,
		body: r.Body, size: uint32(r.Size), count: r.DeliveryCount,
	})
	if s != nil && c.sessions == nil {
		c.sessions = make([]*session, len(c.packed)-1, size)
	}
	if c.sessions != nil {
		c.sessions = append(c.sessions, s)
	}
}

// sort puts what is packed in order, in chunks of that size.
func (a *arrivals) sort(size int) {
	type arrival struct {
		packedEntry
		s *session
	}
	var all []arrival
	for i := range a.packed {
		c := &a.packed[i]
		for j := range c.packed {
			all = append(all, arrival{c.packed[j], c.sessions.at(j)})
		}
	}
	slices.SortFunc(all, func(x, y arrival) int { return cmp.Compare(x.seq, y.seq) })
	a.packed = a.packed[:0]
	for part := range slices.Chunk(all, size) {
		c := chunk{packed: make([]packedEntry, len(part)), top: part[len(part)-1].seq}
		for i := range part {
			if c.packed[i] = part[i].packedEntry; part[i].s != nil {
				c.sessions.put(i, part[i].s, len(part))
			}
		}
		a.packed = append(a.packed, c)
	}
}

// admitAllLocked lets what was loaded into a sub-queue become available in its order.
func (l *loader) admitAllLocked(q *Entity, b *subQueue) {
	a := l.arrived[b]
	if a == nil {
		return
	}
	delete(l.arrived, b)
	if a.mixed {
		a.sort(b.shape().chunk)
	}
	l.admitPackedLocked(q, b, a.packed)
	slices.SortFunc(a.loose, func(x, y *entry) int { return cmp.Compare(x.seq, y.seq) })
	for _, e := range a.loose {
		if len(l.bodies) > 0 && e.row == e.body.id {
			if shared := l.bodies[e.row]; shared != nil {
				shared.count(q, e.body)
			}
		}
		q.bodies.count(e.body)
		b.insert(e)
		b.admit(e)
		switch {
		case e.state == Scheduled:
			q.schedule.dues.add(e, e.extras().due)
		case e.ttl > 0 && e.sub == Main && !q.ns.common.lazy:
			q.alarm.expiries.add(e.seq, e.expires())
		}
	}
}

// admitPackedLocked makes chunks of packed entries all that b has.
func (l *loader) admitPackedLocked(q *Entity, b *subQueue, chunks []chunk) {
	b.chunks = chunks
	var shared []int64
	b.look(-1<<63, func(e *entry) bool {
		b.n++
		if e.session != nil {
			e.session.numbers.add(e.seq)
			e.session.available++
		} else {
			b.available++
		}
		b.bytes += e.body.counted()
		if e.ttl > 0 && e.sub == Main && !q.ns.common.lazy {
			q.alarm.expiries.add(e.seq, e.expires())
		}
		if len(l.bodies) > 0 && l.bodies[e.row] != nil {
			shared = append(shared, e.seq)
		} else {
			q.bodies.count(e.body)
		}
		return true
	})
	for _, seq := range shared {
		e := b.find(seq)
		l.bodies[e.row].count(q, e.body)
		q.bodies.count(e.body)
	}
}

// sharedBody is the counts of a body that may have several copies.
type sharedBody struct {
	stored atomic.Int32
	here   map[*Topic]*copies // by the topic whose subscriptions have them; nil for queues
}

// body returns the payload of a record. Of the copies that share a body, the one whose row is the body's own is not
// known to be one before all are loaded: settleLocked counts it.
func (l *loader) body(q *Entity, r *MessageRecord) *payload {
	p := &payload{id: r.Body, size: uint32(r.Size)}
	if r.Body == r.Row {
		return p
	}
	b := l.bodies[r.Body]
	if b == nil {
		b = &sharedBody{here: make(map[*Topic]*copies)}
		l.bodies[r.Body] = b
	}
	b.count(q, p)
	return p
}

// count counts a copy of the body.
func (b *sharedBody) count(q *Entity, p *payload) {
	var topic *Topic
	if q.subscription != nil {
		topic = q.subscription.topic
	}
	if b.here[topic] == nil {
		b.here[topic] = &copies{stored: &b.stored}
	}
	b.stored.Add(1)
	p.copies = b.here[topic]
}
