package emulator

// MaxState is the limit for a session's state in bytes, that of one message (SESS-23).
func (ss Sessions) MaxState() int64 { return ss.q.MaxMessageSize() }

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
			"The session state has %d bytes, which exceeds the limit of %d bytes for the entity '%s'.",
			n, limit, t.q.path)
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
	t.q.ns.faults.failJournalLocked(t.q, &op.change, OperationManage, Main, holder(s.holder()))
	t.q.ns.journal.Append(&op.change)
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

// load takes in a state from the journal. Of several under spellings of the same id, which older versions told apart,
// the newest counts (SESS-35).
func (t *sessionTable) load(id string, size, updated int64) {
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
	t.weigh(size - s.state.size)
	// what clients do not ask for stays on disk
	s.state.some = true
	s.state.size = size
	s.state.updated = updated
}

// Completed makes the state readable.
func (op *stateOp) Completed(err error) {
	q, s := op.q, op.s
	q.mu.Lock()
	s.state.writing--
	if err == nil {
		q.sessions.become(s, op.state, op.at)
		s.state.others = nil
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

// become makes data the state of a session, which is on disk; nil is none. It stays in memory as well while there is
// room.
func (t *sessionTable) become(s *session, data []byte, at int64) {
	x, b := s.setState(), &t.q.bodies
	t.evict(x)
	size := int64(len(data))
	t.weigh(size - x.size)
	x.some = data != nil
	x.size = size
	x.updated = at
	if data != nil && !t.q.deleted && t.q.ns.budget.fits(size, b.held) {
		x.data = data
		b.held += size
		t.q.ns.budget.add(size)
	}
}

// evict takes a state out of memory.
func (t *sessionTable) evict(x *sessionState) {
	if x.data == nil {
		return
	}
	x.data = nil
	t.q.bodies.held -= x.size
	t.q.ns.budget.add(-x.size)
}

// shrink takes states out of memory until the namespace has no more than goal bytes there. It reports whether it
// could take any.
func (t *sessionTable) shrink(goal int64) (some bool) {
	for _, s := range t.byKey {
		if t.q.ns.budget.own.Load() <= goal {
			break
		}
		if s.state != nil && s.state.data != nil {
			t.evict(s.state)
			some = true
		}
	}
	return some
}

// SessionState returns the state of the consumer's session, nil if there is none. The lock is needed (SESS-14). It
// waits for the disk.
func (c *Consumer) SessionState() ([]byte, error) {
	return awaitState(func(done func([]byte, error)) error { return c.FetchSessionState(nil, done) })
}

// BrowseState is [Sessions.FetchState] for callers that may wait for the disk.
func (ss Sessions) BrowseState(id string) ([]byte, error) {
	return awaitState(func(done func([]byte, error)) error { return ss.FetchState(id, nil, done) })
}

func awaitState(fetch func(done func([]byte, error)) error) (state []byte, err error) {
	end := make(chan struct{})
	if err := fetch(func(data []byte, failure error) {
		state, err = data, failure
		close(end)
	}); err != nil {
		return nil, err
	}
	<-end
	return state, err
}

// HoldsSession fails without the lock of the consumer's session (SESS-14).
func (c *Consumer) HoldsSession() error {
	c.q.mu.Lock()
	defer c.q.mu.Unlock()
	return c.holdsLocked()
}

// FetchSessionState tells done the state of the consumer's session, nil if there is none, possibly before it returns
// and on any goroutine. The lock is needed (SESS-14). An error means that done will not be called.
func (c *Consumer) FetchSessionState(reserve Reserve, done func([]byte, error)) error {
	id, _ := c.SessionID()
	return c.q.Sessions().fetchState(id, reserve, done, c.holdsLocked)
}

// FetchState is [Consumer.FetchSessionState] for any session, without a lock, as browsing clients ask for it
// (SESS-24).
func (ss Sessions) FetchState(id string, reserve Reserve, done func([]byte, error)) error {
	return ss.fetchState(id, reserve, done, ss.q.may.accept)
}

// stateFetch is a state that is to be read.
type stateFetch struct {
	read BodyRead
	q    *Entity
	done func([]byte, error)
}

// fetchState reads a state if the entity allows it.
func (ss Sessions) fetchState(id string, reserve Reserve, done func([]byte, error), allowed func() error) error {
	q := ss.q
	q.mu.Lock()
	err, size := allowed(), q.sessions.find(id).stateSize()
	q.mu.Unlock()
	if err != nil {
		return err
	}
	f := &stateFetch{q: q, done: done}
	f.read.State = &StateKey{q.id, id}
	f.read.Done = f
	if reserve == nil {
		f.begin(nil)
	} else {
		reserve(int(size), f.begin)
	}
	return nil
}

// begin reads the state from the disk, unless it is in memory.
func (f *stateFetch) begin(err error) {
	if err != nil {
		f.done(nil, err)
		return
	}
	f.q.mu.Lock()
	var data []byte
	s := f.q.sessions.find(f.read.State.SessionID)
	known := s == nil || !s.hasState() || s.state.data != nil
	switch {
	case !known:
		f.read.State.SessionID = s.id // as the journal has it
	case s != nil && s.hasState():
		data = s.state.data
	}
	f.q.mu.Unlock()
	if known {
		f.done(data, nil)
		return
	}
	f.q.ns.journal.ReadBodies(&f.read)
}

// Completed hands out what was read. Nothing means that the state was cleared meanwhile, or that the entity is gone.
func (f *stateFetch) Completed(err error) {
	switch {
	case err != nil:
		f.done(nil, err)
		return
	case len(f.read.Bodies) == 1 && f.read.Bodies[0] != nil:
		f.done(f.read.Bodies[0], nil)
		return
	}
	f.q.mu.Lock()
	s := f.q.sessions.find(f.read.State.SessionID)
	switch {
	case f.q.deleted:
		err = f.q.may.missing()
	case s != nil && s.hasState() && s.state.writing == 0:
		err = errorf(CodeInternal, f.q.path,
			"The state of the session '%.60s' of '%s' is not in the database any more.", s.id, f.q.path)
	}
	f.q.mu.Unlock()
	f.done(nil, err)
}
