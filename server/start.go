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
	"minibus/internal/secrets"
	"minibus/internal/seed"
	"minibus/mgmt"
	"minibus/mgmt/arm"
	"minibus/mgmt/control"
	"minibus/store"
)

// Config says what to start.
type Config struct {
	Settings  config.Settings
	Topology  *config.Topology // entities that must exist; nil for none
	Seed      []*seed.Line     // messages that are sent at the start, unless the database has had any
	NoNetwork bool             // bind no port: only [Server.Dial] connects
	Logger    *slog.Logger     // default: discards
	Trace     io.Writer        // one line per AMQP frame; nil for none

	// Broker and AMQP are options that have no flag: a clock, lazy expiry, idle times. Settings and Topology override
	// them.
	Broker emulator.Options
	AMQP   amqpserver.Options

	// claims returns the rights of principals by their roles, in tests; nil: as role assignments say.
	claims func(ns *emulator.Namespace, path string, principals []string) sas.Claims

	MissingIsGone bool // of mgmt.Options (DEC-13)

	Manual http.Handler // of mgmt.Options

	Bound func() error // called once the ports are bound, before any file is touched; nil for nothing
}

// Server is a running Minibus.
type Server struct {
	config Config
	hider  *secrets.Hider
	log    *slog.Logger
	ready  atomic.Bool

	refusals *loglimit.Limiter

	noted sync.Once // for noteUnverified
	azure azureRefusals

	identity issuer

	webSocket atomic.Pointer[http.Handler] // nil until AMQP is served

	ports          ports
	namespacePorts namespacePorts
	trust          trust
	data           dataChoice
	pipe           *listen.Pipe
	mux            *listen.Mux
	web            *mgmt.Server
	store          *store.Store
	broker         *emulator.Broker
	amqp           *amqpserver.Server
	arm            *arm.Manager   // nil for none
	served         sync.WaitGroup // the goroutines of the listeners and servers

	closing sync.Once
	closed  error
}

// Start brings everything up and returns once it is ready: every entity exists and every listener accepts. It binds
// the ports first, so that a busy one is found before any file is touched, and /health answers 503 while the rest
// starts. An error is one line; nothing is left running then.
func Start(ctx context.Context, c Config) (*Server, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Topology == nil {
		c.Topology = &config.Topology{Namespace: config.DefaultNamespace}
	}
	hider := c.hider()
	c.Logger = slog.New(redacted{c.Logger.Handler(), hider})
	if c.Trace != nil {
		c.Trace = redactedLines{c.Trace, hider}
	}
	a := &Server{config: c, hider: hider, log: c.Logger, refusals: loglimit.New(c.Logger), pipe: listen.NewPipe()}
	steps := []func() error{a.bind, a.prepareTLS, a.prepareData, a.prepareIdentity, a.listen, a.open,
		a.checkStoredKeys, a.seed, a.serve}
	for _, step := range steps {
		err := ctx.Err()
		if err == nil {
			err = step()
		}
		if err != nil {
			_ = a.Close(context.Background()) // the first error matters, not this one
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
	if a.config.Bound != nil {
		if err := a.config.Bound(); err != nil {
			return err
		}
	}
	return a.checkConfiguredKeys()
}

// prepareData chooses the database. It also drops privileges (DEC-8): after the ports are bound and the data
// directory has its new owner, before anything is written there or served.
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

// listen starts to accept connections. HTTP is answered at once; AMQP connections wait for serve.
func (a *Server) listen() error {
	if err := a.useAuthority(); err != nil {
		return err
	}
	a.mux = listen.New(listen.Options{TLS: a.trust.config, Logger: a.log, Fix: a.trust.fix(), Refusals: a.refusals})
	if a.managed() {
		a.arm = arm.New(arm.Options{Server: a, Logger: a.log,
			OtherTypes: a.config.Settings.ARMOtherTypes == config.OtherTypesStore})
	}
	m := a.metrics()
	a.web = mgmt.NewServer(mgmt.New(mgmt.Options{
		Ready: a.ready.Load, Trouble: func() error { return a.store.Health() }, Broker: a.Broker,
		Control: a.controlled(), ARM: a.arm, Access: a.access(), Identity: a.issuing(), Principal: a.principal,
		Unverified: a.noteUnverified,
		WebSocket:  http.HandlerFunc(a.serveWebSocket), Manual: a.config.Manual, Authority: a.trust.authority,
		MissingIsGone: a.config.MissingIsGone, Metrics: m.Handler(),
		OpenMetrics: a.config.Settings.OpenMetrics, Observe: m.ObserveHTTP,
		KnownHost: a.isKnownHost, Origins: a.config.Settings.AllowedOrigins.Origins(),
		Version: Version(), Ports: a.ports.Ports, Logger: a.log, Refusals: a.refusals,
	}), a.log)
	for _, l := range append(a.ports.listeners(), a.pipe) {
		a.accept(l)
	}
	a.goServe("HTTP", func() error { return a.web.Serve(mgmt.Listener(a.mux.HTTP())) })
	return nil
}

// controlled is what the control API steers, nil without one.
func (a *Server) controlled() control.Server {
	if a.config.Settings.Control == "off" {
		return nil
	}
	return a
}

// accept serves the connections of a listener.
func (a *Server) accept(l net.Listener) {
	a.goServe("a port", func() error { return a.mux.Serve(l) })
}

// serveWebSocket passes WebSockets to AMQP, and answers 503 before AMQP is served; clients try again.
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
	a.store, err = store.Open(a.data.path,
		store.Options{Ephemeral: a.data.ephemeral, Synchronous: s.Synchronous, Logger: a.log})
	if err != nil {
		return err
	}
	o := a.config.Broker
	o.Name = a.config.Topology.Namespace
	o.Logger = a.log
	o.Limits = s.Limits.Broker()
	o.NamespaceSuffixes = a.suffixes()
	o.Record = emulator.NewRecord(int64(s.History))
	if s.OTLP != "" && o.Record != nil {
		o.Record.KeepContexts()
	}
	if a.arm != nil {
		o.Deleted = a.arm.Deleted
	}
	a.broker, err = emulator.OpenBroker(a.store, o)
	if err != nil {
		return fmt.Errorf("load the broker: %w", err)
	}
	if err := (&topologist{a.broker, a.log}).ensure(a.config.Topology); err != nil {
		return err
	}
	if err := a.reconcilePolicies(); err != nil {
		return err
	}
	a.namespacePorts = namespacePorts{broker: a.broker, host: s.Host, numbers: s.NamespacePorts, others: &a.ports,
		off:    a.config.NoNetwork,
		accept: a.accept, log: a.log, bound: make(map[int]binding)}
	if err := a.namespacePorts.open(a.config.Topology); err != nil || a.arm == nil {
		return err
	}
	return a.arm.Open(a.store.Documents())
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
	o.Logger = a.log
	o.Refusals = a.refusals
	o.Trace = a.config.Trace
	o.Access = a.access()
	o.Unverified = a.noteUnverified
	a.amqp = amqpserver.New(a.broker, o)
	a.webSocket.Store(new(a.amqp.WebSocketHandler()))
	a.namespacePorts.serveAll()
	a.goServe("AMQP", func() error { return a.amqp.Serve(a.mux.AMQP()) })
	return nil
}

// goServe runs a server until Close. It logs if the server ends earlier: Minibus would look alive and serve nothing.
func (a *Server) goServe(what string, serve func() error) {
	a.served.Go(func() {
		err := serve()
		if !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) &&
			!errors.Is(err, amqpserver.ErrServerClosed) {
			a.log.Error("a server ended", "server", what, "error", err)
		}
	})
}

// Close takes everything down. It accepts no more connections. AMQP clients get amqp:connection:forced after their
// messages are committed and acknowledged, and HTTP clients get their answers; if ctx ends first, Close cuts the
// connections. Then the broker stops its timers and forwarders, and stores again the messages that were removed but
// did not reach a client. The store is closed last. Close may be called more than once.
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
	a.namespacePorts.closeAll()
	if a.mux == nil {
		a.ports.close()
	} else {
		add("the ports", a.mux.Close())
	}
	overAMQP, overHTTP := a.endConnections(ctx)
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

// endConnections ends the connections of both protocols at the same time, so that both have all of ctx's time.
func (a *Server) endConnections(ctx context.Context) (overAMQP, overHTTP error) {
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

// Dial connects in memory, without a port. The connection speaks everything that a port speaks.
func (a *Server) Dial(ctx context.Context) (net.Conn, error) { return a.pipe.Dial(ctx) }

// Ports returns the bound ports.
func (a *Server) Ports() config.Ports {
	p := a.ports.Ports
	p.Namespaces = a.namespacePorts.served()
	return p
}

// Database returns the path of the database; empty if everything is in memory.
func (a *Server) Database() string { return a.data.path }

// Broker returns the running namespaces.
func (a *Server) Broker() *emulator.Broker { return a.broker }

// Namespace returns the default namespace.
func (a *Server) Namespace() *emulator.Namespace { return a.broker.Default() }
