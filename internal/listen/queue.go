package listen

import (
	"net"
	"sync"
)

// queue is the listener of one protocol. It has no buffer: a connection stays undecided until
// a server accepts it.
type queue struct {
	conns chan *Conn
	done  chan struct{}
	once  sync.Once
}

func newQueue() *queue { return &queue{conns: make(chan *Conn), done: make(chan struct{})} }

// deliver waits until c is accepted or the queue is closed.
func (q *queue) deliver(c *Conn) error {
	select {
	case <-q.done:
		return net.ErrClosed
	default:
	}
	select {
	case q.conns <- c:
		return nil
	case <-q.done:
		return net.ErrClosed
	}
}

// Accept implements net.Listener.
func (q *queue) Accept() (net.Conn, error) {
	select {
	case <-q.done:
		return nil, net.ErrClosed
	default:
	}
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (q *queue) Close() error {
	q.once.Do(func() { close(q.done) })
	return nil
}

// Addr implements net.Listener.
func (q *queue) Addr() net.Addr { return address("mux") }

// address is the net.Addr of a listener or connection without a network address.
type address string

func (address) Network() string  { return "minibus" }
func (a address) String() string { return string(a) }
