package rawclient

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"minibus/internal/amqp/frames"
)

// patience bounds the wait for an answer.
const patience = 30 * time.Second

// window is the number of frames announced to the server, unless a session has a smaller one: no test receives so many.
const window = 1 << 24

// ErrNothing is returned by Receive if no message came in time.
var ErrNothing = errors.New("no message came")

// largestFrame bounds the frames that the server may send, in bytes.
const largestFrame = 1 << 20

// Conn is a connection.
type Conn struct {
	wire     *Wire
	sessions map[uint16]*Session // by the server's channel
	channels uint16
}

// Dial connects without SASL and opens the connection.
func Dial(addr string) (*Conn, error) { return DialAs(addr, "rawclient") }

// DialAs is Dial with a container id, which is the client id of a JMS client.
func DialAs(addr, containerID string) (*Conn, error) {
	nc, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	c := &Conn{wire: NewWire(nc, largestFrame), sessions: make(map[uint16]*Session)}
	if err := c.open(containerID); err != nil {
		nc.Close()
		return nil, fmt.Errorf("open connection: %w", err)
	}
	return c, nil
}

func (c *Conn) open(containerID string) error {
	if err := c.wire.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if err := c.wire.AMQP(); err != nil {
		return err
	}
	open := &frames.Open{ContainerID: containerID, MaxFrameSize: largestFrame, HasMaxFrameSize: true}
	if err := c.send(0, open); err != nil {
		return err
	}
	f, err := c.next(time.Now().Add(patience))
	if err != nil {
		return err
	}
	if _, ok := f.body.(*frames.Open); !ok {
		return fmt.Errorf("the server answered with %s", f.body.Name())
	}
	return nil
}

// Close ends the connection without a close frame, like a process that dies.
func (c *Conn) Close() { c.wire.Close() }

// Begin opens a session.
func (c *Conn) Begin() (*Session, error) { return c.BeginWindow(window) }

// BeginWindow opens a session that takes frameCount transfers at a time. Each [Receiver.Credit] opens the window again.
func (c *Conn) BeginWindow(frameCount uint32) (*Session, error) {
	s := &Session{
		c: c, channel: c.channels, window: frameCount,
		attached: make(map[string]*frames.Attach), receivers: make(map[uint32]*Receiver),
	}
	c.channels++
	begin := &frames.Begin{IncomingWindow: s.window, OutgoingWindow: window, HandleMax: 255, HasHandleMax: true}
	if err := c.send(s.channel, begin); err != nil {
		return nil, fmt.Errorf("begin session: %w", err)
	}
	for {
		f, err := c.next(time.Now().Add(patience))
		if err != nil {
			return nil, fmt.Errorf("begin session: %w", err)
		}
		if answer, ok := f.body.(*frames.Begin); ok && answer.RemoteChannel == s.channel {
			c.sessions[f.channel] = s
			s.next = answer.NextOutgoingID
			return s, nil
		}
		if err := c.dispatch(f); err != nil {
			return nil, fmt.Errorf("begin session: %w", err)
		}
	}
}

// frame is a frame from the server.
type frame struct {
	channel uint16
	body    frames.Performative
	payload []byte
}

func (c *Conn) send(channel uint16, body frames.Performative, payload ...byte) error {
	c.wire.Append(channel, body, payload...)
	if err := c.wire.Flush(); err != nil {
		return fmt.Errorf("%s: %w", body.Name(), err)
	}
	return nil
}

// next returns the next frame that is not a heartbeat.
func (c *Conn) next(deadline time.Time) (frame, error) {
	if err := c.wire.SetReadDeadline(deadline); err != nil {
		return frame{}, err
	}
	for {
		channel, encoded, err := c.wire.Next()
		if err != nil {
			return frame{}, err
		}
		body, payload, err := frames.DecodeBody(bytes.Clone(encoded))
		if err != nil {
			return frame{}, fmt.Errorf("decode frame: %w", err)
		}
		if body != nil {
			return frame{channel, body, payload}, nil
		}
	}
}

// dispatch hands a frame to its session. If the server closes the connection it answers, and returns an error.
func (c *Conn) dispatch(f frame) error {
	if end, ok := f.body.(*frames.Close); ok {
		_ = c.send(0, &frames.Close{}) // the server may be gone
		if end.Error != nil {
			return fmt.Errorf("the server closed the connection: %w", end.Error)
		}
		return errors.New("the server closed the connection")
	}
	if s := c.sessions[f.channel]; s != nil {
		return s.handle(f)
	}
	return nil
}

// await dispatches frames until done returns true.
func (c *Conn) await(deadline time.Time, done func() bool) error {
	for !done() {
		f, err := c.next(deadline)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return ErrNothing
		}
		if err != nil {
			return err
		}
		if err := c.dispatch(f); err != nil {
			return err
		}
	}
	return nil
}
