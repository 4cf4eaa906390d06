package amqpserver

import (
	"net"
	"syscall"
	"time"
)

// maxAtOnce is the most bytes that a turn writes to the socket itself.
const maxAtOnce = 64 << 10

// socket writes to a TCP connection without TLS, as much as that takes at once. A zero socket writes nothing.
type socket struct {
	raw     syscall.RawConn // nil: none
	out     []byte          // to be written
	written int
	write   func(fd uintptr) (done bool)
}

// open finds out whether there is direct access.
func (k *socket) open(nc net.Conn) {
	c, ok := nc.(syscall.Conn)
	if !ok || !directWrites {
		return
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	k.raw = raw
	k.write = func(fd uintptr) bool {
		k.written = writeOnce(fd, k.out)
		return true // do not wait until the socket takes more
	}
	k.noDeadline(nc)
}

// noDeadline takes the deadline of a write away, for tryWrite would fail after it.
func (k *socket) noDeadline(nc net.Conn) {
	if k.raw != nil {
		_ = nc.SetWriteDeadline(time.Time{})
	}
}

// tryWrite writes as much as the socket takes at once, and returns how much that is. It reports no errors: the next write meets them.
func (k *socket) tryWrite(b []byte) int {
	if k.raw == nil || len(b) > maxAtOnce {
		return 0
	}
	k.out, k.written = b, 0
	_ = k.raw.Write(k.write)
	k.out = nil
	return k.written
}
