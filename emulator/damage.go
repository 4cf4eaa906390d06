package emulator

import "minibus/internal/amqp/message"

// A message whose body is damaged on disk can't be delivered as if it were whole, must not hold up those behind it, and must
// not vanish. So it goes to the dead-letter queue instead of its receiver. Receivers of the dead-letter queue, and peeks, get a
// substitute that names the damage and has the rest of the encoded message as its body.

const (
	bodyDamaged     = "BodyDamaged" // the reason of such dead-letterings
	bodyDamagedText = "The body of the message was damaged on disk. What is left of the encoded message is the body of this one."
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

// unfitLocked reports whether a delivery must not be made because its message's body is damaged, or is not there although the
// message is: held says so. Outside of the queue itself, where it can't be dead-lettered, the substitute is delivered.
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
func (u *undelivered) deadLetterDamaged(entries []*entry) {
	if len(entries) == 0 {
		return
	}
	if u.q.may.use() != nil {
		u.freeAll(entries)
		return
	}
	op := newTransition(u.q, len(entries), nil)
	for _, e := range entries {
		op.deadLetterLocked(e, e.count, deadLetterProperties(bodyDamaged, bodyDamagedText), EventDeadLettered, fallback{undo: undoRetryOwn})
	}
	op.appendLocked()
}
