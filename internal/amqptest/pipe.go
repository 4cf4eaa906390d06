package amqptest

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// pipeCapacity is how many bytes one direction holds before its writer waits, like the socket buffers of a real connection.
const pipeCapacity = 256 << 10

// Pipe returns the two ends of a buffered in-memory connection. Deadlines follow the clock of the synctest bubble
// that sets them. After one end is closed the other can read what is left; then it gets io.EOF.
func Pipe() (client, server net.Conn) {
	a, b := newStream(), newStream()
	return &pipeConn{in: a, out: b, name: "client"}, &pipeConn{in: b, out: a, name: "server"}
}

// pipeConn is one end: it reads from one stream and writes to the other.
type pipeConn struct {
	in, out *stream
	name    string
}

func (p *pipeConn) Read(b []byte) (int, error)  { return p.in.read(b) }
func (p *pipeConn) Write(b []byte) (int, error) { return p.out.write(b) }

// Close ends both directions. The other end can still read what was written before.
func (p *pipeConn) Close() error {
	p.out.close(io.EOF)
	p.in.close(io.ErrClosedPipe)
	return nil
}

func (p *pipeConn) LocalAddr() net.Addr  { return pipeAddr(p.name) }
func (p *pipeConn) RemoteAddr() net.Addr { return pipeAddr("pipe") }

func (p *pipeConn) SetDeadline(t time.Time) error {
	_ = p.SetReadDeadline(t)
	return p.SetWriteDeadline(t)
}

func (p *pipeConn) SetReadDeadline(t time.Time) error  { p.in.readDeadline.set(p.in, t); return nil }
func (p *pipeConn) SetWriteDeadline(t time.Time) error { p.out.writeDeadline.set(p.out, t); return nil }

type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }

// stream is one direction.
type stream struct {
	mu            sync.Mutex
	changed       sync.Cond
	data          []byte
	closed        error // what the reader gets once data is empty; writers fail at once
	readDeadline  deadline
	writeDeadline deadline
}

func newStream() *stream {
	s := new(stream)
	s.changed.L = &s.mu
	return s
}

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case errors.Is(s.closed, io.ErrClosedPipe):
			return 0, io.ErrClosedPipe
		case s.readDeadline.passed():
			return 0, os.ErrDeadlineExceeded
		case len(s.data) > 0:
			n := copy(b, s.data)
			s.data = s.data[:copy(s.data, s.data[n:])]
			s.changed.Broadcast()
			return n, nil
		case s.closed != nil:
			return 0, s.closed
		case len(b) == 0:
			return 0, nil
		}
		s.changed.Wait()
	}
}

func (s *stream) write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	written := 0
	for {
		switch {
		case s.closed != nil:
			return written, io.ErrClosedPipe
		case s.writeDeadline.passed():
			return written, os.ErrDeadlineExceeded
		}
		n := min(len(b), pipeCapacity-len(s.data))
		if n > 0 {
			s.data = append(s.data, b[:n]...)
			b, written = b[n:], written+n
			s.changed.Broadcast()
		}
		if len(b) == 0 {
			return written, nil
		}
		s.changed.Wait()
	}
}

// close sets the reason if there is none; ErrClosedPipe (the reader has closed) replaces an end of data.
func (s *stream) close(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed == nil || errors.Is(reason, io.ErrClosedPipe) {
		s.closed = reason
	}
	s.readDeadline.stop()
	s.writeDeadline.stop()
	s.changed.Broadcast()
}

// deadline wakes a stream's waiters when it passes. The stream's mutex guards it.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) set(s *stream, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.stop()
	d.at = t
	if !t.IsZero() && s.closed == nil {
		d.timer = time.AfterFunc(time.Until(t), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.changed.Broadcast()
		})
	}
	s.changed.Broadcast()
}

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
		d.timer = nil
	}
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }
