package sbtest

import (
	"context"
	"testing"
	"time"

	"minibus/emulator"
)

// Freeze lets the time of this namespace stand still: no lock ends, no message expires, nothing falls due, however long the test takes. Advance and SetTime move it
// on, and it stands still again.
//
//	ns.Freeze(t)
//	send(&azservicebus.Message{Body: body, ScheduledEnqueueTime: &nextWeek})
//	ns.SetTime(t, nextWeek)
func (n *Namespace) Freeze(t testing.TB) {
	t.Helper()
	check(t, "freeze the clock", n.Namespace.Clock().Freeze())
}

// Resume lets the time of a frozen namespace go on from where it stands.
func (n *Namespace) Resume(t testing.TB) {
	t.Helper()
	check(t, "resume the clock", n.Namespace.Clock().Resume())
}

// SetTime lets time pass in this namespace until an instant. The test fails if that is over: a clock never goes back.
func (n *Namespace) SetTime(t testing.TB, to time.Time) {
	t.Helper()
	check(t, "set the clock", n.Namespace.Clock().Set(context.Background(), to))
}

// Freeze lets the time stand still in all namespaces that there are, as [Namespace.Freeze] does in one.
func (s *Server) Freeze(t testing.TB) {
	t.Helper()
	s.each(t, "freeze the clocks", func(ns *emulator.Namespace) error { return ns.Clock().Freeze() })
}

// Resume lets the time go on in all namespaces that were frozen.
func (s *Server) Resume(t testing.TB) {
	t.Helper()
	s.each(t, "resume the clocks", func(ns *emulator.Namespace) error { return ns.Clock().Resume() })
}

// SetTime lets time pass in all namespaces until an instant, as [Namespace.SetTime] does in one.
func (s *Server) SetTime(t testing.TB, to time.Time) {
	t.Helper()
	s.each(t, "set the clocks", func(ns *emulator.Namespace) error { return ns.Clock().Set(context.Background(), to) })
}

func (s *Server) each(t testing.TB, what string, f func(*emulator.Namespace) error) {
	t.Helper()
	for _, ns := range s.server.Broker().Namespaces() {
		check(t, what, f(ns))
	}
}

// check fails the test if something could not be done.
func check(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("sbtest: %s: %v", what, err)
	}
}
