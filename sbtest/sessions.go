package sbtest

import (
	"math"
	"testing"

	"minibus/emulator"
)

// Session is a session of an entity, which a client need not hold for that.
type Session struct {
	t  testing.TB
	e  *emulator.Entity
	id string
}

// Session returns a session of a queue or subscription of the default namespace. It need not exist yet.
func (s *Server) Session(t testing.TB, entity, id string) *Session {
	t.Helper()
	return sessionOf(t, s.Default(), entity, id)
}

// Session is [Server.Session] in this namespace.
func (n *Namespace) Session(t testing.TB, entity, id string) *Session {
	t.Helper()
	return sessionOf(t, n.Namespace, entity, id)
}

func sessionOf(t testing.TB, ns *emulator.Namespace, entity, id string) *Session {
	t.Helper()
	e, err := ns.Entity(entity)
	if err != nil {
		t.Fatalf("sbtest: %v", err)
	}
	return &Session{t, e, id}
}

// Sessions returns what the sessions of a queue or subscription of the default namespace are, by id: those that have a message, a state or a holder.
func (s *Server) Sessions(t testing.TB, entity string) []emulator.SessionInfo {
	t.Helper()
	return sessionsOf(t, s.Default(), entity)
}

// Sessions is [Server.Sessions] in this namespace.
func (n *Namespace) Sessions(t testing.TB, entity string) []emulator.SessionInfo {
	t.Helper()
	return sessionsOf(t, n.Namespace, entity)
}

func sessionsOf(t testing.TB, ns *emulator.Namespace, entity string) []emulator.SessionInfo {
	t.Helper()
	list, _, err := sessionOf(t, ns, entity, "").e.Sessions().List("", true, math.MaxInt)
	if err != nil {
		t.Fatalf("sbtest: %v", err)
	}
	return list
}

// State returns the session's state, nil if it has none.
func (s *Session) State() []byte {
	s.t.Helper()
	state, err := s.e.Sessions().State(s.id)
	if err != nil {
		s.t.Fatalf("sbtest: %v", err)
	}
	return state
}

// SetState writes the session's state; nil clears it. A client that holds the session reads the new one.
func (s *Session) SetState(state []byte) {
	s.t.Helper()
	done := make(chan error, 1)
	err := s.e.Sessions().SetState(s.id, state, emulator.CompletionFunc(func(err error) { done <- err }))
	if err == nil {
		err = <-done
	}
	if err != nil {
		s.t.Fatalf("sbtest: %v", err)
	}
}

// Break takes the session's lock from its holder, whose receiver is detached with session-lock-lost, as when the time of the lock is over. An SDK may
// lock the session again if it is still free when the program uses the receiver next.
func (s *Session) Break() {
	s.t.Helper()
	if err := s.e.Sessions().Break(s.id, nil); err != nil {
		s.t.Fatalf("sbtest: %v", err)
	}
}
