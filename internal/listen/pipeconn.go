package listen

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// pipeBuffer is how many bytes a direction of a [Pipe]'s connection holds, like the buffers of a socket.
const pipeBuffer = 128 << 10

// pipeConn is one end of a connection in memory: it reads from one half and writes to the other.
type pipeConn struct {
	incoming, outgoing *half
}

// PipeConns returns the two ends of a connection in memory. Each direction holds that many bytes before a writer waits.
func PipeConns(buffer int) (client, server net.Conn) {
	up, down := newHalf(buffer), newHalf(buffer)
	return &pipeConn{incoming: down, outgoing: up}, &pipeConn{incoming: up, outgoing: down}
}

func (c *pipeConn) Read(p []byte) (int, error)  { return c.incoming.read(p) }
func (c *pipeConn) Write(p []byte) (int, error) { return c.outgoing.write(p) }

// Close ends both directions: the other end reads what was written before, then io.EOF.
func (c *pipeConn) Close() error {
	c.outgoing.update(func(h *half) { h.writerGone = true })
	c.incoming.update(func(h *half) { h.readerGone, h.data = true, nil })
	return nil
}

func (c *pipeConn) LocalAddr() net.Addr  { return address("pipe") }
func (c *pipeConn) RemoteAddr() net.Addr { return address("pipe") }

func (c *pipeConn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *pipeConn) SetReadDeadline(t time.Time) error {
	c.incoming.update(func(h *half) { h.reading.set(t, h) })
	return nil
}

func (c *pipeConn) SetWriteDeadline(t time.Time) error {
	c.outgoing.update(func(h *half) { h.writing.set(t, h) })
	return nil
}

// half is one direction.
type half struct {
	buffer     int // most bytes in data
	mu         sync.Mutex
	change     *sync.Cond // anything below changed, or a deadline passed
	data       []byte     // written and not yet read, from data[begin]
	begin      int
	writerGone bool
	readerGone bool
	reading    limit
	writing    limit
}

func newHalf(buffer int) *half {
	h := &half{buffer: buffer}
	h.change = sync.NewCond(&h.mu)
	return h
}

// update changes the state and wakes those that wait for a change.
func (h *half) update(f func(*half)) {
	h.mu.Lock()
	f(h)
	if h.readerGone || h.writerGone {
		h.reading.stop()
		h.writing.stop()
	}
	h.mu.Unlock()
	h.change.Broadcast()
}

func (h *half) read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.readerGone:
			return 0, net.ErrClosed
		case h.reading.over():
			return 0, os.ErrDeadlineExceeded
		case h.begin < len(h.data):
			n := copy(p, h.data[h.begin:])
			h.begin += n
			if h.begin == len(h.data) {
				h.data, h.begin = h.data[:0], 0
			}
			h.change.Broadcast()
			return n, nil
		case h.writerGone:
			return 0, io.EOF
		case len(p) == 0:
			return 0, nil
		}
		h.change.Wait()
	}
}

func (h *half) write(p []byte) (written int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		switch {
		case h.writerGone:
			return written, net.ErrClosed
		case h.readerGone:
			return written, io.ErrClosedPipe
		case h.writing.over():
			return written, os.ErrDeadlineExceeded
		}
		if room := h.buffer - (len(h.data) - h.begin); room > 0 && len(p) > 0 {
			n := min(room, len(p))
			h.compact(n)
			h.data = append(h.data, p[:n]...)
			p, written = p[n:], written+n
			h.change.Broadcast()
		}
		if len(p) == 0 {
			return written, nil
		}
		h.change.Wait()
	}
}

// compact moves the unread bytes to the front if n more would not fit after them.
func (h *half) compact(n int) {
	if h.begin > 0 && len(h.data)+n > cap(h.data) {
		h.data = h.data[:copy(h.data, h.data[h.begin:])]
		h.begin = 0
	}
}

// limit is a deadline. The mutex of its half guards it.
type limit struct {
	at    time.Time
	timer *time.Timer
}

func (l *limit) set(t time.Time, h *half) {
	l.stop()
	if l.at = t; !t.IsZero() {
		// With the lock: otherwise the wake-up could come between a waiter's check of the clock and its wait, and be
		// lost.
		l.timer = time.AfterFunc(time.Until(t), func() { h.update(func(*half) {}) })
	}
}

func (l *limit) stop() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

func (l *limit) over() bool { return !l.at.IsZero() && !time.Now().Before(l.at) }
