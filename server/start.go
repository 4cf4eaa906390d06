package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"minibus/amqpserver"
	"minibus/config"
	"minibus/emulator"
	"minibus/internal/listen"
	"minibus/internal/loglimit"
	"minibus/internal/sas"
	"minibus/mgmt"
	"minibus/store"
)

// Config says what to start.
type Config struct {
	Settings  config.Settings
	Topology  *config.Topology // entities that must exist; nil for none
	NoNetwork bool             // bind no port: only [Server.Dial] connects
	Logger    *slog.Logger     // default: discards
	Trace     io.Writer        // one line per AMQP frame; nil for none

	// Broker and AMQP are options that have no flag: a clock, lazy expiry, idle times. What Settings and Topology say
	// goes before them.
	Broker emulator.Options
	AMQP   amqpserver.Options

	MissingIsGone bool // of mgmt.Options (DEC-13)
}

// Server is a running Minibus.
type Server struct {
	config Config
	log    *slog.Logger
	ready  atomic.Bool

	refusals *loglimit.Limiter

	ring  *sas.Ring // nil: tokens are not checked
	noted sync.Once // that a web token was not checked

	webSocket atomic.Pointer[http.Handler] // once AMQP is served

	ports  ports
	trust  trust
	data   dataChoice
	pipe   *listen.Pipe
	mux    *listen.Mux
	web    *mgmt.Server
	store  *store.Store
	broker *emulator.Namespace
	amqp   *amqpserver.Server
	served sync.WaitGroup // the goroutines of the listeners and servers

	closing sync.Once
	closed  error
}

// Start brings everything up and returns once it is ready: every entity exists and every listener accepts. Ports are bound
// first, so that a busy one is found before anything is touched, and /health answers 503 from then on. An error is one line;
// nothing is left running then.
func Start(ctx context.Context, c Config) (*Server, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	c.Logger = slog.New(discreet{c.Logger.Handler()})
	if c.Trace != nil {
		c.Trace = discreetLines{c.Trace}
	}
	if c.Topology == nil {
		c.Topology = &config.Topology{Namespace: config.DefaultNamespace}
	}
	a := &Server{config: c, log: c.Logger, refusals: loglimit.New(c.Logger), pipe: listen.NewPipe()}
	for _, step := range []func() error{a.bind, a.prepareTLS, a.prepareData, a.listen, a.open, a.serve} {
		err := ctx.Err()
		if err == nil {
			err = step()
		}
		if err != nil {
			_ = a.Close(context.Background()) // what came up so far; the first error is the one to tell
			return nil, err
		}
	}
	a.ready.Store(true)
	return a, nil
}

func (a *Server) bind() error {
	if a.config.NoNetwork {
		return nil
	}
	var err error
	if a.ports, err = bindPorts(a.config.Settings, a.log); err != nil {
		return err
	}
	return a.checkKeys()
}

// prepareData chooses the database. It also drops privileges: after the ports are bound and the data directory is taken
// over, before anything is written or served (DEC-8).
func (a *Server) prepareData() error {
	var err error
	a.data, err = chooseData(a.config.Settings, func(path string) {
		becomeUser(a.config.Settings.User, path, a.log)
	})
	if err == nil && a.data.note != "" {
		a.log.Warn(a.data.note)
	}
	return err
}

// listen starts to accept; HTTP is answered at once, AMQP connections wait for serve.
func (a *Server) listen() error {
	if err := a.useAuthority(); err != nil {
		return err
	}
	a.mux = listen.New(listen.Options{TLS: a.trust.config, Logger: a.log, Cure: a.trust.cure(), Refusals: a.refusals})
	m := a.metrics()
	a.ring = a.access()
	a.web = mgmt.NewServer(mgmt.New(mgmt.Options{
		Ready: a.ready.Load, Trouble: func() error { return a.store.Trouble() }, Broker: a.Broker, Access: a.ring, Unverified: a.noteUnverified, WebSocket: http.HandlerFunc(a.serveWebSocket),
		Authority: a.trust.authority, MissingIsGone: a.config.MissingIsGone, Metrics: m.Handler(), OpenMetrics: a.config.Settings.OpenMetrics, Observe: m.ObserveHTTP,
		KnownHost: a.isKnownHost, Origins: a.config.Settings.AllowedOrigins.Origins(),
		Version: Version(), Logger: a.log, Refusals: a.refusals,
	}), a.log)
	for _, l := range append(a.ports.listeners(), a.pipe) {
		a.goServe("a port", func() error { return a.mux.Serve(l) })
	}
	a.goServe("HTTP", func() error { return a.web.Serve(mgmt.Listener(a.mux.HTTP())) })
	return nil
}

// serveWebSocket refuses clients that come before AMQP is served; they try again.
func (a *Server) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	h := a.webSocket.Load()
	if h == nil {
		http.Error(w, "Minibus is starting. Please try again.", http.StatusServiceUnavailable)
		return
	}
	(*h).ServeHTTP(w, r)
}

// open opens the store and the broker and creates the entities.
func (a *Server) open() error {
	var err error
	s := a.config.Settings
	a.store, err = store.Open(a.data.path, store.Options{Ephemeral: a.data.ephemeral, Synchronous: s.Synchronous, Logger: a.log})
	if err != nil {
		return err
	}
	o := a.config.Broker
	o.Name, o.Logger, o.Limits = a.config.Topology.Namespace, a.log, s.Limits.Broker()
	a.broker, err = emulator.Open(a.store, o)
	if err != nil {
		return fmt.Errorf("load the broker: %w", err)
	}
	if err := a.broker.EnsureEntities(a.config.Topology.Entities); err != nil {
		return entityError(err)
	}
	return nil
}

// entityError says which entity of the configuration, or which rule, the broker refused.
func entityError(err error) error {
	var refused *emulator.Error
	if errors.As(err, &refused) && refused.Entity != "" {
		return fmt.Errorf("create the entities: %s: %w", refused.Entity, err)
	}
	return fmt.Errorf("create the entities: %w", err)
}

func (a *Server) serve() error {
	o := a.config.AMQP
	o.Logger, o.Refusals, o.Trace, o.Access, o.Unverified = a.log, a.refusals, a.config.Trace, a.ring, a.noteUnverified
	a.amqp = amqpserver.New(a.broker, o)
	a.webSocket.Store(new(a.amqp.WebSocketHandler()))
	a.goServe("AMQP", func() error { return a.amqp.Serve(a.mux.AMQP()) })
	return nil
}

// goServe runs a server until Close. One that ends before is reported: Minibus would look alive and serve nothing.
func (a *Server) goServe(what string, serve func() error) {
	a.served.Go(func() {
		err := serve()
		if !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, amqpserver.ErrServerClosed) {
			a.log.Error("a server ended", "server", what, "error", err)
		}
	})
}

// Close takes everything down. No connection is accepted any more; AMQP clients are told amqp:connection:forced after what they
// have sent is committed and acknowledged, and HTTP clients get their answers; when ctx ends first, connections are cut. Then no
// client holds anything: the broker stops what it does by itself and stores again what was removed and did not reach a client.
// The store is closed last. Close may be called more than once.
func (a *Server) Close(ctx context.Context) error {
	a.closing.Do(func() { a.closed = a.close(ctx) })
	return a.closed
}

func (a *Server) close(ctx context.Context) error {
	a.ready.Store(false)
	var errs []error
	add := func(what string, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("close %s: %w", what, err))
		}
	}
	_ = a.pipe.Close()
	if a.mux == nil {
		a.ports.close()
	} else {
		add("the ports", a.mux.Close())
	}
	overAMQP, overHTTP := a.letGo(ctx)
	add("AMQP", overAMQP)
	add("HTTP", overHTTP)
	a.served.Wait()
	a.refusals.Close()
	if a.broker != nil {
		a.broker.Close()
	}
	if a.store != nil {
		add("the store", a.store.Close())
	}
	return errors.Join(errs...)
}

// letGo ends all connections, of both protocols at the same time: ctx is for both.
func (a *Server) letGo(ctx context.Context) (overAMQP, overHTTP error) {
	var ended sync.WaitGroup
	if a.amqp != nil {
		ended.Go(func() { overAMQP = a.amqp.Shutdown(ctx) })
	}
	if a.web != nil {
		ended.Go(func() { overHTTP = a.web.Shutdown(ctx) })
	}
	ended.Wait()
	return overAMQP, overHTTP
}

// Dial connects in memory, past all ports. The connection speaks whatever a port speaks.
func (a *Server) Dial(ctx context.Context) (net.Conn, error) { return a.pipe.Dial(ctx) }

// Broker is the running namespace.
func (a *Server) Broker() *emulator.Namespace { return a.broker }
