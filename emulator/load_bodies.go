package emulator

import "sync/atomic"

// sharedBody is the counts of a body that may have several copies.
type sharedBody struct {
	stored atomic.Int32
	here   map[*Topic]*copies // by the topic whose subscriptions have them; nil for queues
}

// body returns the payload of a record. Of the copies that share a body, the one whose row is the body's own is not known
// to be one before all are loaded: settleLocked counts it.
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
