package sbtest

import (
	"testing"

	"minibus/emulator"
)

// Reset makes this namespace what it was when the test made it: the same entities and no others, without messages, with sequence numbers from 1, and a clock that shows
// the time of day. Clients stay connected; the SDK attaches their links again at the next call.
func (n *Namespace) Reset(t testing.TB) {
	t.Helper()
	check(t, "reset the namespace", n.server.ResetNamespace(n.Namespace))
}

// Reset makes all namespaces what they were at the start, as [Namespace.Reset] does one.
func (s *Server) Reset(t testing.TB) {
	t.Helper()
	s.each(t, "reset the namespaces", func(ns *emulator.Namespace) error { return s.server.ResetNamespace(ns) })
}
