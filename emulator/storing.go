package emulator

import "slices"

// numbering says which numbers messages get that are being stored. The zero value is the next ones.
type numbering struct {
	given   []int64  // drawn before; messages whose time has come by now draw others, in their turn (TXN-23)
	numbers *[]int64 // where to put them, which duplicates then get too (DUP-7)
}

// newSending makes the change that stores messages, without appending it. On a topic, held says that the caller holds the
// mutexes of all its subscriptions.
func newSending(q *Entity, in []incoming, n numbering, held bool, c Completion) *Change {
	if q.topic != nil {
		return q.topic.newPublicationLocked(slices.Clone(in), n, held, c) // a copy: for a queue, the caller's stays on its stack
	}
	op := newTransition(q, len(in), c)
	now := q.ns.Now()
	op.eachLocked(in, n, now, func(i int, seq int64, drawn bool) { op.storeLocked(&in[i], seq, drawn, now) })
	return &op.change
}

// eachLocked calls store for each of the messages that is no duplicate, with its number, and says whether that was drawn for it now.
func (op *transition) eachLocked(in []incoming, n numbering, now int64, store func(i int, seq int64, drawn bool)) {
	q := op.q
	q.usage.touch(now)
	partition := q.counters.choose(&in[0])
	for i := range in {
		key, remember, duplicate := op.knownLocked(&in[i], now)
		if duplicate {
			op.duplicateLocked(&in[i], now)
		}
		if duplicate && n.numbers == nil {
			continue // it gets a number only if the sender is told the number (SEQ-18)
		}
		drawn := n.given == nil || !in[i].waits(now)
		var seq int64
		if drawn {
			seq = q.counters.draw(&op.drawn, partition)
		} else {
			seq = n.given[i]
		}
		if n.numbers != nil {
			*n.numbers = append(*n.numbers, seq)
		}
		if duplicate {
			op.change.Ops = append(op.change.Ops, q.counters.drawing(Op{Kind: OpCounter, Record: MessageRecord{Entity: q.id, Seq: seq}}))
			continue
		}
		store(i, seq, drawn)
		if remember {
			op.rememberLocked(key, now)
		}
	}
}

// storeLocked adds one message; drawn says that its number was drawn for that.
func (op *transition) storeLocked(in *incoming, seq int64, drawn bool, now int64) {
	op.insertLocked(op.q.messages.newEntry(in, seq, now), in, drawn)
}

// insertLocked adds a new message.
func (op *transition) insertLocked(e *entry, in *incoming, drawn bool) {
	q := op.q
	op.expectLocked(e)
	r := e.record(q.id)
	q.ns.ids.describe(&r, &in.info)
	last := &op.steps[len(op.steps)-1]
	if last.text = r.MessageID; e.state == Scheduled {
		last.event = EventScheduled
	}
	o := Op{Kind: OpInsert, Record: r, Data: in.m.Raw}
	if drawn {
		o = q.counters.drawing(o)
	}
	op.change.Ops = append(op.change.Ops, o)
}

// knownLocked says whether a message is a duplicate (DUP-2) and, if not, whether it is to be remembered. As long as the
// message that it repeats is still being written, that may yet fail: then this change fails as well, for what it leaves out
// would be nowhere.
func (op *transition) knownLocked(in *incoming, now int64) (key duplicateKey, remember, duplicate bool) {
	key, remember, duplicate = op.q.duplicates.remember(in, now)
	if first := op.q.duplicates.writing[key]; duplicate && first != nil && (op.ids == nil || first != &op.ids.dependency) {
		t := op.change.tie()
		t.dependsOn = append(t.dependsOn, first)
	}
	return key, remember, duplicate
}

// duplicateLocked records that a message is left out.
func (op *transition) duplicateLocked(in *incoming, now int64) {
	op.q.ns.common.record.add(op.q, now, &happened{kind: EventDuplicate, client: op.client, text: in.info.MessageID})
}

func (op *transition) rememberLocked(key duplicateKey, now int64) {
	if op.ids == nil {
		op.ids = &newIDs{}
		op.ids.keys = op.ids.one[:0]
		t := op.change.tie()
		t.dependents = append(t.dependents, &op.ids.dependency)
	}
	op.q.duplicates.await(key, &op.ids.dependency)
	op.ids.keys = append(op.ids.keys, remembered{key, now})
	op.change.Ops = append(op.change.Ops, Op{
		Kind: OpDuplicate, Record: MessageRecord{Entity: op.q.id, Enqueued: now}, Data: append([]byte(nil), key[:]...),
	})
}
