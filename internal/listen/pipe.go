package listen

import (
	"context"
	"net"
	"sync"
)

// Pipe is a listener in memory: [Pipe.Dial] makes a connection and [Pipe.Accept] returns the other end. It works
// inside testing/synctest bubbles, where sockets do not: it waits on channels and condition variables only.
type Pipe struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

// NewPipe returns an open listener.
func NewPipe() *Pipe { return &Pipe{conns: make(chan net.Conn), done: make(chan struct{})} }

// Dial connects. It waits until the connection is accepted, ctx is done or the listener is closed (net.ErrClosed).
func (p *Pipe) Dial(ctx context.Context) (net.Conn, error) {
	client, server := PipeConns(pipeBuffer)
	select {
	case p.conns <- server:
		return client, nil
	case <-p.done:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: ctx.Err()}
	}
}

// Accept implements net.Listener.
func (p *Pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. Accepted connections stay open.
func (p *Pipe) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

// Addr implements net.Listener.
func (p *Pipe) Addr() net.Addr { return address("pipe") }
