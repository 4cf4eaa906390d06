package amqpserver_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"minibus/internal/amqptest"
)

// Opcodes of WebSocket frames [RFC 6455 5.2].
const (
	opContinue, opText, opBinary = 0, 1, 2
	opClose, opPing, opPong      = 8, 9, 10
)

// listener hands out connections in memory to an HTTP server.
type listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.TCPAddr{} }

// web puts an HTTP server in front of the bench, with time-outs that would cut a WebSocket if they applied to it.
func (b *bench) web(t testing.TB) *listener {
	t.Helper()
	l := &listener{conns: make(chan net.Conn), done: make(chan struct{})}
	s := &http.Server{Handler: b.server.WebSocketHandler(), ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.Serve(l)
	}()
	t.Cleanup(func() {
		_ = s.Close()
		<-ended
	})
	return l
}

func (l *listener) dial() net.Conn {
	client, server := amqptest.Pipe()
	l.conns <- server
	return client
}

// wsClient is a WebSocket client that does what it is told, right or wrong. As a net.Conn it carries a stream. cut
// cuts a Write into frames; without cut each Write is one message.
type wsClient struct {
	net.Conn
	t        testing.TB
	r        *bufio.Reader
	answer   answer // to the handshake
	cut      func(c *wsClient, p []byte)
	rest     []byte // of the current message
	closed   int    // status of the server's close frame
	messages int    // messages read so far
	pongs    []string
}

// upgrade sends a handshake with further header lines and reads the answer.
func upgrade(t testing.TB, c net.Conn, lines string) *wsClient {
	t.Helper()
	return upgradeAt(t, c, "bus:5672", lines)
}

func upgradeAt(t testing.TB, c net.Conn, host, lines string) *wsClient {
	t.Helper()
	request := "GET /$servicebus/websocket HTTP/1.1\r\nHost: " + host +
		"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" + lines + "\r\n"
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	w := &wsClient{Conn: c, t: t}
	t.Cleanup(func() { _ = c.Close() })
	w.answer = w.response()
	return w
}

// webSocket returns an upgraded connection.
func (b *bench) webSocket(t testing.TB) *wsClient {
	t.Helper()
	w := upgrade(t, b.web(t).dial(), "Sec-WebSocket-Protocol: AMQPWSB10\r\n")
	if w.answer.code != http.StatusSwitchingProtocols {
		t.Fatalf("upgrade: %d", w.answer.code)
	}
	return w
}

// frame appends one masked frame.
func frame(b []byte, fin bool, op byte, payload []byte) []byte {
	if fin {
		op |= 0x80
	}
	b = append(b, op)
	switch n := len(payload); {
	case n < 126:
		b = append(b, 0x80|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, 0x80|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, 0x80|127), uint64(n))
	}
	mask := [4]byte{0x5a, 0x17, 0xff, 0x01}
	b = append(b, mask[:]...)
	for i, c := range payload {
		b = append(b, c^mask[i&3])
	}
	return b
}

func (w *wsClient) raw(b []byte) {
	w.t.Helper()
	if _, err := w.Conn.Write(b); err != nil {
		w.t.Fatalf("write: %v", err)
	}
}

func (w *wsClient) send(fin bool, op byte, payload string) {
	w.t.Helper()
	w.raw(frame(nil, fin, op, []byte(payload)))
}

// Write implements net.Conn.
func (w *wsClient) Write(p []byte) (int, error) {
	if w.cut != nil {
		w.cut(w, p)
		return len(p), nil
	}
	_, err := w.Conn.Write(frame(nil, true, opBinary, p))
	return len(p), err
}

// next reads one frame from the server, which must be whole and unmasked.
func (w *wsClient) next() (op byte, payload []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(w.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := uint64(head[1])
	if n >= 126 {
		size := make([]byte, 2+6*(n-126))
		if _, err := io.ReadFull(w.r, size); err != nil {
			return 0, nil, err
		}
		n = 0
		for _, b := range size {
			n = n<<8 | uint64(b)
		}
	}
	if head[0]&0xf0 != 0x80 || head[1]&0x80 != 0 {
		return 0, nil, fmt.Errorf("frame head %x", head)
	}
	payload = make([]byte, n)
	_, err = io.ReadFull(w.r, payload)
	return head[0] & 0x0f, payload, err
}

// Read implements net.Conn. It notes pongs, and answers the server's close.
func (w *wsClient) Read(p []byte) (int, error) {
	for len(w.rest) == 0 {
		op, payload, err := w.next()
		if err != nil {
			return 0, err
		}
		switch op {
		case opBinary:
			w.rest = payload
			w.messages++
		case opPong:
			w.pongs = append(w.pongs, string(payload))
		case opClose:
			w.closed = int(binary.BigEndian.Uint16(payload))
			_, _ = w.Conn.Write(frame(nil, true, opClose, payload))
			return 0, io.EOF
		default:
			return 0, fmt.Errorf("frame with opcode %d", op)
		}
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

// wantClose reads up to the server's close and fails the test unless it has this status. Then the socket must end.
func (w *wsClient) wantClose(status int) {
	w.t.Helper()
	_ = w.SetReadDeadline(time.Now().Add(5 * time.Second)) // the server waits for our close first
	if _, err := io.Copy(io.Discard, w); err != nil {
		w.t.Errorf("read: %v", err)
	}
	if w.closed != status {
		w.t.Errorf("closed with %d, want %d", w.closed, status)
	}
	if _, err := w.r.ReadByte(); err == nil {
		w.t.Error("the server sent more after its close")
	}
}

// answer is an HTTP response.
type answer struct {
	code   int
	header http.Header
	body   string
}

// response reads one HTTP response.
func (w *wsClient) response() answer {
	w.t.Helper()
	if w.r == nil {
		w.r = bufio.NewReader(w.Conn)
	}
	r, err := http.ReadResponse(w.r, &http.Request{Method: http.MethodGet})
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	a := answer{code: r.StatusCode, header: r.Header}
	if r.StatusCode != http.StatusSwitchingProtocols {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			w.t.Fatal(err)
		}
		a.body = string(body)
	}
	return a
}
