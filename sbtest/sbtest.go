package sbtest

import (
	"context"
	"math"
	"testing"
	"time"

	"minibus/config"
	"minibus/emulator/clock"
	"minibus/server"
)

// Server is a running Minibus. It has the methods of its default namespace; those of Server itself concern all of its
// namespaces.
type Server struct {
	*Namespace // the default one
}

// Start runs a Minibus until the test and its subtests end. Without a [Queue], [Topic] or [ConfigJSON] it has the
// entities of Microsoft's emulator, queue.1 and topic.1. If it can't start, the test fails with all that is wrong and
// what to do. Warnings go to the log of the test. In a testing/synctest bubble it starts as [WithoutNetwork] does.
func Start(t testing.TB, opts ...Option) *Server {
	t.Helper()
	o := newOptions()
	for _, opt := range opts {
		opt.apply(o)
	}
	o.config.Topology = config.DefaultTopology()
	if len(o.parts) > 0 {
		o.config.Topology = assemble(t, o.parts, o.config.Settings.Limits, nil)
	}
	s, err := server.Start(context.Background(), o.config)
	check(t, "start Minibus", err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if err := s.Close(ctx); err != nil {
			t.Errorf("sbtest: stop Minibus: %v", err)
		}
	})
	return &Server{&Namespace{s.Namespace(), s, o.config.Settings.Limits}}
}

const (
	closeTime  = 5 * time.Second // how long the end of a test waits for connections that the test left open
	recordSize = 16 << 20        // how many bytes of what happened to messages a server keeps
)

// options are those of [Start], put together.
type options struct {
	config server.Config
	clock  *clock.System
	parts  []config.Part // what the test declares, read once all options are known
}

func newOptions() *options {
	o := &options{clock: &clock.System{Recheck: math.MaxInt64}} // years may pass in a bubble
	o.config.Settings = config.Settings{
		Host: "localhost", History: recordSize, TLSPort: config.PortOff, HTTPPort: config.PortOff,
		NamespacePorts: "0", Ephemeral: true,
	}
	o.config.Broker.Clock = o.clock
	o.config.NoNetwork = time.Now().Year() < 2020 // in a bubble, where time begins with the year 2000
	return o
}

// assemble reads what a test declares. Warnings go to the log of the test. existing finds entities that there are
// already; nil: none.
func assemble(
	t testing.TB, parts []config.Part, limits config.Profile, existing func(path string) string,
) *config.Topology {
	t.Helper()
	topology, report := config.Assemble(parts, limits, existing)
	for _, f := range report.Findings {
		if f.Severity == config.Warning {
			t.Log(f)
		}
	}
	if err := report.Err(); err != nil {
		t.Fatalf("sbtest: what the test declares can't be served:\n%v", err)
	}
	return topology
}

// Advance lets time pass for the broker alone, in all of its namespaces. Locks end, messages expire and scheduled
// ones become due, in each namespace in their order, before Advance returns. No time passes on the network, so
// connections and waiting calls live on. A test that shares the server with others calls [Namespace.Advance] instead.
func (s *Server) Advance(d time.Duration) {
	if err := s.server.Broker().Advance(d); err != nil {
		panic("sbtest: " + err.Error())
	}
}

// Freeze lets the time stand still in all namespaces that there are, as [Namespace.Freeze] does in one.
func (s *Server) Freeze(t testing.TB) {
	t.Helper()
	s.each(func(n *Namespace) { n.Freeze(t) })
}

// Resume lets the time go on in all namespaces that were frozen.
func (s *Server) Resume(t testing.TB) {
	t.Helper()
	s.each(func(n *Namespace) { n.Resume(t) })
}

// SetTime lets time pass in all namespaces until an instant, as [Namespace.SetTime] does in one.
func (s *Server) SetTime(t testing.TB, to time.Time) {
	t.Helper()
	s.each(func(n *Namespace) { n.SetTime(t, to) })
}

// Snapshot saves what is in each namespace under a name, as [Namespace.Snapshot] does for one.
func (s *Server) Snapshot(t testing.TB, name string) {
	t.Helper()
	s.each(func(n *Namespace) { n.Snapshot(t, name) })
}

// Restore restores the snapshots with a name in all namespaces that have one, as [Namespace.Restore] does in one.
// Namespaces that were made later stay as they are. The test fails if the default namespace has none.
func (s *Server) Restore(t testing.TB, name string) {
	t.Helper()
	s.each(func(n *Namespace) {
		if _, err := n.ns.Snapshots().Get(name); err == nil || n.ns == s.ns {
			n.Restore(t, name)
		}
	})
}

// Reset makes all namespaces what they were at the start, as [Namespace.Reset] does one.
func (s *Server) Reset(t testing.TB) {
	t.Helper()
	s.each(func(n *Namespace) { n.Reset(t) })
}

func (s *Server) each(do func(*Namespace)) {
	for _, ns := range s.server.Broker().Namespaces() {
		do(&Namespace{ns, s.server, s.limits})
	}
}
