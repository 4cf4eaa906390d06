package amqpserver

import (
	"net"
	"syscall"
	"time"
)

// maxAtOnce is the most bytes that a turn writes to the socket itself.
const maxAtOnce = 64 << 10

// socket is direct access to a TCP connection without TLS: it writes without waiting, and tells the runtime of Go nothing of calls that do
// not wait, which would wake threads that watch for calls that do. A zero socket can do neither.
type socket struct {
	raw     syscall.RawConn // nil: none
	in      []byte          // to be read into
	out     []byte          // to be written
	read    int
	written int
	failed  syscall.Errno // of read; 0: none

	reading, writing func(fd uintptr) (done bool)
}

// open finds out whether there is direct access.
func (k *socket) open(nc net.Conn) {
	c, ok := nc.(syscall.Conn)
	if !ok || !socketCalls {
		return
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	k.raw, k.reading, k.writing = raw, k.readOnce, k.writeOnce
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
	_ = k.raw.Write(k.writing)
	k.out = nil
	return k.written
}
