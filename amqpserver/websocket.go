package amqpserver

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

// subprotocols are the names of AMQP over WebSockets: the standard's, and an earlier one that most SDKs
// use (amqp-data-plane 1.1).
var subprotocols = []string{"amqp", "AMQPWSB10"}

// handshakeWrite bounds the time to answer an upgrade; the HTTP server's time-outs do not apply to it.
const handshakeWrite = 10 * time.Second

// WebSocketHandler serves AMQP over WebSockets: binary messages carry a stream of bytes, cut anywhere. It answers
// requests without an upgrade, or for other sub-protocols only, with an HTTP error. It does not check the Origin of a
// request: the caller must do that in front of it. A handler runs as long as its connection, and [Server.Shutdown]
// ends it.
func (s *Server) WebSocketHandler() http.Handler {
	upgrader := &websocket.Upgrader{
		HandshakeTimeout: handshakeWrite,
		CheckOrigin:      func(*http.Request) bool { return true }, // checked in front of this handler
		Error:            refuseUpgrade,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !websocket.IsWebSocketUpgrade(r) {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "websocket")
			http.Error(w, "This path serves AMQP over WebSockets: send an upgrade request.", http.StatusUpgradeRequired)
			return
		}
		protocol, ok := chooseSubprotocol(r)
		if !ok {
			http.Error(w, "None of the sub-protocols offered is served: offer "+strings.Join(subprotocols, " or ")+".",
				http.StatusBadRequest)
			return
		}
		header := w.Header().Clone()
		if protocol != "" {
			header.Set("Sec-WebSocket-Protocol", protocol)
		}
		ws, err := upgrader.Upgrade(hijackable{w}, r, header)
		if err != nil {
			s.options.Logger.Debug("upgrade to a WebSocket refused", "remote", r.RemoteAddr, "reason", err)
			return
		}
		s.ServeConn(newWSConn(ws, r.Host))
	})
}

// hijackable finds the connection under the wrappers that the HTTP side has put around the response.
type hijackable struct{ http.ResponseWriter }

// Hijack implements http.Hijacker.
func (h hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(h.ResponseWriter).Hijack()
}

// chooseSubprotocol returns the first offer that we serve, as the client wrote it: clients compare. A client that
// offers none gets none.
func chooseSubprotocol(r *http.Request) (protocol string, ok bool) {
	offered := websocket.Subprotocols(r)
	for _, o := range offered {
		for _, p := range subprotocols {
			if strings.EqualFold(o, p) {
				return o, true
			}
		}
	}
	return "", len(offered) == 0
}

// refuseUpgrade answers a bad WebSocket handshake.
func refuseUpgrade(w http.ResponseWriter, _ *http.Request, status int, reason error) {
	text := strings.TrimPrefix(reason.Error(), "websocket: ")
	w.Header().Set("Sec-WebSocket-Version", "13")
	http.Error(w, text, status)
}

// pongTimeout bounds the wait to write a pong to a peer that does not read. The reader waits too, so
// pongs never pile up in memory.
const pongTimeout = 10 * time.Second

// wsConn makes a byte stream of a WebSocket's messages. Each Write is one binary message. Reading adds no
// buffer to that of the socket, so a message may have any length. One goroutine at a time may Read, another one
// may Write.
type wsConn struct {
	*websocket.Conn
	host string // of the request

	reading chanMutex   // held while a goroutine waits for the peer
	message io.Reader   // the rest of the current message; guarded by reading
	failed  error       // why nothing more can be read; guarded by reading
	closing atomic.Bool // Close was called
}

func newWSConn(ws *websocket.Conn, host string) *wsConn {
	ws.SetPingHandler(func(data string) error {
		err := ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(pongTimeout))
		if errors.Is(err, websocket.ErrCloseSent) {
			return nil // our close is sent; the peer's is still to come
		}
		return err
	})
	return &wsConn{Conn: ws, host: host, reading: make(chanMutex, 1)}
}

// Read implements io.Reader. However the WebSocket ends, the error is io.EOF, wraps net.ErrClosed or is a net.Error.
func (c *wsConn) Read(p []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.closing.Load() {
		return 0, net.ErrClosed
	}
	return c.read(p)
}

// read reads on across messages. The caller has taken c.reading.
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
	kind, message, err := c.NextReader()
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

// wsError translates an error of the library into one of a socket.
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

// Write implements io.Writer: it sends one message. The library does not say how much of a failed message it has sent,
// and the peer may read the beginning of a message, so all of it counts as written.
func (c *wsConn) Write(p []byte) (int, error) {
	err := c.WriteMessage(websocket.BinaryMessage, p)
	if errors.Is(err, websocket.ErrCloseSent) {
		return 0, net.ErrClosed
	}
	return len(p), err
}

// Close sends a close frame and waits a second for the peer's, without which the peer would see a lost connection. A
// second call ends that wait.
func (c *wsConn) Close() error {
	if c.closing.Swap(true) {
		return c.NetConn().Close()
	}
	if !c.sayClose(websocket.CloseNormalClosure, "") {
		return c.NetConn().Close()
	}
	// The reader may lift the deadline at the last moment, for an open that has just arrived, so a timer closes the
	// socket in any case.
	defer time.AfterFunc(2*closeLinger, func() { _ = c.NetConn().Close() }).Stop()
	_ = c.NetConn().SetReadDeadline(time.Now().Add(closeLinger))
	c.reading.Lock()
	defer c.reading.Unlock()
	scratch := make([]byte, 4<<10)
	for c.failed == nil {
		_, _ = c.read(scratch)
	}
	return c.NetConn().Close()
}

// sayClose sends a close frame and reports whether it was sent.
func (c *wsConn) sayClose(code int, text string) bool {
	message := websocket.FormatCloseMessage(code, text)
	return c.WriteControl(websocket.CloseMessage, message, time.Now().Add(closeLinger)) == nil
}

// ServerName returns the host that the client has dialled.
func (c *wsConn) ServerName() string { return c.host }

// SetDeadline implements net.Conn. A read that hits the deadline ends all reading.
func (c *wsConn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}
