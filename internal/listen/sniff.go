package listen

import (
	"crypto/tls"
	"errors"
	"net"
	"strings"
	"syscall"
)

// protocol is the protocol that a connection's first bytes show.
type protocol uint8

const (
	undecided protocol = iota // more bytes are needed
	amqp
	http
	secure // TLS
	unknown
)

// sniffLength is how many bytes decide. It fits the longest common HTTP method with the space after it, and eight
// characters of a method can't begin anything else here.
const sniffLength = 8

// classify decides by the bytes read so far. A method of HTTP/1 may be any token [RFC 9112 3.1], so unknown methods
// go to the HTTP server too, which tells the client what is wrong. The first byte that can't be part of a method
// makes the protocol unknown.
func classify(head []byte) protocol {
	if p := prefix(head, "AMQP", amqp); p != unknown { // protocol header [AMQP 2.2]
		return p
	}
	if p := prefix(head, "\x16\x03", secure); p != unknown { // handshake record, version 3.x
		return p
	}
	for i, c := range head {
		switch {
		case c == ' ' && i > 0:
			return http
		case !inToken(c):
			return unknown
		}
	}
	if len(head) < sniffLength {
		return undecided
	}
	return http
}

// inToken reports whether c may be part of a token [RFC 9110 5.6.2].
func inToken(c byte) bool {
	switch {
	case 'A' <= c && c <= 'Z', 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		return true
	}
	return strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}

func prefix(head []byte, want string, p protocol) protocol {
	switch {
	case len(head) >= len(want):
		if string(head[:len(want)]) == want {
			return p
		}
	case strings.HasPrefix(want, string(head)):
		return undecided
	}
	return unknown
}

var errUnknown = errors.New("the first bytes are neither AMQP nor HTTP nor TLS")

// sniff reads until the protocol is known. The connection that it returns replays the bytes.
func sniff(c net.Conn) (*Conn, protocol, error) {
	conn := &Conn{Conn: c}
	for {
		n, err := c.Read(conn.head[conn.end:])
		conn.end += uint8(n)
		if p := classify(conn.head[:conn.end]); p != undecided {
			if p == unknown {
				return nil, unknown, errUnknown
			}
			return conn, p, nil
		}
		if err != nil {
			return nil, unknown, err
		}
	}
}

// Conn is a connection whose first bytes were inspected. Read returns them first.
type Conn struct {
	net.Conn
	head       [sniffLength]byte
	begin, end uint8
	tls        bool
}

// Read replays the inspected bytes, then reads on.
func (c *Conn) Read(p []byte) (int, error) {
	if c.begin < c.end {
		n := copy(p, c.head[c.begin:c.end])
		c.begin += uint8(n)
		return n, nil
	}
	return c.Conn.Read(p)
}

// SyscallConn gives direct access to the socket, once the inspected bytes are read. It fails where there is something
// between: TLS.
func (c *Conn) SyscallConn() (syscall.RawConn, error) {
	socket, ok := c.Conn.(syscall.Conn)
	if !ok || c.begin < c.end {
		return nil, errors.ErrUnsupported
	}
	return socket.SyscallConn()
}

// ServerName returns the host that the client has dialled, as far as TLS says it; else it is empty.
func (c *Conn) ServerName() string {
	if secured, ok := c.Conn.(*tls.Conn); ok {
		return secured.ConnectionState().ServerName
	}
	return ""
}

// IsTLS reports whether the client's bytes arrived encrypted.
func (c *Conn) IsTLS() bool { return c.tls }
