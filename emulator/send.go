package emulator

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"minibus/internal/amqp/message"
)

// Send stores messages, all or none (SEQ-14), in their order. A message with a scheduled enqueue time in the future
// is stored as scheduled (SCHED-5, SCHED-21); a duplicate is accepted and dropped (DUP-2). The queue keeps the
// messages' bytes, or copies of them where they are a [message.Message.Part] of something.
//
// An error means that nothing was stored and that c will not be called; otherwise c is told once whether the messages
// are durable. Errors: CodeNotFound, CodeEntityDisabled, CodeMessageTooLarge, CodeHeaderTooLarge, CodeArgument,
// CodeNotAllowed, CodeQuotaExceeded.
func (q *Entity) Send(msgs []message.Message, c Completion) error {
	if len(msgs) == 0 {
		c.Completed(nil) // QUO-14: an empty batch is legal
		return nil
	}
	var one [1]incoming
	in, err := q.inspectSent(one[:0], msgs)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.store(in); err != nil {
		q.refusedLocked(in, err, clientOf(c))
		return err
	}
	change := newSending(q, in, numbering{}, false, c)
	q.ns.faults.failJournalLocked(q, change, OperationSend, Main, clientOf(c))
	q.ns.journal.Append(change)
	return nil
}

// refusedLocked records that messages are not stored.
func (q *Entity) refusedLocked(in []incoming, err error, client *Client) {
	if q.ns.common.record == nil {
		return
	}
	now := q.ns.Now()
	for i := range in {
		q.ns.common.record.add(q, now,
			&happened{kind: EventRefusedSend, client: client, text: in[i].info.MessageID + refusedFor + err.Error()})
	}
}

// Schedule stores messages as Send does and returns the number of each, in their order, by which it can be
// cancelled while it is scheduled (SCHED-6). The numbers are valid once c was told of success. A message whose time
// has come, or that has none, becomes available at once (SCHED-11). A duplicate gets a number of its own and is not
// stored (DUP-7, DEC-30).
func (q *Entity) Schedule(msgs []message.Message, c Completion) ([]int64, error) {
	return q.submit(msgs, true, c)
}

// Submit is Send for a caller that is told the numbers, as Schedule tells them, also on an entity that forwards its
// messages.
func (q *Entity) Submit(msgs []message.Message, c Completion) ([]int64, error) {
	return q.submit(msgs, false, c)
}

// submit stores messages and returns their numbers. browsed says that only those may ask who may browse the entity.
func (q *Entity) submit(msgs []message.Message, browsed bool, c Completion) ([]int64, error) {
	if len(msgs) == 0 {
		c.Completed(nil)
		return nil, nil
	}
	in, err := q.inspectSent(nil, msgs)
	if err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.store(in); err != nil {
		q.refusedLocked(in, err, clientOf(c))
		return nil, err
	}
	if browsed {
		if err := q.may.browse(Main); err != nil {
			return nil, err
		}
	}
	seqs := make([]int64, 0, len(in))
	change := newSending(q, in, numbering{numbers: &seqs}, false, c)
	q.ns.faults.failJournalLocked(q, change, OperationSend, Main, clientOf(c))
	q.ns.journal.Append(change)
	return seqs, nil
}

// inspect reads what the broker must know of messages that are being sent.
func (q *Entity) inspect(in []incoming, msgs []message.Message) ([]incoming, error) {
	if len(msgs) > cap(in) {
		in = make([]incoming, 0, len(msgs))
	}
	for i := range msgs {
		info, err := msgs[i].Info()
		if err != nil {
			return nil, &Error{Code: CodeArgument, Entity: q.path,
				Text: fmt.Sprintf("Message %d of %d is not valid", i+1, len(msgs)), Err: err}
		}
		if err := q.ns.Profile().checkMessage(q.path, &msgs[i], &info); err != nil {
			return nil, err
		}
		in = append(in, incoming{m: msgs[i], info: info})
	}
	return in, nil
}

// inspectSent is inspect for messages that are sent and not only looked at. It notes what Azure would refuse of them.
func (q *Entity) inspectSent(in []incoming, msgs []message.Message) ([]incoming, error) {
	in, err := q.inspect(in, msgs)
	if err != nil || q.ns.Profile() != ProfileRelaxed {
		return in, err
	}
	for i := range in {
		if err := ProfileStandard.checkMessage(q.path, &in[i].m, &in[i].info); err != nil {
			rule := "QUO-9"
			if refusal, ok := errors.AsType[*Error](err); ok && refusal.Code == CodeQuotaExceeded {
				rule = "QUO-8"
			}
			q.ns.noteBeyond(q.path, rule, err)
		}
	}
	return in, nil
}

// noteBeyond notes an operation that Azure would refuse, and logs the first one of its kind and entity.
func (ns *Namespace) noteBeyond(entity, rule string, refusal error) {
	if ns.common.beyond.add(beyondKey{ns.name, entity, rule}, refusal) {
		ns.logger.Warn("Azure would refuse this", "namespace", ns.name, "entity", entity, "rule", rule,
			"reason", refusal)
	}
}

// Beyond returns what was done with the entity that Azure would refuse, by rule.
func (q *Entity) Beyond() []Beyond { return q.ns.common.beyond.of(q.ns.name, q.path) }

// CheckBatch reports whether a batch has more messages than the namespace takes (QUO-7, DEC-17).
func (ns *Namespace) CheckBatch(entity string, n int) error {
	limits := ns.Profile()
	if limits != ProfileRelaxed {
		return limits.CheckBatch(entity, n)
	}
	if err := ProfileStandard.CheckBatch(entity, n); err != nil {
		ns.noteBeyond(entity, "QUO-7", err)
	}
	return nil
}

// store reports why messages can't be stored now, or nil.
func (p *preconditions) store(in []incoming) error {
	if err := p.send(); err != nil {
		return err
	}
	limit := p.q.options.maxMessageBytes(p.q.ns.Profile())
	for i := range in {
		if n := len(in[i].m.Raw); int64(n) > limit {
			return messageTooLarge(p.q.path, int64(n), limit)
		}
		if p.q.options.RequiresSession && !in[i].info.HasGroupID { // SESS-2
			return errorf(CodeNotAllowed, p.q.path,
				"The SessionId was not set on a message, and it cannot be sent to the entity. "+
					"Entities that have session support enabled can only receive messages "+
					"that have the SessionId set to a valid value.")
		}
	}
	if p.q.counters.partitioned() {
		if err := p.storeTogether(in); err != nil {
			return err
		}
	}
	return p.grow()
}

func messageTooLarge(entity string, size, limit int64) error {
	return errorf(CodeMessageTooLarge, entity,
		"The message has %d bytes, which exceeds the limit of %d bytes for the entity '%s'.", size, limit, entity)
}

// storeTogether fails if messages of one batch belong to several partitions (PART-5), or one names two (PART-3).
func (p *preconditions) storeTogether(in []incoming) error {
	first := &in[0].info
	for i := range in {
		x := &in[i].info
		if x.HasGroupID && x.HasPartitionKey && x.GroupID != x.PartitionKey {
			return errorf(CodeNotAllowed, p.q.path,
				"The PartitionKey '%s' of a message differs from its SessionId '%s'; "+
					"the partitioned entity '%s' needs them to be equal.", x.PartitionKey, x.GroupID, p.q.path)
		}
		if x.HasGroupID != first.HasGroupID || x.GroupID != first.GroupID ||
			x.HasPartitionKey != first.HasPartitionKey || x.PartitionKey != first.PartitionKey {
			return errorf(CodeNotAllowed, p.q.path, "The messages of a batch for the partitioned entity '%s' "+
				"must have the same SessionId and PartitionKey.", p.q.path)
		}
	}
	return nil
}

func (m *messages) newEntry(in *incoming, seq, now int64) *entry {
	row := m.q.ns.newRow()
	e := &entry{
		seq: seq, enqueued: now, row: row, ttl: m.q.options.effectiveTTL(in.info.TTL),
		body: &payload{id: row, data: m.q.ns.budget.retain(&in.m), size: uint32(len(in.m.Raw))},
	}
	x := extra{hops: in.hops}
	if in.waits(now) {
		e.state, x.due = Scheduled, int64(in.info.Scheduled)
	}
	e.extra = x.kept()
	if m.q.options.RequiresSession {
		e.session = m.q.sessions.get(in.info.GroupID)
	}
	return e
}

// maxTTL is the longest time to live that there is, in milliseconds: what .NET's TimeSpan can say (EXP-3). Two
// instants on the wire may lie farther apart, so far that no instant could be so much later than now.
const maxTTL = (1<<63 - 1) / 10_000

// effectiveTTL is the smaller of the message's and the entity's time to live, in milliseconds (EXP-1); 0: none. A
// fraction of a millisecond counts as a whole one, so that a very short time to live does not become none.
func (o *QueueOptions) effectiveTTL(ttl int64) int64 {
	d := max(o.DefaultMessageTimeToLive, 0).Milliseconds()
	if o.DefaultMessageTimeToLive > time.Duration(d)*Resolution {
		d++
	}
	if d > 0 && (ttl <= 0 || d < ttl) {
		return d
	}
	return min(max(ttl, 0), maxTTL)
}

// arrive makes an expected entry visible, arms its deadlines and tells who may have it.
func (m *messages) arrive(e *entry) {
	m.q.subQueue(e.sub).arrive(e)
	m.q.alarm.watch(e)
	if e.state == Active {
		m.announce(e)
	}
}

// numbering says which numbers messages get that are being stored. The zero value is the next ones.
type numbering struct {
	given   []int64  // drawn before; messages whose time has come by now draw others, in their turn (TXN-23)
	numbers *[]int64 // where to put them, which duplicates then get too (DUP-7)
}

// newSending makes the change that stores messages, without appending it. On a topic, held says that the caller holds
// the mutexes of all its subscriptions.
func newSending(q *Entity, in []incoming, n numbering, held bool, c Completion) *Change {
	if q.topic != nil {
		// a copy: for a queue, the caller's stays on its stack
		return q.topic.newPublicationLocked(slices.Clone(in), n, held, c)
	}
	op := newTransition(q, len(in), c)
	now := q.ns.Now()
	op.eachLocked(in, n, now, func(i int, seq int64, drawn bool) { op.storeLocked(&in[i], seq, drawn, now) })
	return &op.change
}

// eachLocked calls store for each of the messages that is no duplicate, with its number, and says whether that was
// drawn for it now.
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
			op.change.Ops = append(op.change.Ops,
				q.counters.markDrawn(Op{Kind: OpCounter, Record: MessageRecord{Entity: q.id, Seq: seq}}))
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
	if last.text = q.ns.common.record.sentText(r.MessageID, &in.m); e.state == Scheduled {
		last.event = EventScheduled
	}
	o := Op{Kind: OpInsert, Record: r, Data: in.m.Raw}
	if drawn {
		o = q.counters.markDrawn(o)
	}
	op.change.Ops = append(op.change.Ops, o)
}

// knownLocked says whether a message is a duplicate (DUP-2) and, if not, whether it is to be remembered. As long as
// the message that it repeats is still being written, that may yet fail: then this change fails as well, for what it
// leaves out would be nowhere.
func (op *transition) knownLocked(in *incoming, now int64) (key duplicateKey, remember, duplicate bool) {
	key, remember, duplicate = op.q.duplicates.checkAndAdd(in, now)
	if first := op.q.duplicates.writing[key]; duplicate && first != nil &&
		(op.ids == nil || first != &op.ids.dependency) {
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
