package amqpserver

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// pongTimeout is how long the answer to a ping may wait for a peer that does not read. The reader waits with it, so that
// pings are not answered from memory.
const pongTimeout = 10 * time.Second

// wsConn makes a stream of a WebSocket's messages. Each Write is one binary message; what is read passes through no further
// buffer than that of the socket, so a message may be as long as it likes. Read is for one goroutine at a time, Write for
// another.
type wsConn struct {
	ws *websocket.Conn

	reading chan struct{} // of capacity one; taken while somebody waits for the peer, which a mutex is not made for
	message io.Reader     // the rest of the current message; guarded by reading
	failed  error         // why nothing more can be read; guarded by reading
	closing atomic.Bool   // Close was called
}

func newWSConn(ws *websocket.Conn) *wsConn {
	ws.SetPingHandler(func(data string) error {
		err := ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(pongTimeout))
		if errors.Is(err, websocket.ErrCloseSent) {
			return nil // the peer's close is still to come
		}
		return err
	})
	return &wsConn{ws: ws, reading: make(chan struct{}, 1)}
}

// Read implements io.Reader. The end of the WebSocket, however it comes, is an io.EOF or wraps net.ErrClosed.
func (c *wsConn) Read(p []byte) (int, error) {
	c.reading <- struct{}{}
	defer func() { <-c.reading }()
	if c.closing.Load() {
		return 0, net.ErrClosed
	}
	return c.read(p)
}

// read reads on, over the end of messages. The caller has taken c.reading.
func (c *wsConn) read(p []byte) (int, error) {
	for c.failed == nil {
		if c.message == nil {
			if err := c.next(); err != nil {
				c.failed = err
				break
			}
		}
		n, err := c.message.Read(p)
		switch {
		case errors.Is(err, io.EOF):
			c.message = nil
		case err != nil:
			c.failed = wsError(err)
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, c.failed
}

// next waits for a binary message.
func (c *wsConn) next() error {
	kind, message, err := c.ws.NextReader()
	if err != nil {
		return wsError(err)
	}
	if kind != websocket.BinaryMessage {
		c.sayClose(websocket.CloseUnsupportedData, "AMQP comes in binary messages.")
		return fmt.Errorf("a text message on a WebSocket of AMQP: %w", net.ErrClosed)
	}
	c.message = message
	return nil
}

// wsError translates an error of the library into what a socket would say.
func wsError(err error) error {
	var closed *websocket.CloseError
	var network net.Error
	switch {
	case errors.As(err, &closed):
		return io.EOF
	case errors.As(err, &network):
		return err
	}
	return fmt.Errorf("read from a WebSocket: %w: %w", net.ErrClosed, err)
}

// Write implements io.Writer: it sends one message. The library does not say how much of one that fails has left, and the peer
// may read a message before all of it is there: all of it counts as written then.
func (c *wsConn) Write(p []byte) (int, error) {
	err := c.ws.WriteMessage(websocket.BinaryMessage, p)
	if errors.Is(err, websocket.ErrCloseSent) {
		return 0, net.ErrClosed
	}
	return len(p), err
}

// Close says goodbye and waits shortly for the peer's answer, without which its side would see a lost connection. A second
// call cuts that short.
func (c *wsConn) Close() error {
	if c.closing.Swap(true) {
		return c.ws.NetConn().Close()
	}
	if c.sayClose(websocket.CloseNormalClosure, "") {
		c.awaitClose()
	}
	return c.ws.NetConn().Close()
}

// sayClose sends a close frame and reports whether that was new to the peer.
func (c *wsConn) sayClose(code int, text string) bool {
	return c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, text), time.Now().Add(closeLinger)) == nil
}

// awaitClose discards what comes until the peer's close does. Whoever reads may lift the deadline at the last moment, for an
// open that has just arrived; so the socket is closed after a while in any case.
func (c *wsConn) awaitClose() {
	defer time.AfterFunc(2*closeLinger, func() { _ = c.ws.NetConn().Close() }).Stop()
	_ = c.ws.NetConn().SetReadDeadline(time.Now().Add(closeLinger))
	c.reading <- struct{}{}
	defer func() { <-c.reading }()
	scratch := make([]byte, 4<<10)
	for c.failed == nil {
		_, _ = c.read(scratch)
	}
}

func (c *wsConn) LocalAddr() net.Addr  { return c.ws.LocalAddr() }
func (c *wsConn) RemoteAddr() net.Addr { return c.ws.RemoteAddr() }

// SetReadDeadline is the socket's; one that passes during a read is the end of reading.
func (c *wsConn) SetReadDeadline(t time.Time) error { return c.ws.SetReadDeadline(t) }

// SetWriteDeadline is for the writes that follow.
func (c *wsConn) SetWriteDeadline(t time.Time) error { return c.ws.SetWriteDeadline(t) }

// SetDeadline sets both.
func (c *wsConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}
