package emulator

// idleAtLocked returns when the queue will have been idle for its AutoDeleteOnIdle, if that is set (IDLE-1). A queue
// that forwards is never idle (IDLE-4).
func (q *Entity) idleAtLocked() (at int64, ok bool) {
	span := q.options.AutoDeleteOnIdle.Milliseconds()
	if span <= 0 || q.options.ForwardTo != "" {
		return 0, false
	}
	last := max(q.accessed, q.updated, q.created, q.opened)
	if q.topic != nil {
		last = max(last, q.topic.touched.Load())
	}
	return last + span, true
}

// idleLocked reports whether the queue is to be deleted now. Scheduled messages and receivers that wait keep it
// (IDLE-2, IDLE-5, SCHED-26).
func (q *Entity) idleLocked(now int64) bool {
	at, ok := q.idleAtLocked()
	if !ok || now < at {
		return false
	}
	if q.boxes[Main].scheduled > 0 || q.waitingLocked() || q.topic != nil && q.topic.receiverWaits() {
		q.accessed = now // in use: the span begins anew
		return false
	}
	return true
}

// receiverWaits reports whether a receiver with credit waits (IDLE-5).
func (q *Entity) waitingLocked() bool {
	for i := range q.boxes {
		if l := &q.boxes[i].line; l.first != nil || l.promised > 0 {
			return true
		}
	}
	for _, s := range q.sessions.ends {
		if s.line.first != nil || s.line.promised > 0 {
			return true
		}
	}
	return len(q.sessions.accepts) > 0
}

// deleteIdle removes a queue whose idle span is over. It runs on the timer's goroutine, without any mutex.
func (ns *Namespace) deleteIdle(q *Entity) {
	ns.logger.Info("deleting an idle queue", "entity", q.path)
	if err := ns.deleteIf(q, func() bool { return q.idleLocked(ns.Now()) }); err != nil {
		ns.logger.Error("idle queue could not be deleted", "entity", q.path, "error", err)
	}
	q.mu.Lock()
	q.alarm.setNext() // if somebody used it meanwhile it lives on
	q.mu.Unlock()
}
