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

// sniffLength is how many bytes decide: "OPTIONS " and "CONNECT " are the longest of the beginnings.
const sniffLength = 8

// methods are the beginnings of an HTTP/1.1 request [RFC 9110 9.1]. Those that the HTTP server refuses are among them: a client
// that is taken for a proxy should hear what is wrong.
var methods = []string{"GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "OPTIONS ", "PATCH ", "CONNECT ", "TRACE "}

// classify decides by the bytes read so far. Only a beginning that can still become a known one is undecided, so a
// stranger is recognised at its first wrong byte.
func classify(head []byte) protocol {
	if len(head) == 0 {
		return undecided
	}
	switch {
	case head[0] == 'A': // protocol header [AMQP 2.2]; no HTTP method in use does
		return prefix(head, "AMQP", amqp)
	case head[0] == 0x16: // handshake record, version 3.x
		return prefix(head, "\x16\x03", secure)
	}
	for _, m := range methods {
		if got := prefix(head, m, http); got != unknown {
			return got
		}
	}
	return unknown
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
