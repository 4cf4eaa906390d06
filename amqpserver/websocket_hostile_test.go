package amqpserver_test

import (
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

func TestWebSocket_BrokenFramesEndIt(t *testing.T) {
	for name, test := range map[string]struct {
		send   func(w *wsClient)
		status int
	}{
		"text":                    {func(w *wsClient) { w.send(true, opText, "AMQP") }, 1003},
		"fragmented ping":         {func(w *wsClient) { w.send(false, opPing, "") }, 1002},
		"long ping":               {func(w *wsClient) { w.send(true, opPing, strings.Repeat("x", 126)) }, 1002},
		"continuation of nothing": {func(w *wsClient) { w.send(true, opContinue, "x") }, 1002},
		"message inside a message": {func(w *wsClient) { w.send(false, opBinary, "A"); w.send(true, opBinary, "M") },
			1002},
		"unknown opcode": {func(w *wsClient) { w.send(true, 3, "") }, 1002},
		"reserved bit":   {func(w *wsClient) { w.raw([]byte{0xc2, 0x80, 0, 0, 0, 0}) }, 1002},
		"no mask":        {func(w *wsClient) { w.raw([]byte{0x82, 1, 'A'}) }, 1002},
		"bad close":      {func(w *wsClient) { w.send(true, opClose, "\x00\x01") }, 1002},
	} {
		for _, open := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(t *testing.T, b *bench) {
					w := b.webSocket(t)
					if open {
						amqptest.NewPeer(t, w).Open()
					}
					test.send(w)
					w.wantClose(test.status)
					synctest.Wait()
					if n := b.server.Connections(); n != 0 {
						t.Errorf("%d connections are left", n)
					}
				})
			})
		}
	}
}

// AMQP's own errors are sent in AMQP; then the WebSocket closes normally.
func TestWebSocket_ErrorsOfAMQPAreTold(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		w := b.webSocket(t)
		p := amqptest.NewPeer(t, w)
		p.Open()
		p.Raw([]byte{0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0})
		if c := amqptest.Want[*frames.Close](p); c.Error == nil ||
			c.Error.Condition != "amqp:connection:framing-error" {
			t.Errorf("closed with %v", c.Error)
		}
		w.wantClose(1000)
	})
}

// A frame that claims to be huge takes only the memory of what has arrived.
func TestWebSocket_MemoryOfHugeFrames(t *testing.T) {
	b := newBench(t)
	l := b.web(t)
	const n = 100
	before := memory()
	for range n {
		w := upgrade(t, l.dial(), "")
		w.raw(binary.BigEndian.AppendUint64([]byte{0x02, 0xff}, 1<<62)) // of a message that goes on
		w.raw([]byte{0, 0, 0, 0})
		w.raw(amqptest.HeaderAMQP) // mask 0
		w.raw([]byte{0, 0, 0x20, 0, 2, 0, 0, 0})
		w.raw(make([]byte, 8<<10-9))
		if _, _, err := w.next(); err != nil {
			t.Fatal(err)
		}
	}
	if each := (memory() - before) / n; each > 256<<10 {
		t.Errorf("%d bytes per connection", each)
	}
}

// One frame may carry a whole conversation.
func TestWebSocket_OneFrameForEverything(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		w := b.webSocket(t)
		w.raw(binary.BigEndian.AppendUint64([]byte{0x82, 0xff}, 1<<40))
		w.raw([]byte{0, 0, 0, 0})
		w.cut = func(w *wsClient, p []byte) { w.raw(p) }
		p := amqptest.NewPeer(t, w)
		p.Open()
		p.Begin(0)
		p.AttachSender(0, 0, "q")
		p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
		amqptest.Want[*frames.Disposition](p)
	})
}

// The server does not buffer pongs for a client that pings and never reads.
func TestWebSocket_PingsWithoutReading(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		w := b.webSocket(t)
		pings := []byte{}
		for range 1000 {
			pings = frame(pings, true, opPing, []byte(strings.Repeat("p", 125)))
		}
		_ = w.Conn.SetWriteDeadline(time.Now().Add(time.Hour))
		for range 100 {
			if _, err := w.Conn.Write(pings); err != nil {
				return // the server has given up
			}
		}
		t.Error("13 MB of pings were taken while no pong could be sent")
	})
}

// A client that does not answer a close delays the server only briefly.
func TestWebSocket_CloseThatIsNotAnswered(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		w := b.webSocket(t)
		p := amqptest.NewPeer(t, w)
		p.Open()
		begin := time.Now()
		if err := b.server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 3*time.Second {
			t.Errorf("the shutdown took %v", took)
		}
	})
}

// A client that has closed its half without a close frame is gone.
func TestWebSocket_HalfClosed(t *testing.T) {
	b := newBench(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := b.web(t)
	go func() {
		if c, err := l.Accept(); err == nil {
			web.conns <- c
		}
	}()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	w := upgrade(t, c, "")
	amqptest.NewPeer(t, w).Open()
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, c); err != nil {
		t.Error(err)
	}
	for b.server.Connections() > 0 {
		runtime.Gosched()
	}
}

// Requests in the same packet as an upgrade are answered first; data that does not wait for the answer ends the
// upgrade.
func TestWebSocket_Pipelining(t *testing.T) {
	b := newBench(t)
	l := b.web(t)
	const plain = "GET /$servicebus/websocket HTTP/1.1\r\nHost: x\r\n\r\n"
	const handshake = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
	c := l.dial()
	if _, err := io.WriteString(c, plain+plain+handshake); err != nil {
		t.Fatal(err)
	}
	w := &wsClient{Conn: c, t: t}
	for _, want := range []int{426, 426, 101} {
		if answer := w.response(); answer.code != want {
			t.Fatalf("%d, want %d", answer.code, want)
		}
	}
	amqptest.NewPeer(t, w).Open()

	c = l.dial()
	if _, err := c.Write(frame([]byte(handshake), true, opBinary, amqptest.HeaderAMQP)); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(c); err != nil || len(answer) > 0 {
		t.Errorf("data before the handshake was answered with %q, %v", answer, err)
	}
}
