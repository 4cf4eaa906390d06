package rest

import (
	"net"
	"sync"
)

// Listener wraps the connections of an HTTP server's listener in a [Conn].
func Listener(l net.Listener) net.Listener { return listener{l} }

type listener struct{ net.Listener }

// Accept returns the next connection, wrapped.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: c}, nil
}

// Conn is a connection of an HTTP server that remembers how the headers of sends were spelled. It reads along with
// the server, finds where requests begin and end, and keeps the header names of possible sends until the handler asks
// for them.
type Conn struct {
	net.Conn

	mu     sync.Mutex
	follow follower
}

// Read reads for the server, and reads along.
func (c *Conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.mu.Lock()
		c.follow.feed(p[:n])
		c.mu.Unlock()
	}
	return n, err
}

// IsTLS reports whether the client's bytes arrived encrypted.
func (c *Conn) IsTLS() bool {
	t, ok := c.Conn.(interface{ IsTLS() bool })
	return ok && t.IsTLS()
}

// Names returns, for the oldest kept request with that method and target, the client's spelling of each header by its
// canonical name. It forgets that request and those before it. Nil means that it knows no such request.
func (c *Conn) Names(method, target string) map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.follow.take(method + " " + target)
}
