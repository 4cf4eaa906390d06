package emulator

import "slices"

// expireDue treats entries whose locks have ended by themselves (LOCK-8, DC-3).
func (lt *lockTable) expireDue(entries []*entry, now int64) {
	lt.expire(slices.DeleteFunc(entries, func(e *entry) bool { return e.lock == nil || e.lock.until > now }), now)
}

// expire ends the locks of entries as if their time were over.
func (lt *lockTable) expire(entries []*entry, now int64) { lt.fail(entries, EventLockExpired, now) }

// fail ends the locks of entries whose deliveries have failed, as v says.
func (lt *lockTable) fail(entries []*entry, v EventKind, now int64) {
	op := newTransition(lt.q, len(entries), nil)
	for _, e := range entries {
		if e.lock == nil {
			continue // it is named twice
		}
		if e.lock.tx != nil {
			e.lock.tx.lost.Store(true) // TXN-18
		}
		if l := lt.unlock(e); l.retries {
			lt.q.messages.free(e, now)
			continue
		}
		op.deliveryFailedLocked(e, nil, v, fallback{undo: undoRetryEnd}, now)
	}
	op.appendLocked()
	for _, e := range entries {
		if e.session != nil {
			e.session.wake()
			lt.q.sessions.rank(e.session)
		}
	}
}

// delayRedelivery keeps a message from all consumers for a while, by a lock without a holder; the arguments are fields
// of [Lock].
func (lt *lockTable) delayRedelivery(e *entry, blocksSession, retries bool) {
	if blocksSession {
		e.session.returning++
		lt.q.sessions.updateOffer(e.session)
	}
	lt.hold(e, &Lock{token: lt.newToken(), until: lt.q.alarm.later(), blocksSession: blocksSession, retries: retries})
}
