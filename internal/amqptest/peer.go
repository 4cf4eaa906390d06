package amqptest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"minibus/internal/amqp/frames"
)

// The protocol headers [AMQP 2.2, 5.3.2].
var (
	HeaderAMQP = []byte("AMQP\x00\x01\x00\x00")
	HeaderSASL = []byte("AMQP\x03\x01\x00\x00")
)

// How long a peer waits for what its test wants. Inside a synctest bubble the clock moves only while nobody has work,
// so what the server does at once takes no time at all. A longer wait there would see what the server's own timers
// send: the close of an idle connection would pass for the answer that a test wants.
const (
	bubblePatience = time.Second / 2
	patience       = 20 * time.Second
)

// Peer is one end of a conversation. One goroutine at a time may send and one may want.
type Peer struct {
	t    testing.TB
	conn net.Conn
	buf  []byte

	mu  sync.Mutex
	log []string

	patience time.Duration
	within   time.Duration // of the next wait, if not 0

	// MaxFrameSize is the max-frame-size of the peer's open; a larger frame fails the test.
	MaxFrameSize uint32
}

// NewPeer returns a peer that speaks over conn. At the end of the test it closes the connection, and prints the
// frames if the test has failed.
func NewPeer(t testing.TB, conn net.Conn) *Peer {
	t.Helper()
	p := &Peer{t: t, conn: conn, patience: patience, MaxFrameSize: 65_536}
	if time.Now().Year() < 2020 { // the clock of a bubble starts in 2000
		p.patience = bubblePatience
	}
	t.Cleanup(func() {
		_ = conn.Close()
		if t.Failed() {
			p.mu.Lock()
			defer p.mu.Unlock()
			for _, line := range p.log {
				t.Log(line)
			}
		}
	})
	return p
}

// Within lets the next wait last for up to d, for what a timer of the server sends: Want[*frames.Close](p.Within(d)).
func (p *Peer) Within(d time.Duration) *Peer {
	p.within = d
	return p
}

// deadline returns the end of a wait that begins now.
func (p *Peer) deadline() time.Time {
	d := cmp.Or(p.within, p.patience)
	p.within = 0
	return time.Now().Add(d)
}

// Raw writes bytes unchanged.
func (p *Peer) Raw(b []byte) {
	p.t.Helper()
	p.note("-> raw %d bytes", len(b))
	if _, err := p.conn.Write(b); err != nil {
		p.t.Fatalf("write: %v", err)
	}
}

// Send writes one frame; payload follows the performative.
func (p *Peer) Send(channel uint16, body frames.Performative, payload ...byte) {
	p.t.Helper()
	p.note("%s", frames.Trace("->", channel, body, len(payload)))
	b, start := frames.BeginFrame(nil, frames.TypeAMQP, channel)
	b = append(body.AppendTo(b), payload...)
	if _, err := p.conn.Write(frames.EndFrame(b, start)); err != nil {
		p.t.Fatalf("write %s: %v", body.Name(), err)
	}
}

// SendSASL writes one frame of the SASL layer.
func (p *Peer) SendSASL(body frames.Performative) {
	p.t.Helper()
	p.note("%s", frames.Trace("->", 0, body, 0))
	if _, err := p.conn.Write(frames.AppendSASLFrame(nil, body)); err != nil {
		p.t.Fatalf("write %s: %v", body.Name(), err)
	}
}

// Frame is a frame from the server. Body is nil for a heartbeat.
type Frame struct {
	Channel uint16
	Body    frames.Performative
	Payload []byte
	Size    int // of the whole frame in bytes
}

// WantHeader fails the test unless the next eight bytes are the header.
func (p *Peer) WantHeader(want []byte) {
	p.t.Helper()
	p.fill(len(want), p.deadline())
	got := p.buf[:len(want)]
	p.note("<- header %x", got)
	if !bytes.Equal(got, want) {
		p.t.Fatalf("protocol header %x, want %x", got, want)
	}
	p.buf = p.buf[len(want):]
}

// Next returns the next frame, heartbeats included.
func (p *Peer) Next() Frame {
	p.t.Helper()
	return p.next(p.deadline())
}

// next returns the frame that arrives before the deadline.
func (p *Peer) next(deadline time.Time) Frame {
	p.t.Helper()
	p.fill(frames.HeaderSize, deadline)
	h, err := frames.ParseHeader(p.buf)
	if err != nil {
		p.t.Fatalf("frame header: %v", err)
	}
	if h.Size > p.MaxFrameSize {
		p.t.Fatalf("frame of %d bytes, max-frame-size is %d", h.Size, p.MaxFrameSize)
	}
	p.fill(int(h.Size), deadline)
	body := bytes.Clone(p.buf[h.BodyStart:h.Size])
	p.buf = p.buf[h.Size:]
	performative, payload, err := frames.DecodeBody(body)
	if err != nil {
		p.t.Fatalf("frame body %x: %v", body, err)
	}
	p.note("%s", frames.Trace("<-", h.Channel, performative, len(payload)))
	return Frame{Channel: h.Channel, Body: performative, Payload: payload, Size: int(h.Size)}
}

// Want returns the next frame's performative, which must be of type T; heartbeats are skipped.
func Want[T frames.Performative](p *Peer) T {
	p.t.Helper()
	body, _ := WantPayload[T](p)
	return body
}

// WantPayload is Want that also returns the bytes after the performative.
func WantPayload[T frames.Performative](p *Peer) (T, []byte) {
	p.t.Helper()
	deadline := p.deadline() // heartbeats don't move it
	f := p.next(deadline)
	for f.Body == nil {
		f = p.next(deadline)
	}
	body, ok := f.Body.(T)
	if !ok {
		var want T
		p.t.Fatalf("got %s, want %T", frames.Trace("<-", f.Channel, f.Body, len(f.Payload)), want)
	}
	return body, f.Payload
}

// WantSilence fails the test if anything but heartbeats arrives within d.
func (p *Peer) WantSilence(d time.Duration) {
	p.t.Helper()
	deadline := time.Now().Add(d)
	for {
		err := p.read(frames.HeaderSize, deadline)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
		if err != nil {
			p.t.Fatalf("wanted silence, the connection ended: %v", err)
		}
		if f := p.Next(); f.Body != nil {
			p.t.Fatalf("wanted silence, got %s", f.Body.Name())
		}
	}
}

// WantEOF fails the test unless the server ends the connection without another frame.
func (p *Peer) WantEOF() {
	p.t.Helper()
	deadline := p.deadline()
	for {
		err := p.read(frames.HeaderSize, deadline)
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				p.t.Fatal("the connection is still open")
			}
			return
		}
		if f := p.Next(); f.Body != nil {
			p.t.Fatalf("wanted the end of the connection, got %s", f.Body.Name())
		}
	}
}

// Rest returns the next frame, heartbeats included. ok is false once the connection has ended, even in the middle of
// a frame.
func (p *Peer) Rest() (f Frame, ok bool) {
	p.t.Helper()
	deadline := p.deadline()
	if p.read(frames.HeaderSize, deadline) != nil {
		return Frame{}, false
	}
	if h, err := frames.ParseHeader(p.buf); err == nil && p.read(int(h.Size), deadline) != nil {
		return Frame{}, false
	}
	return p.Next(), true
}

// Close closes the connection without a close frame.
func (p *Peer) Close() { _ = p.conn.Close() }

func (p *Peer) fill(n int, deadline time.Time) {
	p.t.Helper()
	if err := p.read(n, deadline); err != nil {
		p.t.Fatalf("read: %v (with %d bytes of %d)", err, len(p.buf), n)
	}
}

// read reads until n bytes are available.
func (p *Peer) read(n int, deadline time.Time) error {
	if err := p.conn.SetReadDeadline(deadline); err != nil {
		return fmt.Errorf("set deadline: %w", err)
	}
	for len(p.buf) < n {
		chunk := make([]byte, 64<<10)
		got, err := p.conn.Read(chunk)
		p.buf = append(p.buf, chunk[:got]...)
		if err != nil && len(p.buf) < n {
			if errors.Is(err, io.EOF) && len(p.buf) > 0 {
				return io.ErrUnexpectedEOF
			}
			return err
		}
	}
	return nil
}

// maxLog bounds the frames that a peer keeps for the output of a failed test.
const maxLog = 2000

func (p *Peer) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.log) >= maxLog {
		p.log = append(p.log[:maxLog/2], p.log[maxLog/2+1:]...)
	}
	p.log = append(p.log, fmt.Sprintf(format, args...))
}
