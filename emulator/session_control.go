package emulator

import (
	"fmt"
	"slices"
)

// SessionInfo is what an entity knows of a session.
type SessionInfo struct {
	ID        string
	Active    int64 // messages, with locked ones
	Locked    int64
	Deferred  int64
	Scheduled int64
	Held      bool   // a consumer has its lock
	Holder    string // who, as the front end calls it
	Until     int64  // end of the lock, ms
	State     int64  // bytes of the state
	HasState  bool
	Updated   int64 // when the state was set, ms
}

// List returns up to max sessions with ids behind after, in the order of their ids without regard to case, and whether
// there are more: those that have a message, a state or a holder. It locks no session.
func (ss Sessions) List(after string, all bool, limit int) (list []SessionInfo, more bool, err error) {
	q := ss.q
	q.mu.Lock()
	if err := q.may.haveSessions(); err != nil {
		q.mu.Unlock()
		return nil, false, err
	}
	var keys []string
	after = sessionKey(after)
	for key := range q.sessions.byKey {
		if all || key > after {
			keys = append(keys, key)
		}
	}
	q.mu.Unlock()
	slices.Sort(keys)
	for i, key := range keys {
		if len(list) == limit {
			return list, i < len(keys), nil
		}
		if x, ok := ss.info(key); ok {
			list = append(list, x)
		}
	}
	return list, false, nil
}

// Get returns one session. It fails with CodeNotFound if nothing is there of it.
func (ss Sessions) Get(id string) (SessionInfo, error) {
	q := ss.q
	q.mu.Lock()
	err := q.may.haveSessions()
	q.mu.Unlock()
	if err != nil {
		return SessionInfo{}, err
	}
	x, ok := ss.info(id)
	if !ok {
		return x, sessionMissing(q.path, id)
	}
	return x, nil
}

func sessionMissing(entity, id string) *Error {
	return errorf(CodeNotFound, entity, "The entity '%s' has no session '%s': no message, no state and no lock.",
		entity, id)
}

// haveSessions fails on an entity without sessions.
func (p *preconditions) haveSessions() error {
	if err := p.use(); err != nil {
		return err
	}
	if !p.q.options.RequiresSession {
		return errorf(CodeNotAllowed, p.q.path, "The entity '%s' has no sessions: RequiresSession is not set.",
			p.q.path)
	}
	return nil
}

// info counts the messages of a session, few in one critical section.
func (ss Sessions) info(id string) (x SessionInfo, ok bool) {
	q := ss.q
	from := int64(-1 << 63)
	for more := true; more; {
		q.mu.Lock()
		s := q.sessions.find(id)
		if s == nil {
			q.mu.Unlock()
			return x, ok
		}
		x.ID = s.id
		x.HasState = s.hasState()
		x.State = s.stateSize()
		x.Updated = s.updated()
		if x.Held = s.hold != nil; x.Held {
			x.Until, x.Holder = s.hold.until, s.hold.by.client.name()
		}
		looked := 0
		more = false
		sessionMessages{s, &q.subQueue(Main).log}.look(from, func(e *entry) bool {
			if looked++; looked > peekChunk {
				more = true
				return false
			}
			from = e.seq + 1
			x.count(e)
			return true
		})
		ok = ok || s.hold != nil || s.hasState() || x.Active+x.Deferred+x.Scheduled > 0
		q.mu.Unlock()
	}
	return x, ok
}

func (x *SessionInfo) count(e *entry) {
	if e.mark == markPending {
		return
	}
	if e.mark == markLocked {
		x.Locked++
	}
	switch e.state {
	case Active:
		x.Active++
	case Deferred:
		x.Deferred++
	case Scheduled:
		x.Scheduled++
	}
}

// State returns the state of a session, nil if it has none, whatever the entity's status. It waits for the
// disk.
func (ss Sessions) State(id string) ([]byte, error) {
	return awaitState(func(done func([]byte, error)) error {
		return ss.fetchState(id, nil, done, func() error { return ss.q.may.haveSessions() })
	})
}

// StateSize returns the bytes of a session's state.
func (ss Sessions) StateSize(id string) int64 {
	q := ss.q
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.sessions.find(id).stateSize()
}

// SetState stores the state of a session without its lock; nil or nothing clears it. If a consumer holds the session,
// its next read shows the new state. A state above the limit fails with CodeMessageTooLarge. An error means that done
// will not be called.
func (ss Sessions) SetState(id string, state []byte, done Completion) error {
	q := ss.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.haveSessions(); err != nil {
		return err
	}
	s := q.sessions.find(id)
	if s == nil && len(state) == 0 {
		return sessionMissing(q.path, id)
	}
	return q.sessions.write(q.sessions.get(id), state, done)
}

// Break takes the lock of a session from its holder, who learns of it as if the lock's time were over (SESS-15): what
// it had received and not settled is available again with one more delivery counted. The history says that by did it;
// nil: unknown. It fails with CodeNotFound if there is no such session, and with CodeNotAllowed if no consumer
// holds it.
func (ss Sessions) Break(id string, by *Client) error {
	q := ss.q
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.may.haveSessions(); err != nil {
		return err
	}
	s := q.sessions.find(id)
	switch {
	case s == nil:
		return sessionMissing(q.path, id)
	case s.hold == nil:
		return errorf(CodeNotAllowed, q.path, "The session '%s' is not locked.", id)
	}
	now := q.ns.Now()
	q.usage.touch(now)
	held := firstText(s.hold.by.client.name(), "a receiver inside the process")
	q.ns.common.record.add(q, now,
		&happened{kind: EventSessionBroken, client: by, text: fmt.Sprintf("session '%s', held by %s", id, held)})
	q.sessions.lose(s, SessionLockLost(q.path), true, now)
	return nil
}
