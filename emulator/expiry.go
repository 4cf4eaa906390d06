package emulator

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
