package amqpserver

import (
	"net"
	"slices"
	"syscall"
	"time"

	"minibus/emulator"
)

// maxKept is the capacity above which an output buffer is not worth keeping.
const maxKept = 2 * maxPendingOut

// output is the loop's side of writing. The loop appends frames to buf. flush writes what the socket takes at once, and
// hands the buffer with the rest to the write goroutine. What collects meanwhile goes out in one call.
type output struct {
	c              *conn
	buf            []byte
	spare          []byte            // the other buffer, while the write goroutine does not have it
	removed        []removedDelivery // in buf
	removedInWrite []removedDelivery // in the buffer that the write goroutine has
	busy           bool              // the write goroutine has a buffer
	stalled        bool              // full has returned true since the last resume
	last           time.Time
	toWriter       chan writeJob // capacity one
	written        chan writeJob // capacity one
	ended          chan struct{}
}

// removedDelivery is a received and deleted delivery in a buffer. It belongs to the client once the socket has taken
// its last byte; until then it can be given back (RAD-5).
type removedDelivery struct {
	end int // of its last frame in the buffer
	d   *emulator.Delivery
}

// writeJob is a buffer on its way to the write goroutine or back.
type writeJob struct {
	buf     []byte
	written int // bytes that the socket has, or may have, taken
	err     error
}

func newOutput(c *conn) output {
	return output{
		c:        c,
		last:     time.Now(),
		toWriter: make(chan writeJob, 1),
		written:  make(chan writeJob, 1),
		ended:    make(chan struct{}),
	}
}

// flush starts a write if there is something to write and no write is under way.
func (o *output) flush() {
	if o.busy || len(o.buf) == 0 {
		return
	}
	o.last = time.Now()
	n := o.c.socket.tryWrite(o.buf)
	if n == len(o.buf) {
		clear(o.removed)
		o.removed = o.removed[:0]
		o.buf = reusable(o.buf)
		return
	}
	o.toWriter <- writeJob{buf: o.buf, written: n}
	o.busy = true
	o.buf, o.spare = o.spare, nil
	o.removed, o.removedInWrite = o.removedInWrite, o.removed
}

// done takes a buffer back from the write goroutine.
func (o *output) done(r writeJob) {
	o.busy = false
	o.removedInWrite = slices.DeleteFunc(o.removedInWrite, func(d removedDelivery) bool { return d.end <= r.written })
	o.spare = reusable(r.buf)
}

// reusable returns an empty buffer in place of one that is written, or nil.
func reusable(buf []byte) []byte {
	if cap(buf) > maxKept {
		return nil
	}
	return buf[:0]
}

// takeBack gives back the deliveries that the socket has not taken. The write goroutine must have ended.
func (o *output) takeBack() {
	select {
	case r := <-o.written:
		o.done(r)
	default:
	}
	for _, r := range slices.Concat(o.removedInWrite, o.removed) {
		r.d.Return()
	}
	o.removedInWrite, o.removed = nil, nil
}

func (o *output) idle() bool { return !o.busy && len(o.buf) == 0 }

// freeBuffers frees the buffers of an idle connection: thousands may be idle at a time.
func (o *output) freeBuffers() {
	if o.idle() {
		o.buf, o.spare = nil, nil
		o.removed, o.removedInWrite = nil, nil
	}
}

// full reports whether to start no further delivery. It notes that it said so: the loop resumes the links later.
func (o *output) full() bool {
	full := len(o.buf) >= maxPendingOut
	o.stalled = o.stalled || full
	return full
}

// loop is the write goroutine. It ends when the connection's loop closes its channel. After an error it only returns
// the buffers.
func (o *output) loop() {
	defer close(o.ended)
	defer o.c.recoverPanic("write")
	var err error
	for job := range o.toWriter {
		if err == nil {
			var n int
			n, err = o.writeAll(job.buf[job.written:])
			job.written += n
			o.c.socket.noDeadline(o.c.nc)
		}
		job.err = err
		o.written <- job
	}
}

// writeAll writes in chunks, each with its own deadline: a slow reader is served slowly, one that does not read
// loses the connection. It returns how many bytes the socket has taken.
func (o *output) writeAll(buf []byte) (written int, err error) {
	for written < len(buf) {
		n := min(len(buf)-written, writeChunk)
		if err := o.c.nc.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return written, err
		}
		n, err = o.c.nc.Write(buf[written : written+n])
		if written += n; err != nil {
			return written, err
		}
	}
	return written, nil
}

// stop ends the write goroutine. It closes the socket if a write is under way: the connection is dead anyway.
func (o *output) stop() {
	close(o.toWriter)
	if o.busy {
		_ = o.c.nc.Close()
	}
	<-o.ended
}

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
		n, _ := syscall.Write(descriptor(fd), k.out)
		k.written = max(n, 0) // -1 after an error
		return true           // do not wait until the socket takes more
	}
	k.noDeadline(nc)
}

// noDeadline takes the deadline of a write away, for tryWrite would fail after it.
func (k *socket) noDeadline(nc net.Conn) {
	if k.raw != nil {
		_ = nc.SetWriteDeadline(time.Time{})
	}
}

// tryWrite writes as much as the socket takes at once, and returns how much that is. It reports no errors: the next
// write meets them.
func (k *socket) tryWrite(b []byte) int {
	if k.raw == nil || len(b) > maxAtOnce {
		return 0
	}
	k.out, k.written = b, 0
	_ = k.raw.Write(k.write)
	k.out = nil
	return k.written
}
