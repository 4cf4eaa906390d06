package sbtest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
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
	clock  *emulator.SystemClock // nil with WithClock
}

// Start runs a Minibus until the test and its subtests end. Without an option that names entities it has Microsoft's default ones,
// queue.1 and topic.1. What fails ends the test.
func Start(t testing.TB, opts ...Option) *Server {
	t.Helper()
	o := &options{config: server.Config{Settings: config.Settings{Host: "localhost", TLSPort: config.PortOff, HTTPPort: config.PortOff, Ephemeral: true}}}
	clock := &emulator.SystemClock{Recheck: math.MaxInt64} // years may pass in a bubble
	o.config.Broker.Clock = clock
	for _, opt := range opts {
		opt(t, o)
	}
	if o.config.Broker.Clock != clock {
		clock = nil
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
	return &Server{server: a, clock: clock}
}

// ConnectionString is what every SDK takes. Its port speaks AMQP, AMQP over TLS and HTTP.
func (s *Server) ConnectionString() string { return s.server.ConnectionString() }

// Dial connects in memory. The connection carries AMQP without TLS, which is what azservicebus sends through its
// NewWebSocketConn and go-amqp through NewConn; it works inside a testing/synctest bubble.
func (s *Server) Dial(ctx context.Context) (net.Conn, error) { return s.server.Dial(ctx) }

// Namespace is the broker itself, for looking behind the scenes: queues, counts.
func (s *Server) Namespace() *emulator.Namespace { return s.server.Broker() }

// Advance lets the broker's time pass: locks end, messages expire, scheduled ones become due, all in their order, before
// it returns. Time on the network does not pass, so that connections and waiting calls live on (DEC-35). It can't be
// used together with [WithClock].
func (s *Server) Advance(d time.Duration) {
	if s.clock == nil {
		panic("sbtest: Advance needs the clock that Start brings; leave WithClock out")
	}
	s.clock.Advance(d, s.server.Broker().Quiesce)
}

// Option changes what [Start] starts.
type Option func(t testing.TB, o *options)

type options struct {
	config server.Config
	parts  []config.Part // what the test declares, read once all options are known
}

// topology reads what the test declares, and fails the test with all that is wrong. Warnings go to its log.
func (o *options) topology(t testing.TB) *config.Topology {
	t.Helper()
	if len(o.parts) == 0 {
		return config.DefaultTopology()
	}
	topology, report := config.Assemble(o.parts, o.config.Settings.Limits)
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

// Queue adds a queue. The zero value of an option means the cloud's default (ten deliveries, a lock of a minute, no expiry). Names
// and settings are checked as those of a Config.json are, under the profile of [WithLimits].
func Queue(name string, o emulator.QueueOptions) Option {
	return func(_ testing.TB, opts *options) {
		opts.parts = append(opts.parts, config.Part{From: fmt.Sprintf("sbtest.Queue(%q)", name), Path: name, Queue: &o})
	}
}

// ConfigJSON adds the entities of a configuration in Microsoft's format, with Microsoft's defaults. An unknown key fails the test; in
// a file that minibus serves it is a warning.
func ConfigJSON(text string) Option {
	return func(_ testing.TB, opts *options) {
		opts.parts = append(opts.parts, config.Part{From: "sbtest.ConfigJSON", JSON: []byte(text)})
	}
}

// WithClock makes the broker's time that of a clock (DEC-35 says which times those are).
func WithClock(c emulator.Clock) Option {
	return func(_ testing.TB, o *options) { o.config.Broker.Clock = c }
}

// WithoutNetwork binds no port: only [Server.Dial] connects.
func WithoutNetwork() Option {
	return func(_ testing.TB, o *options) { o.config.NoNetwork = true }
}

// WithLogger sends the server's log lines somewhere: one per refused or failed operation.
func WithLogger(l *slog.Logger) Option {
	return func(_ testing.TB, o *options) { o.config.Logger = l }
}

// WithTrace prints one line per AMQP frame, without bodies and tokens.
func WithTrace(w io.Writer) Option {
	return func(_ testing.TB, o *options) { o.config.Trace = w }
}

// WithLimits enforces a profile of limits: relaxed, standard, premium or emulator (DEC-1). It holds for what clients ask for and for
// what the test declares, wherever it stands among the options.
func WithLimits(name string) Option {
	return func(t testing.TB, o *options) {
		t.Helper()
		l, err := config.ParseLimits(name)
		if err != nil {
			t.Fatalf("sbtest: %v", err)
		}
		o.config.Settings.Limits = l
	}
}

// WithTokens checks tokens, as the cloud does: what a connection string or a shared access signature opens is what its policy
// allows (DEC-10). The policies are those of [ConfigJSON], or else the one of [Server.ConnectionString].
func WithTokens() Option {
	return func(_ testing.TB, o *options) { o.config.Settings.Auth = config.AuthSAS }
}

// WithLazyExpiry leaves expired messages in place until a receive comes upon them (DEC-22).
func WithLazyExpiry() Option {
	return func(_ testing.TB, o *options) { o.config.Broker.LazyExpiry = true }
}

// WithIdleTimes changes after how long without traffic a link is detached, and a connection without links closed
// (DEC-15); negative is never.
func WithIdleTimes(link, connection time.Duration) Option {
	return func(_ testing.TB, o *options) {
		o.config.AMQP.LinkIdle, o.config.AMQP.ConnectionIdle = link, connection
	}
}

// WithSecondCBS allows several senders to $cbs on a connection, as plain AMQP clients may open them (DEC-14).
func WithSecondCBS() Option {
	return func(_ testing.TB, o *options) { o.config.AMQP.AllowSecondCBS = true }
}

// WithLockedSessionState tells a session's state only to the receiver that holds the session; without it, clients that
// browse may read it too (DEC-20).
func WithLockedSessionState() Option {
	return func(_ testing.TB, o *options) { o.config.AMQP.LockedSessionState = true }
}

// WithGoneEntities answers 410 to sends and receives over HTTP for an entity that does not exist, as the service's
// documentation has it; without it, 404 (DEC-13).
func WithGoneEntities() Option {
	return func(_ testing.TB, o *options) { o.config.MissingIsGone = true }
}
