package emulator

// MaxSessionState is the limit for a session's state in bytes, that of one message (SESS-23).
func (q *Entity) MaxSessionState() int64 { return q.MaxMessageSize() }

// stateOp is a session state that is being written.
type stateOp struct {
	change Change
	q      *Entity
	s      *session
	state  []byte
	at     int64
	done   Completion
}

// SetSessionState stores the state of the consumer's session; nil or nothing clears it (SESS-22). The lock is needed
// (SESS-24): CodeSessionLockLost without. A state above the limit fails with CodeMessageTooLarge. An error means that
// done will not be called.
func (c *Consumer) SetSessionState(state []byte, done Completion) error {
	q := c.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := c.holdsLocked(); err != nil {
		return err
	}
	return q.sessions.write(c.session, state, done)
}

// write stores the state of a session.
func (t *sessionTable) write(s *session, state []byte, done Completion) error {
	q := t.q
	if n, limit := int64(len(state)), q.maxMessageLocked(); n > limit {
		t.forget(s)
		return errorf(CodeMessageTooLarge, q.path,
			"The session state has %d bytes, which exceeds the limit of %d bytes for the entity '%s'.", n, limit, q.path)
	}
	if len(state) == 0 {
		state = nil
	}
	now := q.ns.Now()
	q.usage.touch(now)
	op := &stateOp{q: q, s: s, state: state, at: now, done: done}
	s.setState().writing++
	op.change.Done = op
	op.change.Ops = append(op.change.Single[:0], Op{
		Kind: OpSessionState, Record: MessageRecord{Entity: q.id, SessionID: s.id, Enqueued: now}, Data: state,
	})
	q.breakLocked(&op.change, OperationManage, Main, holder(s.holder()))
	q.ns.append(&op.change)
	return nil
}

// Completed makes the state readable.
func (op *stateOp) Completed(err error) {
	q, s := op.q, op.s
	q.mu.Lock()
	s.state.writing--
	if err == nil {
		q.sessions.weigh(int64(len(op.state) - len(s.state.data)))
		s.state.data, s.state.updated = op.state, op.at
	}
	q.sessions.forget(s)
	q.mu.Unlock()
	op.done.Completed(err)
}

// weigh counts the bytes of session states, of a subscription to its topic too (QUO-3).
func (t *sessionTable) weigh(by int64) {
	t.bytes += by
	if t.q.subscription != nil {
		t.q.subscription.topic.bytes.Add(by)
	}
}

// SessionState returns the state of the consumer's session, nil if there is none. The lock is needed (SESS-14).
func (c *Consumer) SessionState() ([]byte, error) {
	c.q.mu.Lock()
	defer c.q.mu.Unlock()
	if err := c.holdsLocked(); err != nil {
		return nil, err
	}
	return c.session.data(), nil
}

// BrowseSessionState returns the state of any session without a lock, as browsing clients ask for it (SESS-24).
func (q *Entity) BrowseSessionState(id string) ([]byte, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.accept(); err != nil {
		return nil, err
	}
	if s := q.sessions.byID[id]; s != nil {
		return s.data(), nil
	}
	return nil, nil
}
