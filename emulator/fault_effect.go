package emulator

// TakeLocks ends the locks of messages, or of their session, as if their time were over (DC-3, SESS-15), if the fault
// is of such a kind. A nil fault does nothing. Operations with the tokens fail afterwards with a lost lock.
func (f *Fault) TakeLocks(q *Entity, tokens []LockToken) {
	if f == nil || f.options.Kind != FaultLoseLock && f.options.Kind != FaultLoseSession {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.ns.Now()
	var entries []*entry
	for _, t := range tokens {
		e := q.locks.entryOfToken(t, now)
		switch {
		case e == nil:
		case f.options.Kind == FaultLoseLock:
			q.locks.expire([]*entry{e}, now)
		default:
			entries = append(entries, e)
		}
	}
	for _, e := range entries {
		if s := e.session; s != nil && s.hold != nil {
			q.sessions.lose(s, SessionLockLost(q.path), true, now)
		}
	}
}

// TakeSession ends the lock of a consumer's session as if its time were over, if the fault is of that kind. A nil
// fault or consumer does nothing.
func (f *Fault) TakeSession(c *Consumer) {
	if f == nil || c == nil || f.options.Kind != FaultLoseSession {
		return
	}
	q := c.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if s := c.session; s != nil && s.hold == c.hold {
		q.sessions.lose(s, SessionLockLost(q.path), true, q.ns.Now())
	}
}

// failJournalLocked lets a change of an entity fail in the journal, as on a disk that can't be written, if a fault
// says so. It is called before the change is appended. The numbers that the change drew are left out if others are
// under way behind it, as for every change that fails alone.
func (t *Faults) failJournalLocked(q *Entity, c *Change, op Operation, sub SubQueue, client *Client) {
	if !t.Any() {
		return
	}
	a := &Attempt{Operation: op, Entity: q, Sub: sub, Client: client}
	if f := t.hit(a, func(f *Fault) bool { return f.options.Kind == FaultFailJournal }); f != nil {
		tie := c.tie()
		tie.dependsOn = append(tie.dependsOn, &dependency{err: f.journalError()})
	}
}
