package rawclient

import (
	"bytes"
	"errors"
	"fmt"
	"net"

	"minibus/internal/amqp/frames"
)

// Wire is the frames of a connection, without their meaning: those that came and were not taken, and those that are
// not yet written. [Conn] is built on it. A load generator uses it alone, and pays for nothing else.
type Wire struct {
	net.Conn
	largest int    // frame that may come, in bytes
	in      []byte // in[r:w] was read and not yet taken
	r, w    int
	out     []byte // not yet written
}

// NewWire returns the frames of a new connection. largest bounds one that comes, in bytes.
func NewWire(nc net.Conn, largest int) *Wire {
	return &Wire{Conn: nc, largest: largest, in: make([]byte, min(largest, 256<<10))}
}

// AMQP exchanges the protocol headers of AMQP.
func (w *Wire) AMQP() error { return w.header("AMQP\x00\x01\x00\x00") }

// SASL goes through the layer of SASL, without a user if the name is empty.
func (w *Wire) SASL(user, password string) error {
	start := &frames.SASLInit{Mechanism: "ANONYMOUS"}
	if user != "" {
		start = &frames.SASLInit{Mechanism: "PLAIN", InitialResponse: fmt.Appendf(nil, "\x00%s\x00%s", user, password)}
	}
	if err := w.header("AMQP\x03\x01\x00\x00"); err != nil {
		return err
	}
	w.out = frames.AppendSASLFrame(w.out, start)
	if err := w.Flush(); err != nil {
		return err
	}
	for {
		_, body, err := w.Next()
		if err != nil {
			return err
		}
		p, _, err := frames.DecodeBody(bytes.Clone(body))
		if outcome, ok := p.(*frames.SASLOutcome); ok && outcome.Code != 0 {
			return fmt.Errorf("the server refused the user: code %d", outcome.Code)
		} else if ok || err != nil {
			return err
		}
	}
}

func (w *Wire) header(h string) error {
	w.out = append(w.out, h...)
	if err := w.Flush(); err != nil {
		return err
	}
	if err := w.fill(len(h)); err != nil {
		return err
	}
	if got := w.in[w.r : w.r+len(h)]; string(got) != h {
		return fmt.Errorf("the server answered with the header %x", got)
	}
	w.r += len(h)
	return nil
}

// Append appends a frame to what [Wire.Flush] writes.
func (w *Wire) Append(channel uint16, p frames.Performative, payload ...byte) {
	var start int
	w.out, start = frames.BeginFrame(w.out, frames.TypeAMQP, channel)
	w.out = append(p.AppendTo(w.out), payload...)
	w.out = frames.EndFrame(w.out, start)
}

// Flush writes what was appended.
func (w *Wire) Flush() error {
	_, err := w.Write(w.out)
	w.out = w.out[:0]
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// Next returns the channel and the body of the next frame. The body is empty in a heartbeat, and valid until the next
// call.
func (w *Wire) Next() (channel uint16, body []byte, err error) {
	if err := w.fill(frames.HeaderSize); err != nil {
		return 0, nil, err
	}
	h, err := frames.ParseHeader(w.in[w.r:w.w])
	if err != nil {
		return 0, nil, err
	}
	if int(h.Size) > w.largest {
		return 0, nil, errors.New("the server sent a frame that is too large")
	}
	if err := w.fill(int(h.Size)); err != nil {
		return 0, nil, err
	}
	body = w.in[w.r+h.BodyStart : w.r+int(h.Size)]
	w.r += int(h.Size)
	return h.Channel, body, nil
}

// More reports whether a whole frame has been read already.
func (w *Wire) More() bool {
	h, err := frames.ParseHeader(w.in[w.r:w.w])
	return err == nil && int(h.Size) <= w.w-w.r
}

// fill reads until n bytes are there.
func (w *Wire) fill(n int) error {
	if w.w-w.r >= n {
		return nil
	}
	if w.r == w.w || w.r+n > len(w.in) {
		into := w.in
		if n > len(into) {
			into = make([]byte, w.largest)
		}
		w.w = copy(into, w.in[w.r:w.w])
		w.r = 0
		w.in = into
	}
	for w.w-w.r < n {
		got, err := w.Read(w.in[w.w:])
		w.w += got
		if err != nil && w.w-w.r < n {
			return fmt.Errorf("read: %w", err)
		}
	}
	return nil
}
