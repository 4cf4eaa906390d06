package amqpserver_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// Ways in which a client may cut its stream of bytes into WebSocket frames (amqp-data-plane 1.1).
var cuts = map[string]func(w *wsClient, p []byte){
	"one message for each write": nil,
	"one message for each byte": func(w *wsClient, p []byte) {
		for _, c := range p {
			w.raw(frame(nil, true, opBinary, []byte{c}))
		}
	},
	"fragments, with pings and empty messages in between": func(w *wsClient, p []byte) {
		half := len(p) / 2
		b := frame(nil, true, opBinary, nil)
		b = frame(b, false, opBinary, p[:half])
		b = frame(b, true, opPing, []byte("ping"))
		b = frame(b, false, opContinue, nil)
		w.raw(frame(b, true, opContinue, p[half:]))
	},
}

func TestWebSocket_CarriesAStreamCutAnywhere(t *testing.T) {
	for name, cut := range cuts {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				w := b.webSocket(t)
				w.cut = cut
				p := amqptest.NewPeer(t, w)
				p.Raw(amqptest.HeaderSASL)
				p.WantHeader(amqptest.HeaderSASL)
				amqptest.Want[*frames.SASLMechanisms](p)
				p.SendSASL(&frames.SASLInit{Mechanism: "ANONYMOUS"})
				amqptest.Want[*frames.SASLOutcome](p)
				p.Open()
				p.Begin(0)
				p.AttachSender(0, 0, "q")
				body := strings.Repeat("0123456789", 7000) // two frames
				sendInFrames(p, 0, 0, amqptest.Message(body))
				amqptest.Want[*frames.Disposition](p)
				p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q"))
				p.Send(0, amqptest.Flow(1, 0, 1))
				var got []byte
				for more := true; more; {
					tr, payload := amqptest.WantPayload[*frames.Transfer](p)
					got, more = append(got, payload...), tr.More
				}
				if !bytes.Contains(got, []byte(body)) {
					t.Errorf("the body came back changed, %d bytes", len(got))
				}
				p.Send(0, &frames.Close{})
				amqptest.Want[*frames.Close](p)
				w.wantClose(1000)
				if cut != nil && len(w.pongs) > 0 &&
					slices.ContainsFunc(w.pongs, func(s string) bool { return s != "ping" }) {
					t.Errorf("pongs %q", w.pongs)
				}
			})
		})
	}
}

// The writer sends whole buffers: a hundred small deliveries do not take a hundred messages.
func TestWebSocket_WritesOneMessageForABuffer(t *testing.T) {
	b := newBench(t)
	fill(t, b, 100)
	w := b.webSocket(t)
	p := amqptest.NewPeer(t, w)
	p.Open()
	p.Begin(0)
	p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
	before := w.messages
	p.Send(0, amqptest.Flow(0, 0, 100))
	for range 100 {
		amqptest.WantPayload[*frames.Transfer](p)
	}
	if n := w.messages - before; n > 50 {
		t.Errorf("100 deliveries came in %d messages", n)
	}
}

func TestWebSocket_OutlivesTheTimeoutsOfHTTP(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := amqptest.NewPeer(t, b.webSocket(t))
		p.Open()
		p.Begin(0)
		p.AttachSender(0, 0, "q")
		for id := range uint32(3) {
			time.Sleep(time.Minute) // the HTTP server's are 5 s
			p.Send(0, amqptest.Transfer(0, id), amqptest.Message("x")...)
			amqptest.Want[*frames.Disposition](p)
		}
	})
}

func TestWebSocket_HandshakeIsLimitedInTime(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		w := b.webSocket(t)
		begin := time.Now()
		if _, err := io.ReadAll(w); err != nil {
			t.Errorf("read: %v", err)
		}
		if took := time.Since(begin); took < 30*time.Second || took > 32*time.Second {
			t.Errorf("ended after %v, want 30 s", took)
		}
	})
}

// Pings are not AMQP traffic: a client that only pings loses its connection (LOCK-19).
func TestWebSocket_PingsDoNotReplaceHeartbeats(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		w := b.webSocket(t)
		p := amqptest.NewPeer(t, w)
		p.Open()
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			for {
				time.Sleep(10 * time.Second)
				if _, err := w.Conn.Write(frame(nil, true, opPing, nil)); err != nil {
					return
				}
			}
		}()
		c := amqptest.Want[*frames.Close](p.Within(10 * time.Minute))
		if c.Error == nil || c.Error.Condition != "amqp:connection:forced" {
			t.Errorf("closed with %v", c.Error)
		}
		_ = w.Conn.Close()
		<-gone
	})
}

func TestWebSocket_ShutdownEndsThemCleanly(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		w := b.webSocket(t)
		p := amqptest.NewPeer(t, w)
		p.Open()
		ended := make(chan error, 1)
		go func() { ended <- b.server.Shutdown(t.Context()) }()
		if c := amqptest.Want[*frames.Close](p); c.Error == nil || c.Error.Condition != "amqp:connection:forced" {
			t.Errorf("closed with %v", c.Error)
		}
		p.Send(0, &frames.Close{})
		w.wantClose(1000)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if w := upgrade(t, b.web(t).dial(), ""); w.answer.code != http.StatusSwitchingProtocols {
			t.Errorf("upgrade: %d", w.answer.code)
		} else {
			w.wantClose(1000) // a stopped server takes no connection
		}
	})
}

// When a client ends the WebSocket, with or without a close frame, what it held goes back.
func TestWebSocket_EndOfTheClient(t *testing.T) {
	for name, end := range map[string]func(w *wsClient){
		"close": func(w *wsClient) {
			w.send(true, opClose, "\x03\xe8")
			w.wantClose(1000)
		},
		"cut": func(w *wsClient) { _ = w.Conn.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				w := b.webSocket(t)
				p := amqptest.NewPeer(t, w)
				p.Open()
				p.Begin(0)
				p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
				end(w)
				time.Sleep(2 * time.Second)
				if n := b.server.Connections(); n != 0 {
					t.Errorf("%d connections are left", n)
				}
			})
		})
	}
}

func TestWebSocket_Subprotocols(t *testing.T) {
	b := newBench(t)
	l := b.web(t)
	for _, test := range []struct {
		offer  string
		status int
		chosen string
	}{
		{"", 101, ""},
		{"Sec-WebSocket-Protocol: amqp\r\n", 101, "amqp"},
		{"Sec-WebSocket-Protocol: AMQPWSB10\r\n", 101, "AMQPWSB10"},
		{"Sec-WebSocket-Protocol: amqpwsb10\r\n", 101, "amqpwsb10"},
		{"Sec-WebSocket-Protocol: mqtt, AMQPWSB10, amqp\r\n", 101, "AMQPWSB10"},
		{"Sec-WebSocket-Extensions: permessage-deflate\r\n", 101, ""},
		{"Sec-WebSocket-Protocol: mqtt\r\n", 400, ""},
		{"Sec-WebSocket-Protocol: amqp10, chat\r\n", 400, ""},
	} {
		answer := upgrade(t, l.dial(), test.offer).answer
		if answer.code != test.status || answer.header.Get("Sec-WebSocket-Protocol") != test.chosen ||
			answer.header.Get("Sec-WebSocket-Extensions") != "" {
			t.Errorf("%q: %d with %v", test.offer, answer.code, answer.header)
		}
	}
}

func TestWebSocket_WhatIsNoUpgradeIsRefused(t *testing.T) {
	b := newBench(t)
	l := b.web(t)
	for request, status := range map[string]int{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n":                                                                           426,
		"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n":                                                     426,
		"GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n":                                    426,
		"GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n":                              400,
		"GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 8\r\n\r\n":  400,
		"GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n": 400,
		"POST / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
			"Content-Length: 0\r\n\r\n": 405,
	} {
		c := l.dial()
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		w := &wsClient{Conn: c, t: t}
		if answer := w.response(); answer.code != status {
			t.Errorf("%q: %d, want %d", request, answer.code, status)
		}
		_ = c.Close()
	}
}
