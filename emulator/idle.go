package emulator

// idleAt returns when the queue will have been idle for its AutoDeleteOnIdle, if that is set (IDLE-1). A queue
// that forwards is never idle (IDLE-4).
func (u *usage) idleAt() (at int64, ok bool) {
	span := u.q.options.AutoDeleteOnIdle.Milliseconds()
	if span <= 0 || u.q.options.ForwardTo != "" {
		return 0, false
	}
	last := max(u.accessed, u.updated, u.created, u.opened)
	if u.q.topic != nil {
		last = max(last, u.q.topic.touched.Load())
	}
	return last + span, true
}

// idle reports whether the queue is to be deleted now. Scheduled messages and receivers that wait keep it
// (IDLE-2, IDLE-5, SCHED-26).
func (u *usage) idle(now int64) bool {
	at, ok := u.idleAt()
	if !ok || now < at {
		return false
	}
	if u.q.messages.subQueues[Main].scheduled > 0 || u.receiverWaits() || u.q.topic != nil && u.q.topic.receiverWaits() {
		u.accessed = now // in use: the span begins anew
		return false
	}
	return true
}

// receiverWaits reports whether a receiver with credit waits (IDLE-5).
func (u *usage) receiverWaits() bool {
	for i := range u.q.messages.subQueues {
		if l := u.q.messages.subQueues[i].waiters; l != nil && (l.first != nil || l.promised > 0) {
			return true
		}
	}
	for _, h := range u.q.sessions.ends {
		if h.waiters.first != nil || h.waiters.promised > 0 {
			return true
		}
	}
	return len(u.q.sessions.accepts) > 0
}

// deleteIdle removes a queue whose idle span is over. It runs on the timer's goroutine, without any mutex.
func (es Entities) deleteIdle(q *Entity) {
	ns := es.ns
	ns.logger.Info("deleting an idle queue", "entity", q.path)
	if err := es.deleteIf(q, func() bool { return q.usage.idle(ns.Now()) }); err != nil {
		ns.logger.Error("idle queue could not be deleted", "entity", q.path, "error", err)
	}
	q.mu.Lock()
	q.alarm.setNext() // if it was used meanwhile it lives on
	q.mu.Unlock()
}
