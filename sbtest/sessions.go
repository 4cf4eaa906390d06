package sbtest

import (
	"math"
	"testing"
	"time"

	"minibus/emulator"
)

// Session is a session of an entity. A test can look at it and change it while a client holds it.
type Session struct {
	t  testing.TB
	e  *emulator.Entity
	id string
}

// Session returns a session of a queue or subscription. It need not exist yet.
func (n *Namespace) Session(t testing.TB, entity, id string) *Session {
	t.Helper()
	return &Session{t, n.entity(t, entity), id}
}

// SessionInfo says how a session stands.
type SessionInfo struct {
	ID          string
	Active      int64 // messages, with locked ones
	Locked      int64
	Deferred    int64
	Scheduled   int64
	Held        bool      // a client has its lock
	Holder      string    // who, in words
	LockedUntil time.Time // zero: not held
	HasState    bool
	StateBytes  int64
	StateSet    time.Time // when; zero: never
}

// Sessions returns how the sessions of a queue or subscription stand, by id: those that have a message, a state or a
// holder.
func (n *Namespace) Sessions(t testing.TB, entity string) []SessionInfo {
	t.Helper()
	list, _, err := n.entity(t, entity).Sessions().List("", true, math.MaxInt)
	check(t, "list the sessions of "+entity, err)
	all := make([]SessionInfo, len(list))
	for i, s := range list {
		all[i] = SessionInfo{
			ID: s.ID, Active: s.Active, Locked: s.Locked, Deferred: s.Deferred, Scheduled: s.Scheduled,
			Held: s.Held, Holder: s.Holder, LockedUntil: instant(s.Until),
			HasState: s.HasState, StateBytes: s.State, StateSet: instant(s.Updated),
		}
	}
	return all
}

// State returns the session's state, nil if it has none.
func (s *Session) State() []byte {
	s.t.Helper()
	state, err := s.e.Sessions().State(s.id)
	check(s.t, "read the state of a session", err)
	return state
}

// SetState writes the session's state; nil clears it. A client that holds the session reads the new one.
func (s *Session) SetState(state []byte) {
	s.t.Helper()
	durable(s.t, "write the state of a session", func(done emulator.Completion) error {
		return s.e.Sessions().SetState(s.id, state, done)
	})
}

// Break takes the session's lock from its holder, whose receiver is detached with session-lock-lost, as when the time
// of the lock is over. An SDK may lock the session again if it is still free when the program uses the receiver next.
func (s *Session) Break() {
	s.t.Helper()
	check(s.t, "break the lock of a session", s.e.Sessions().Break(s.id, nil))
}
