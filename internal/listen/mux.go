package listen

import (
	"container/list"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"minibus/internal/loglimit"
)

// Defaults of [Options].
const (
	defaultTimeout    = 10 * time.Second
	defaultMaxPending = 1024
)

// Options configure a [Mux]. The zero value of a field means its default.
type Options struct {
	TLS        *tls.Config   // nil: connections that begin with a TLS handshake are dropped
	Timeout    time.Duration // how long the protocol may stay unknown, TLS handshake included
	MaxPending int           // connections with an unknown protocol; one more drops the oldest
	Logger     *slog.Logger  // default discards
	Fix        string        // what to do about a client that does not trust the certificate, for the log

	Refusals *loglimit.Limiter // rate-limits the lines about such clients and connections; nil limits nothing
}

// Mux sorts connections by protocol. Make one with [New].
type Mux struct {
	tls     *tls.Config
	timeout time.Duration
	most    int
	log     *slog.Logger
	fix     string
	refused *loglimit.Limiter
	amqp    *queue
	http    *queue
	done    chan struct{}

	mu        sync.Mutex
	closed    bool
	listeners map[net.Listener]struct{}
	pending   *list.List // of net.Conn, oldest first
	wait      sync.WaitGroup
}

// New returns a Mux that serves nothing yet.
func New(o Options) *Mux {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.MaxPending <= 0 {
		o.MaxPending = defaultMaxPending
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Mux{tls: o.TLS, timeout: o.Timeout, most: o.MaxPending, log: o.Logger, fix: o.Fix, refused: o.Refusals,
		amqp: newQueue(), http: newQueue(), done: make(chan struct{}),
		listeners: map[net.Listener]struct{}{}, pending: list.New()}
}

// AMQP returns the listener of connections that begin with an AMQP protocol header. Its address names no port.
// Closing it drops later connections of that kind.
func (m *Mux) AMQP() net.Listener { return m.amqp }

// HTTP returns the listener of connections that begin with an HTTP/1 request.
func (m *Mux) HTTP() net.Listener { return m.http }

// Serve accepts on l until l or the Mux is closed; then it returns net.ErrClosed. It may be called for several
// listeners.
func (m *Mux) Serve(l net.Listener) error {
	if !m.add(l) {
		_ = l.Close()
		return net.ErrClosed
	}
	defer m.remove(l)
	var pause time.Duration
	for {
		c, err := l.Accept()
		switch {
		case err == nil:
			pause = 0
			m.start(c)
		case errors.Is(err, net.ErrClosed):
			return net.ErrClosed
		default: // out of file descriptors, or a client left before it was accepted: wait and go on
			pause = min(max(2*pause, 5*time.Millisecond), time.Second)
			m.log.Warn("cannot accept a connection", "listener", l.Addr().String(), "error", err, "retry", pause)
			if !m.sleep(pause) {
				return net.ErrClosed
			}
		}
	}
}

// sleep waits for d; it returns false if the Mux is closed meanwhile.
func (m *Mux) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-m.done:
		return false
	}
}

func (m *Mux) add(l net.Listener) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.listeners[l] = struct{}{}
	return true
}

// remove forgets a listener that is closed.
func (m *Mux) remove(l net.Listener) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.listeners, l)
}

// start sorts a connection on a goroutine of its own. Above the bound it drops the oldest undecided connection:
// refusing the newest would let a few idle clients lock all others out.
func (m *Mux) start(c net.Conn) {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		_ = c.Close()
		return
	}
	var oldest net.Conn
	if m.pending.Len() >= m.most {
		oldest = m.pending.Remove(m.pending.Front()).(net.Conn)
	}
	e := m.pending.PushBack(c)
	m.wait.Add(1)
	m.mu.Unlock()
	if oldest != nil {
		if m.refused.Take(loglimit.Silent) {
			m.log.Warn("dropped a connection that had not shown its protocol; too many are waiting",
				"remote", oldest.RemoteAddr().String(), "most", m.most)
		}
		_ = oldest.Close()
	}
	go m.sort(c, e)
}

// sort finds out the protocol of c and hands it out.
func (m *Mux) sort(c net.Conn, e *list.Element) {
	defer m.wait.Done()
	conn, p, err := m.identify(c)
	if err == nil {
		q := m.amqp
		if p == http {
			q = m.http
		}
		err = q.deliver(conn)
	}
	// Remove it only now: until a server accepts it, Close and the bound may drop it.
	m.mu.Lock()
	m.pending.Remove(e)
	m.mu.Unlock()
	if err != nil {
		m.logDropped(c, err)
		_ = c.Close()
	}
}

// identify reads the first bytes, inside TLS if the client uses it.
func (m *Mux) identify(c net.Conn) (*Conn, protocol, error) {
	if err := c.SetDeadline(time.Now().Add(m.timeout)); err != nil {
		return nil, unknown, err
	}
	conn, p, err := sniff(c)
	if err != nil {
		return nil, unknown, err
	}
	if p == secure {
		if m.tls == nil {
			return nil, unknown, errors.New("TLS is not served")
		}
		secured := tls.Server(conn, m.tls)
		if conn, p, err = sniff(secured); err != nil {
			return nil, unknown, distrusted(secured, err)
		}
		if p == secure {
			return nil, unknown, errors.New("TLS inside TLS")
		}
		conn.tls = true
	}
	return conn, p, c.SetDeadline(time.Time{})
}

// Close closes every listener and every connection that was not handed out, and waits for their goroutines. It leaves
// connections alone that were handed out.
func (m *Mux) Close() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		m.wait.Wait()
		return nil
	}
	m.closed = true
	close(m.done)
	var errs []error
	for l := range m.listeners {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	for e := m.pending.Front(); e != nil; e = e.Next() {
		_ = e.Value.(net.Conn).Close()
	}
	m.mu.Unlock()
	_ = m.amqp.Close()
	_ = m.http.Close()
	m.wait.Wait()
	return errors.Join(errs...)
}
