package sbtest

import (
	"context"
	"math"
	"net"
	"testing"
	"time"

	"minibus/config"
	"minibus/emulator"
	"minibus/server"
)

// closeTime is how long the end of a test waits for connections that the test left open.
const closeTime = 5 * time.Second

// Server is a running Minibus.
type Server struct {
	server *server.Server
	limits config.Limits
}

// Start runs a Minibus until the test and its subtests end. Without a [Queue], [Topic] or [ConfigJSON] it has the entities of
// Microsoft's emulator, queue.1 and topic.1. If it can't start, the test fails with all that is wrong and what to do. Warnings go to the
// log of the test.
func Start(t testing.TB, opts ...Option) *Server {
	t.Helper()
	o := newOptions()
	for _, opt := range opts {
		opt.apply(o)
	}
	o.config.Topology = o.topology(t)
	a, err := server.Start(context.Background(), o.config)
	if err != nil {
		t.Fatalf("sbtest: start Minibus: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if err := a.Close(ctx); err != nil {
			t.Errorf("sbtest: stop Minibus: %v", err)
		}
	})
	return &Server{server: a, limits: o.config.Settings.Limits}
}

// ConnectionString returns a connection string for any Azure SDK. Its port speaks AMQP, AMQP over WebSockets, and HTTP, each with and
// without TLS.
func (s *Server) ConnectionString() string { return s.server.ConnectionString() }

// Dial connects in memory. The connection carries AMQP without TLS, as azservicebus sends it through ClientOptions.NewWebSocketConn,
// and go-amqp through NewConn. It works inside a testing/synctest bubble, where sockets do not.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) { return s.server.Dial(ctx) }

// Default returns the namespace of [Start] itself, for a look behind the scenes: Entity finds a queue, a topic or a subscription, such as
// "events/Subscriptions/all", and its Counts are the numbers of messages.
func (s *Server) Default() *emulator.Namespace { return s.server.Namespace() }

// Advance lets time pass for the broker alone, in all of its namespaces. Locks end, messages expire and scheduled ones become due, in each
// namespace in their order, before Advance returns. No time passes on the network, so connections and waiting calls live on. A test that
// shares the server with others calls [Namespace.Advance] instead.
func (s *Server) Advance(d time.Duration) {
	if err := s.server.Broker().Advance(d); err != nil {
		panic("sbtest: " + err.Error())
	}
}

// recordSize is how many bytes of what happened to messages a server keeps.
const recordSize = 16 << 20

// options are those of [Start], put together.
type options struct {
	config server.Config
	clock  *emulator.SystemClock
	parts  []config.Part // what the test declares, read once all options are known
}

func newOptions() *options {
	o := &options{clock: &emulator.SystemClock{Recheck: math.MaxInt64}} // years may pass in a bubble
	o.config.Settings = config.Settings{Host: "localhost", History: recordSize, TLSPort: config.PortOff, HTTPPort: config.PortOff,
		NamespacePorts: "0", Ephemeral: true}
	o.config.Broker.Clock = o.clock
	return o
}

// topology reads what the test declares, and fails the test with all that is wrong. Warnings go to its log.
func (o *options) topology(t testing.TB) *config.Topology {
	t.Helper()
	if len(o.parts) == 0 {
		return config.DefaultTopology()
	}
	return assemble(t, o.parts, o.config.Settings.Limits)
}

func assemble(t testing.TB, parts []config.Part, limits config.Limits) *config.Topology {
	t.Helper()
	return assembleInto(t, parts, limits, nil)
}

// assembleInto reads what is declared for a namespace that has entities already.
func assembleInto(t testing.TB, parts []config.Part, limits config.Limits, existing func(path string) string) *config.Topology {
	t.Helper()
	topology, report := config.AssembleInto(parts, limits, existing)
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
