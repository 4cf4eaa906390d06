package sbtest

import (
	"testing"

	"minibus/emulator"
)

// Domain is the namespace behind the face that tests have.
func (n *Namespace) Domain() *emulator.Namespace { return n.ns }

// Find returns a namespace of a server by its name.
func (s *Server) Find(t testing.TB, name string) *Namespace {
	t.Helper()
	ns, err := s.server.Broker().Namespace(name)
	check(t, "find "+name, err)
	return &Namespace{ns, s.server, s.limits}
}
