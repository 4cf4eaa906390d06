package emulator

import (
	"sync/atomic"

	"minibus/internal/amqp/message"
)

// Progress of a delivery on its way to the wire.
const (
	deliveryWaiting uint32 = iota // its body is being read, or its removal is being written
	deliveryReady
	deliveryLost   // its message was settled by its token meanwhile, or has no body
	deliveryFailed // the journal failed; its message is, or will be, available again
)

// Delivery is one message handed to one consumer.
type Delivery struct {
	// immutable
	q           *Entity
	e           *entry
	notify      func()
	mode        ReceiveMode
	lock        *Lock // nil of a message received and deleted
	seq         int64
	enqueued    int64
	ttl         int64
	until       int64
	enqueuedSeq int64
	bodyID      int64
	size        uint32
	count       uint32
	state       State
	withState   bool // the message state is told (PROP-6)
	omitBody    bool // PEEK-14
	damaged     bool // body is a substitute for one that is damaged; set with it
	overlay     []byte
	system      []byte
	source      string

	body     []byte // set before progress becomes ready
	progress atomic.Uint32

	// guarded by q.mu; ReceiveAndDelete only
	returned bool // the consumer gave it back
	removed  bool // its removal is committed
}

func newDelivery(q *Entity, e *entry, notify func()) *Delivery {
	d := &Delivery{
		q: q, e: e, notify: notify, mode: ReceiveAndDelete, seq: e.seq, enqueued: e.enqueued, ttl: e.ttl,
		enqueuedSeq: e.first, bodyID: e.body.id, size: e.body.size, count: e.count, state: e.state,
		overlay: e.extras().overlay, system: e.extras().system, source: e.extras().source,
	}
	if e.lock != nil {
		d.mode = PeekLock
		d.lock = e.lock
		d.until = e.lock.expires()
	}
	return d
}

// newPeekDelivery makes a delivery that only shows a message, even one that others have locked. It has no lock.
func newPeekDelivery(q *Entity, e *entry, notify func()) *Delivery {
	d := newDelivery(q, e, notify)
	d.e = nil
	d.lock = nil
	d.mode = ReceiveAndDelete
	d.until = 0
	return d
}

// Ready reports whether the delivery may be written. If it is neither ready nor gone, the consumer's notify says
// when to look again. A delivery that is gone must be skipped: its lock has ended, or its message could not be read or
// removed and is available again.
func (d *Delivery) Ready() (ready, gone bool) {
	if d.lock != nil && d.lock.over {
		return false, true
	}
	p := d.progress.Load()
	return p == deliveryReady, p >= deliveryLost
}

// Failed reports whether the delivery is gone because the journal failed. In a session what was delivered behind it
// must be given back then, or it overtakes the message (SESS-20).
func (d *Delivery) Failed() bool { return d.progress.Load() == deliveryFailed }

// Token returns the lock token; it is zero for messages received and deleted.
func (d *Delivery) Token() LockToken {
	if d.lock == nil {
		return LockToken{}
	}
	return d.lock.token
}

// Lock returns the message's lock; it is nil for messages received and deleted.
func (d *Delivery) Lock() *Lock { return d.lock }

// Seq returns the sequence number.
func (d *Delivery) Seq() int64 { return d.seq }

// DeliveryCount returns the number of earlier failed deliveries (DC-1).
func (d *Delivery) DeliveryCount() uint32 { return d.count }

// Bodiless reports whether the client sees the message without its body (PEEK-14).
func (d *Delivery) Bodiless() bool { return d.omitBody }

// Size returns the bytes of the message as its sender encoded it.
func (d *Delivery) Size() int { return int(d.size) }

// Append appends the encoded message as the client must see it. The delivery must be ready.
func (d *Delivery) Append(dst []byte) []byte {
	head, tail := d.AppendHead(dst)
	return append(head, tail...)
}

// AppendHead is Append without the end of the message, which it returns: the body and what follows it stand in the
// message as the client sees it as its sender wrote them, and a large body need not be copied. The caller must not
// change tail.
func (d *Delivery) AppendHead(dst []byte) (head, tail []byte) {
	m, err := message.Scan(d.body)
	if err != nil {
		return dst, nil // every stored message was scanned before
	}
	p := d.patch(&m)
	return p.AppendHead(dst, &m)
}

// patch returns what the broker changes in the message.
func (d *Delivery) patch(m *message.Message) message.Patch {
	p := message.Patch{
		DeliveryCount: d.count, TTL: d.ttl, SequenceNumber: d.seq, EnqueuedTime: message.Timestamp(d.enqueued),
		EnqueuedSequenceNumber: d.enqueuedSeq, HasEnqueuedSequenceNumber: d.enqueuedSeq != 0,
		State: int32(d.state), HasState: d.withState, Properties: d.overlay, System: d.system, OmitBody: d.omitBody,
		DeadLetterSource: d.source,
	}
	if d.q.counters.partitioned() {
		p.PartitionID, p.HasPartitionID = int16(partitionOf(d.seq)), true
	}
	p.LockedUntil, p.HasLockedUntil = message.Timestamp(d.until), d.until != 0 // PROP-3
	if d.mode == PeekLock {
		p.LockToken, p.HasLockToken = message.UUID(d.lock.token), true
	}
	if !m.HasMessageID() || d.system != nil {
		p.MessageID = d.q.ns.ids.of(d.bodyID)
	}
	return p
}

// filterMessage returns the message as selectors see it. It fails if the body is damaged.
func (d *Delivery) filterMessage() (filterMessage, error) {
	m, err := scanChanged(d.body, d.overlay, d.system)
	return filterMessage{m: m, ns: d.q.ns, body: d.bodyID, seq: d.seq, enqueued: d.enqueued, ttl: d.ttl,
		size: int64(d.size)}, err
}

func (d *Delivery) become(progress uint32, body []byte) {
	d.body = body
	d.progress.Store(progress)
}

// fetch is bodies that are being read for deliveries.
type fetch struct {
	read BodyRead
	q    *Entity
	ds   []*Delivery
	then func(err error) // called without the mutex when all bodies are there
}

// takeBodies makes deliveries ready whose bodies are in memory and returns the others.
func takeBodies(ds []*Delivery) (missing []*Delivery) {
	for _, d := range ds {
		if data := d.e.body.data; data != nil {
			d.become(deliveryReady, data)
		} else {
			missing = append(missing, d)
		}
	}
	return missing
}

// fetch makes deliveries ready, now or when their bodies were read from the journal.
func (b *bodies) fetch(ds []*Delivery) {
	if missing := takeBodies(ds); len(missing) > 0 {
		b.read(missing, func(err error) { finishFetch(b.q, missing, err) })
	}
}

// read reads the bodies of deliveries and calls then.
func (b *bodies) read(ds []*Delivery, then func(error)) {
	f := &fetch{q: b.q, ds: ds, then: then}
	for _, d := range ds {
		f.read.IDs = append(f.read.IDs, d.bodyID)
	}
	f.read.Done = f
	b.q.ns.journal.ReadBodies(&f.read)
}

// Completed hands the bodies to their deliveries.
func (f *fetch) Completed(err error) {
	if err == nil {
		for i, d := range f.ds {
			d.body = f.read.Bodies[i]
		}
		f.repair()
	}
	f.then(err)
}

// finishFetch ends a read for peek-locked deliveries. Those without a body are given up and their locks released;
// those whose body is damaged go to the dead-letter queue.
func finishFetch(q *Entity, ds []*Delivery, err error) {
	lost := deliveryLost
	if err != nil {
		lost = deliveryFailed
		q.ns.logger.Error("message bodies could not be read", "entity", q.path, "error", err)
	}
	q.mu.Lock()
	var rest, damaged []*entry
	for _, d := range ds {
		unfit := d.unfitLocked(err == nil && q.locks.byToken[d.lock.token] != nil)
		if d.body != nil && !unfit {
			d.become(deliveryReady, d.body)
			continue
		}
		d.become(lost, nil)
		switch e := q.failedDeliveries.unlock(d); {
		case e == nil:
		case unfit:
			damaged = append(damaged, e)
		default:
			rest = append(rest, e)
		}
	}
	q.failedDeliveries.freeAll(rest)
	q.failedDeliveries.deadLetterDamaged(damaged)
	q.mu.Unlock()
	ds[0].notify()
}

// unlock ends the lock of a message that does not reach its receiver, who knows that. It returns the entry, busy, or
// nil if the lock is over already.
func (f *failedDeliveries) unlock(d *Delivery) *entry {
	e := f.q.locks.byToken[d.lock.token]
	if e != nil {
		d.lock.kept = false
		f.q.locks.unlock(e)
	}
	return e
}

// A message whose body is damaged on disk can't be delivered as if it were whole, must not hold up those behind it,
// and must not vanish. So it goes to the dead-letter queue instead of its receiver. Receivers of the dead-letter
// queue, and peeks, get a substitute that names the damage and has the rest of the encoded message as its body.

const (
	bodyDamaged     = "BodyDamaged" // the reason of such dead-letterings
	bodyDamagedText = "The body of the message was damaged on disk. " +
		"What is left of the encoded message is the body of this one."
)

var bodyMissing = Damage{Why: "it is not there"}

// repair gives substitutes to the deliveries whose bodies are damaged.
func (f *fetch) repair() {
	for i, x := range f.read.Damaged {
		d := f.ds[i]
		f.q.bodies.tellDamage(d.seq, d.bodyID, x)
		d.body, d.damaged = substitute(x), true
	}
}

// tellDamage writes to the log which message is damaged, once for each body.
func (b *bodies) tellDamage(seq, body int64, x Damage) {
	if _, told := b.q.ns.damaged.LoadOrStore(body, true); !told {
		b.q.ns.logger.Error("the body of a message is damaged on disk; it is not delivered as if it were whole",
			"entity", b.q.path, "sequenceNumber", seq, "body", body, "damage", x.Why)
	}
}

// substitute encodes the message that stands for one whose body is damaged.
func substitute(x Damage) []byte {
	return message.Compose(deadLetterProperties(bodyDamaged, bodyDamagedText), x.Rest)
}

// unfitLocked reports whether a delivery must not be made because its message's body is damaged, or is not there
// although the message is: held says so. Outside of the queue itself, where it can't be dead-lettered, the substitute
// is delivered.
func (d *Delivery) unfitLocked(held bool) bool {
	if d.body == nil && held {
		d.q.bodies.tellDamage(d.seq, d.bodyID, bodyMissing)
		d.body, d.damaged = substitute(bodyMissing), true
	}
	return d.damaged && d.e.sub == Main
}

// of returns the i-th body of a read, which is that of e, or a substitute for it. The message is there.
func (b *bodies) of(e *entry, read *BodyRead, i int) (raw []byte, damaged bool) {
	if raw = read.Bodies[i]; raw != nil {
		return raw, false
	}
	x, told := read.Damaged[i]
	if !told {
		x = bodyMissing
	}
	b.tellDamage(e.seq, e.body.id, x)
	return substitute(x), true
}

// deadLetterDamaged takes messages out of the way of receivers. Their entries are busy.
func (f *failedDeliveries) deadLetterDamaged(entries []*entry) {
	if len(entries) == 0 {
		return
	}
	if f.q.may.use() != nil {
		f.freeAll(entries)
		return
	}
	op := newTransition(f.q, len(entries), nil)
	for _, e := range entries {
		op.deadLetterLocked(e, e.count, deadLetterProperties(bodyDamaged, bodyDamagedText), EventDeadLettered,
			fallback{undo: undoRetryOwn})
	}
	op.appendLocked()
}
