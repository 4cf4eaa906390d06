package emulator

import "minibus/internal/amqp/message"

// expires returns the instant in milliseconds after which the message is no longer delivered, or 0 (EXP-4).
func (e *entry) expires() int64 {
	if e.ttl <= 0 {
		return 0
	}
	return e.enqueued + e.ttl
}

// expired reports whether the message may not be delivered any more (EXP-5). Nothing expires in a dead-letter
// queue or while it is scheduled (EXP-12).
func (e *entry) expired(now int64) bool {
	return e.ttl > 0 && e.sub == Main && e.state != Scheduled && now >= e.enqueued+e.ttl
}

// expire removes or dead-letters messages that are past their time to live, of those entries that are free
// and active: what is locked is treated when it is unlocked (EXP-8), and deferred messages stay (EXP-10).
func (m *messages) expire(entries []*entry, now int64) {
	if m.q.deleting {
		return
	}
	op := newTransition(m.q, len(entries), nil)
	for _, e := range entries {
		if !e.ready() || !e.expired(now) {
			continue
		}
		m.q.subQueue(e.sub).take(e, markBusy)
		op.expireLocked(e, e.count, nil, fallback{undo: undoRetryOwn})
		if e.session != nil {
			m.q.sessions.rank(e.session) // EXP-14
		}
	}
	op.appendLocked()
}

// expireLocked adds what happens to a message that is past its time to live (EXP-6). The count and the changed
// properties are those of the failed delivery that brought it up, if one did (DC-2, DC-3, LOCK-14).
func (op *transition) expireLocked(e *entry, count uint32, properties []byte, f fallback) {
	if !op.q.options.DeadLetteringOnExpiration {
		op.removeLocked(e, EventExpired, f)
		return
	}
	op.deadLetterLocked(e, count, message.MergeProperties(properties,
		deadLetterProperties("TTLExpiredException", "The message expired and was dead lettered.")), EventExpired, f)
}
