package amqpserver

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"minibus/emulator"
)

// ErrServerClosed is returned by [Server.Serve] after [Server.Shutdown].
var ErrServerClosed = errors.New("amqpserver: server closed")

// Server serves AMQP connections for the namespaces of a broker. Its methods may be called from any goroutine.
type Server struct {
	// immutable
	broker  *emulator.Broker
	options Options
	trace   *tracer // nil without Options.Trace

	readBuffers    sync.Pool    // of *[]byte, each as large as the largest frame
	uncommitted    atomic.Int64 // bytes of all connections on their way to the journal, without large deliveries
	incomingMemory memoryBudget // for large deliveries from clients, until the journal has them
	outgoingMemory memoryBudget // for large deliveries to clients
	lastConn       atomic.Int64
	refused        refusals
	links          atomic.Int64 // attached now
	linksTotal     atomic.Int64
	toldJMS        atomic.Bool // the log has said what Azure wants for JMS 2.0

	// guarded by mu
	mu              sync.Mutex
	listeners       map[net.Listener]struct{}
	conns           map[*conn]struct{}
	namespaces      map[*emulator.Namespace]*openNamespace
	unauthenticated list.List // of *conn, the oldest first
	closed          bool
	ended           sync.WaitGroup // one count per connection and watched namespace; Add only while not closed
}

// New returns a server for the broker's namespaces. It starts no goroutine before it serves something.
func New(b *emulator.Broker, o Options) *Server {
	s := &Server{
		broker:     b,
		options:    o.withDefaults(),
		listeners:  make(map[net.Listener]struct{}),
		conns:      make(map[*conn]struct{}),
		namespaces: make(map[*emulator.Namespace]*openNamespace),
	}
	s.incomingMemory.size = s.options.LargeBytes
	s.outgoingMemory.size = s.options.LargeBytes
	s.readBuffers.New = func() any {
		b := make([]byte, s.options.MaxFrameSize)
		return &b
	}
	if o.Trace != nil {
		s.trace = &tracer{w: o.Trace}
	}
	return s
}

// Serve accepts connections until the listener is closed or the server shut down; then it returns [ErrServerClosed] or
// the listener's error. It closes the listener.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrServerClosed
	}
	s.listeners[l] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listeners, l)
	}()
	var delay time.Duration
	for {
		nc, err := l.Accept()
		if err == nil {
			delay = 0
			go s.ServeConn(nc)
			continue
		}
		if s.isClosed() {
			return ErrServerClosed
		}
		var ne net.Error
		if errors.Is(err, net.ErrClosed) || !errors.As(err, &ne) {
			return fmt.Errorf("accept connection: %w", err)
		}
		// Out of file descriptors, most likely: try again, but not in a tight loop.
		delay = min(max(2*delay, 5*time.Millisecond), time.Second)
		s.options.Logger.Warn("accepting a connection failed", "error", err, "retry", delay)
		time.Sleep(delay)
	}
}

// ServeConn serves one connection, of any kind that carries bytes in order, and returns when it has ended.
func (s *Server) ServeConn(nc net.Conn) {
	c := newConn(s, nc, "c"+strconv.FormatInt(s.lastConn.Add(1), 10))
	if !s.addConn(c) {
		_ = nc.Close()
		return
	}
	defer s.removeConn(c)
	c.serve()
}

// Shutdown closes the listeners and ends all connections: it lets what clients have sent be committed and
// acknowledged, then closes with amqp:connection:forced, after which every SDK connects again. It returns when all
// goroutines of the server have ended. If ctx ends first, it cuts the connections and returns the context's error.
func (s *Server) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	for l := range s.listeners {
		_ = l.Close()
	}
	s.mu.Unlock()
	for _, c := range s.openConns() {
		c.post(c.shutdown)
		c.interrupt()
	}
	ended := make(chan struct{})
	go func() {
		s.ended.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	for _, c := range s.openConns() {
		c.post(func() { c.dead = errSocketGone }) // the loop may be reading nothing now
		_ = c.nc.Close()
	}
	<-ended
	return fmt.Errorf("shut down connections: %w", ctx.Err())
}

// Connections returns the number of open connections.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

func (s *Server) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *Server) openConns() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.conns))
}

func (s *Server) addConn(c *conn) bool {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return false
	}
	s.conns[c] = struct{}{}
	s.ended.Add(1)
	var oldest *conn
	if c.tokens.unauthenticated() {
		oldest = s.addUnauthenticated(c)
	}
	s.mu.Unlock()
	if oldest != nil {
		oldest.evict()
	}
	return true
}

func (s *Server) removeConn(c *conn) {
	s.mu.Lock()
	s.removeUnauthenticated(c)
	delete(s.conns, c)
	s.leave(c)
	s.mu.Unlock()
	s.ended.Done()
}
