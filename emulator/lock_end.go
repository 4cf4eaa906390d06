package emulator

import "slices"

// end treats entries whose locks have ended by themselves (LOCK-8, DC-3).
func (lt *lockTable) end(entries []*entry, now int64) {
	lt.lapse(slices.DeleteFunc(entries, func(e *entry) bool { return e.lock == nil || e.lock.until > now }), now)
}

// lapse ends the locks of entries as if their time were over.
func (lt *lockTable) lapse(entries []*entry, now int64) {
	op := newTransition(lt.q, len(entries), nil)
	for _, e := range entries {
		if e.lock == nil {
			continue // it is named twice
		}
		if e.lock.tx != nil {
			e.lock.tx.lost.Store(true) // TXN-18
		}
		if l := lt.unlock(e); l.own {
			lt.q.messages.rest(e, now)
			continue
		}
		op.abandonLocked(e, nil, EventLockExpired, fallback{undo: undoEndLater}, now)
	}
	op.appendLocked()
	for _, e := range entries {
		if e.session != nil {
			e.session.wake()
			lt.q.sessions.rank(e.session)
		}
	}
}
