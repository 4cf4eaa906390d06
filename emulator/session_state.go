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

// checkState fails if a session can't have the state.
func (t *sessionTable) checkState(state []byte) error {
	if n, limit := int64(len(state)), t.q.maxMessageLocked(); n > limit {
		return errorf(CodeMessageTooLarge, t.q.path,
			"The session state has %d bytes, which exceeds the limit of %d bytes for the entity '%s'.", n, limit, t.q.path)
	}
	return nil
}

// write stores the state of a session.
func (t *sessionTable) write(s *session, state []byte, done Completion) error {
	if err := t.checkState(state); err != nil {
		t.forget(s)
		return err
	}
	t.q.usage.touch(t.q.ns.Now())
	op := t.newStateOp(s, state, done)
	t.q.breakLocked(&op.change, OperationManage, Main, holder(s.holder()))
	t.q.ns.append(&op.change)
	return nil
}

// newStateOp makes the change that stores the state of a session, without appending it.
func (t *sessionTable) newStateOp(s *session, state []byte, done Completion) *stateOp {
	if len(state) == 0 {
		state = nil
	}
	op := &stateOp{q: t.q, s: s, state: state, at: t.q.ns.Now(), done: done}
	s.setState().writing++
	op.change.Done = op
	r := MessageRecord{Entity: t.q.id, SessionID: s.id, Enqueued: op.at}
	op.change.Ops = append(op.change.Single[:0], Op{Kind: OpSessionState, Record: r, Data: state})
	for _, r.SessionID = range s.state.others {
		op.change.Ops = append(op.change.Ops, Op{Kind: OpSessionState, Record: r})
	}
	return op
}

// load takes in a state from the journal. Of several under spellings of the same id, which older versions told apart, the
// newest counts (SESS-35).
func (t *sessionTable) load(id string, state []byte, updated int64) {
	s := t.get(id)
	switch {
	case s.state == nil:
		s.id, s.state = id, &sessionState{}
	case updated <= s.state.updated:
		s.state.others = append(s.state.others, id)
		return
	default:
		s.state.others = append(s.state.others, s.id)
		s.id = id
	}
	t.weigh(int64(len(state) - len(s.state.data)))
	s.state.data, s.state.updated = state, updated
}

// Completed makes the state readable.
func (op *stateOp) Completed(err error) {
	q, s := op.q, op.s
	q.mu.Lock()
	s.state.writing--
	if err == nil {
		q.sessions.weigh(int64(len(op.state) - len(s.state.data)))
		s.state.data, s.state.updated, s.state.others = op.state, op.at, nil
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
	if s := q.sessions.find(id); s != nil {
		return s.data(), nil
	}
	return nil, nil
}
