package emulator

import "minibus/internal/amqp/message"

// Place stores a message where clients can't send: in a subscription, whatever its rules say, or in the dead-letter
// queue of a queue or a subscription, with the properties of a dead-lettering as a [Settlement] has them. Test data
// comes so. The message gets the next number, is new to the duplicate detection, and is recorded as sent. In a
// dead-letter queue it has no session and no schedule.
//
// An error means that nothing was stored and that c will not be called; otherwise c is told once whether the message
// is durable. Errors: CodeNotFound, CodeEntityDisabled, CodeMessageTooLarge, CodeHeaderTooLarge, CodeArgument,
// CodeNotAllowed, CodeQuotaExceeded.
func (ms Messages) Place(sub SubQueue, m message.Message, deadLetter []byte, c Completion) (int64, error) {
	q := ms.q
	in, err := q.inspectSent(nil, []message.Message{m})
	if err != nil {
		return 0, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.place(sub, in); err != nil {
		q.refusedLocked(in, err, clientOf(c))
		return 0, err
	}
	now := q.ns.Now()
	q.usage.touch(now)
	op := newTransition(q, 1, c)
	seq := q.counters.draw(&op.drawn, q.counters.choose(&in[0]))
	if sub == Main {
		op.storeLocked(&in[0], seq, true, now)
	} else {
		op.insertLocked(q.messages.newDeadLetter(&in[0], deadLetter, seq, now), &in[0], true)
	}
	body := op.steps[0].e.body
	op.done = CompletionFunc(func(err error) {
		if err == nil {
			q.bodies.count(body)
		}
		c.Completed(err)
	})
	q.ns.journal.Append(&op.change)
	return seq, nil
}

// newDeadLetter makes the entry of a message that comes dead-lettered.
func (m *messages) newDeadLetter(in *incoming, properties []byte, seq, now int64) *entry {
	row := m.q.ns.newRow()
	e := &entry{
		seq: seq, enqueued: now, row: row, ttl: m.q.options.effectiveTTL(in.info.TTL), state: Active, sub: DeadLetter,
		body: &payload{id: row, data: m.q.ns.budget.retain(&in.m), size: uint32(len(in.m.Raw))},
	}
	var x extra
	x.overlay, x.reason = deadLetterOverlay(nil, properties)
	e.extra = x.kept()
	return e
}

// CanTake reports why a message can't be sent to the entity, or placed in a sub-queue of it, or nil.
func (ms Messages) CanTake(sub SubQueue, m message.Message) error {
	in, err := ms.q.inspect(nil, []message.Message{m})
	if err != nil {
		return err
	}
	ms.q.mu.Lock()
	defer ms.q.mu.Unlock()
	if sub == Main && ms.q.subscription == nil {
		return ms.q.may.store(in)
	}
	return ms.q.may.place(sub, in)
}

// place reports why a message can't be placed in a sub-queue, or nil.
func (p *preconditions) place(sub SubQueue, in []incoming) error {
	q := p.q
	switch {
	case q.topic != nil || sub == TransferDeadLetter:
		return errorf(CodeNotAllowed, q.path, "A message can be placed in a subscription or a dead-letter queue. "+
			"The entity '%s' has neither there.", q.path)
	case sub == Main && q.subscription == nil:
		return errorf(CodeNotAllowed, q.path, "Messages are sent to the queue '%s', not placed in it.", q.path)
	}
	if err := p.takeMoves(false); err != nil {
		return err
	}
	if n, limit := int64(len(in[0].m.Raw)), q.options.maxMessageBytes(q.ns.Profile()); n > limit {
		return messageTooLarge(q.path, n, limit)
	}
	if sub == Main && q.options.RequiresSession && !in[0].info.HasGroupID { // DLQ-R4
		return errorf(CodeNotAllowed, q.path, "The subscription '%s' requires sessions, and the message has no "+
			"session id. Give it one, or place it in the dead-letter queue.", q.path)
	}
	if q.counters.partitioned() {
		return p.storeTogether(in)
	}
	return nil
}
