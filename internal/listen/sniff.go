package listen

import (
	"errors"
	"net"
	"strings"
)

// protocol is what the first bytes of a connection say.
type protocol uint8

const (
	undecided protocol = iota // more bytes are needed
	amqp
	http
	secure // TLS
	unknown
)

// sniffLength is how many bytes decide. No method of HTTP in wide use is longer with the space behind it, and what has so many
// characters of one can be nothing else here.
const sniffLength = 8

// classify decides by the bytes read so far. What begins with a method of HTTP/1, which any token is [RFC 9112 3.1], is for the HTTP server,
// also one that nothing serves: its client should hear what is wrong. A stranger is recognised at its first byte that is in no method.
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

// inToken reports whether a token can have a byte [RFC 9110 5.6.2].
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

// sniff reads until the protocol is known. The bytes read are replayed by the connection it returns.
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

// Conn is a connection whose first bytes were looked at. Reading yields them first.
type Conn struct {
	net.Conn
	head       [sniffLength]byte
	begin, end uint8
	tls        bool
}

// Read replays the bytes that were looked at, then reads on.
func (c *Conn) Read(p []byte) (int, error) {
	if c.begin < c.end {
		n := copy(p, c.head[c.begin:c.end])
		c.begin += uint8(n)
		return n, nil
	}
	return c.Conn.Read(p)
}

// IsTLS tells whether the client's bytes arrived encrypted.
func (c *Conn) IsTLS() bool { return c.tls }
