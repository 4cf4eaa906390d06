package amqpserver_test

import (
	"bytes"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"minibus/amqpserver"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// wantClose fails the test unless the server closes the connection with the condition, and then ends it.
func wantClose(t *testing.T, p *amqptest.Peer, condition amqp.Symbol) *frames.Error {
	t.Helper()
	c := amqptest.Want[*frames.Close](p)
	if c.Error == nil || c.Error.Condition != condition {
		t.Fatalf("closed with %v, want %s", c.Error, condition)
	}
	p.Send(0, &frames.Close{})
	p.Within(2 * time.Second).WantEOF() // after a framing error our close is not read
	return c.Error
}

func TestConnection_Open(t *testing.T) { // [AMQP 2.7.1], amqp-data-plane 1.4
	bubble(t, func(t *testing.T, b *bench) {
		o := b.peer(t).Open()
		if o.ContainerID == "" {
			t.Error("no container-id")
		}
		if o.MaxFrameSize != 65_536 || o.ChannelMax != 4_999 || o.IdleTimeout != 240_000 {
			t.Errorf("max-frame-size %d, channel-max %d, idle-time-out %d", o.MaxFrameSize, o.ChannelMax, o.IdleTimeout)
		}
	})
}

func TestConnection_CloseIsAnswered(t *testing.T) { // [AMQP 2.4.3]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.Send(0, &frames.Close{})
		if c := amqptest.Want[*frames.Close](p); c.Error != nil {
			t.Errorf("closed with %v", c.Error)
		}
		p.WantEOF()
	})
}

// hangUp is a peer that sends everything at once and closes its half. The answers reach it after a delay.
type hangUp struct {
	net.Conn
	said   *bytes.Reader
	closed atomic.Bool
	heard  bytes.Buffer
}

func (h *hangUp) Read(b []byte) (int, error) { return h.said.Read(b) }

func (h *hangUp) Write(b []byte) (int, error) {
	time.Sleep(time.Millisecond)
	if h.closed.Load() {
		return 0, net.ErrClosed
	}
	return h.heard.Write(b)
}

func (h *hangUp) Close() error {
	h.closed.Store(true)
	return nil
}

func (h *hangUp) LocalAddr() net.Addr              { return nil }
func (h *hangUp) RemoteAddr() net.Addr             { return nil }
func (h *hangUp) SetReadDeadline(time.Time) error  { return nil }
func (h *hangUp) SetWriteDeadline(time.Time) error { return nil }
func (h *hangUp) SetDeadline(time.Time) error      { return nil }

// TestConnection_CloseIsAnsweredToAPeerThatHasHungUp [AMQP 2.4.3]: the Go SDK's TLS ends its half of the connection
// right after its close. It can still read, and takes an end without a close for a lost connection.
func TestConnection_CloseIsAnsweredToAPeerThatHasHungUp(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		said := append([]byte(nil), amqptest.HeaderAMQP...)
		said = frames.AppendFrame(said, 0, &frames.Open{ContainerID: "peer"})
		said = frames.AppendFrame(said, 0, &frames.Close{})
		h := &hangUp{said: bytes.NewReader(said)}
		b.server.ServeConn(h)
		if want := frames.AppendFrame(nil, 0, &frames.Close{}); !bytes.HasSuffix(h.heard.Bytes(), want) {
			t.Errorf("heard % x, which does not end with a close", h.heard.Bytes())
		}
	})
}

func TestConnection_FirstFrameMustBeOpen(t *testing.T) { // [AMQP 2.4.1]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.peer(t)
		p.Raw(amqptest.HeaderAMQP)
		p.WantHeader(amqptest.HeaderAMQP)
		p.Send(0, &frames.Begin{})
		amqptest.Want[*frames.Open](p) // open comes before close [AMQP 2.4.6]
		wantClose(t, p, "amqp:illegal-state")
	})
}

func TestConnection_OpenBelongsToChannelZero(t *testing.T) { // [AMQP 2.4.1]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.peer(t)
		p.Raw(amqptest.HeaderAMQP)
		p.WantHeader(amqptest.HeaderAMQP)
		p.Send(1, &frames.Open{ContainerID: "x"})
		amqptest.Want[*frames.Open](p)
		wantClose(t, p, "amqp:connection:framing-error")
	})
}

func TestConnection_CloseMayComeOnAnyChannel(t *testing.T) { // [AMQP 2.4.3]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.Send(7, &frames.Close{})
		if c := amqptest.Want[*frames.Close](p); c.Error != nil {
			t.Errorf("closed with %v", c.Error)
		}
		p.WantEOF()
	})
}

func TestConnection_Violations(t *testing.T) {
	for _, c := range []struct {
		name      string
		do        func(p *amqptest.Peer)
		condition amqp.Symbol
	}{
		{"second open [2.4.1]", func(p *amqptest.Peer) { p.Send(0, &frames.Open{ContainerID: "x"}) },
			"amqp:illegal-state"},
		{"frame on a channel without session [2.5.1]", func(p *amqptest.Peer) { p.Send(7, amqptest.Flow(0, 0, 1)) },
			"amqp:connection:framing-error"},
		{"attach in no session [2.5.2]", func(p *amqptest.Peer) { p.Send(7, amqptest.SenderAttach(0, "q")) },
			"amqp:connection:framing-error"},
		{"begin on a channel in use [2.5.1]", func(p *amqptest.Peer) { p.Send(0, &frames.Begin{}) },
			"amqp:illegal-state"},
		{"begin with remote-channel [2.7.2]",
			func(p *amqptest.Peer) { p.Send(1, &frames.Begin{HasRemoteChannel: true}) }, "amqp:invalid-field"},
		{"channel above channel-max [2.7.1]", func(p *amqptest.Peer) { p.Send(5000, &frames.Begin{}) },
			"amqp:connection:framing-error"},
		{"handle above handle-max [2.7.2]", func(p *amqptest.Peer) { p.Send(0, amqptest.SenderAttach(1024, "q")) },
			"amqp:connection:framing-error"},
		{"frame size below its header [2.3.1]", func(p *amqptest.Peer) { p.Raw([]byte{0, 0, 0, 7, 2, 0, 0, 0}) },
			"amqp:connection:framing-error"},
		{"data offset inside the header [2.3.1]", func(p *amqptest.Peer) { p.Raw([]byte{0, 0, 0, 8, 1, 0, 0, 0}) },
			"amqp:connection:framing-error"},
		{"data offset beyond the frame [2.3.1]", func(p *amqptest.Peer) { p.Raw([]byte{0, 0, 0, 8, 9, 0, 0, 0}) },
			"amqp:connection:framing-error"},
		{"frame above max-frame-size [2.3.1]", func(p *amqptest.Peer) { p.Raw([]byte{0x7f, 0, 0, 0, 2, 0, 0, 0}) },
			"amqp:connection:framing-error"},
		{"SASL frame after open [5.3.1]", func(p *amqptest.Peer) { p.SendSASL(&frames.SASLInit{Mechanism: "PLAIN"}) },
			"amqp:connection:framing-error"},
		{"body that is no performative [2.3.2]",
			func(p *amqptest.Peer) { p.Raw([]byte{0, 0, 0, 9, 2, 0, 0, 0, 0x40}) }, "amqp:decode-error"},
		{"truncated performative", func(p *amqptest.Peer) {
			p.Raw([]byte{0, 0, 0, 13, 2, 0, 0, 0, 0, 0x53, 0x12, 0xc0,
				0x20})
		}, "amqp:decode-error"},
		{"mandatory field missing", func(p *amqptest.Peer) {
			p.Raw([]byte{0, 0, 0, 12, 2, 0, 0, 0, 0, 0x53, 0x12,
				0x45})
		}, "amqp:decode-error"},
		{"attach nested without end", func(p *amqptest.Peer) { p.Raw(nestedAttach(10_000)) }, "amqp:decode-error"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				c.do(p)
				wantClose(t, p, c.condition)
			})
		})
	}
}

// nestedAttach returns an attach frame whose properties are described values in described values.
func nestedAttach(depth int) []byte {
	body := []byte{0, 0x53, 0x12, 0xd0, 0, 0, 0, 0, 0, 0, 0, 1}
	for range depth {
		body = append(body, 0, 0x43)
	}
	body = append(body, 0x40)
	size := len(body) - 8
	body[4], body[5], body[6], body[7] = byte(size>>24), byte(size>>16), byte(size>>8), byte(size)
	n := len(body) + 8
	return append([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n), 2, 0, 0, 0}, body...)
}

func TestConnection_ExtendedHeaderIsSkipped(t *testing.T) { // [AMQP 2.3.1]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		frame := (&frames.End{}).AppendTo([]byte{0, 0, 0, 0, 3, 0, 0, 0, 0xde, 0xad, 0xbe, 0xef})
		frame[3] = byte(len(frame))
		p.Raw(frame)
		amqptest.Want[*frames.End](p)
	})
}

func TestConnection_FrameBeforeOpenIsLimited(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.peer(t)
		p.Raw(amqptest.HeaderAMQP)
		p.WantHeader(amqptest.HeaderAMQP)
		p.Send(0, &frames.Open{ContainerID: strings.Repeat("x", 9<<10)})
		amqptest.Want[*frames.Open](p)
		wantClose(t, p, "amqp:connection:framing-error")
	})
}

func TestConnection_MaxFrameSizeBelowMinimumIsRefused(t *testing.T) { // [AMQP 2.7.1]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.peer(t)
		p.Raw(amqptest.HeaderAMQP)
		p.WantHeader(amqptest.HeaderAMQP)
		p.Send(0, &frames.Open{ContainerID: "x", MaxFrameSize: 511, HasMaxFrameSize: true})
		amqptest.Want[*frames.Open](p)
		wantClose(t, p, "amqp:invalid-field")
	})
}

func TestConnection_TinyMaxFrameSizeIsRespected(t *testing.T) { // [AMQP 2.7.1]; also for error texts
	bubble(t, func(t *testing.T, b *bench) {
		p := b.peer(t)
		p.MaxFrameSize = 512
		p.Open()
		p.Begin(0)
		p.Send(0, amqptest.SenderAttach(0, "missing"+strings.Repeat("x", 100)))
		amqptest.Want[*frames.Attach](p)
		if d := amqptest.Want[*frames.Detach](p); d.Error.Condition != "amqp:not-found" {
			t.Errorf("refused with %v", d.Error)
		}
		// A frame with a text to echo that does not fit closes the connection.
		a := amqptest.SenderAttach(1, "q")
		a.LinkName = strings.Repeat("n", 600)
		p.Send(0, a)
		wantClose(t, p, "amqp:frame-size-too-small")
	})
}

func TestConnection_HeartbeatsKeepThePeerAlive(t *testing.T) { // [AMQP 2.4.5], amqp-data-plane 1.5
	for _, c := range []struct {
		idle, want time.Duration
	}{
		{0, 15 * time.Second}, {60 * time.Second, 15 * time.Second}, {10 * time.Second, 5 * time.Second},
	} {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.peer(t)
			p.Raw(amqptest.HeaderAMQP)
			p.WantHeader(amqptest.HeaderAMQP)
			p.Send(0, &frames.Open{ContainerID: "x", IdleTimeout: uint32(c.idle.Milliseconds()),
				HasIdleTimeout: c.idle > 0})
			amqptest.Want[*frames.Open](p)
			for range 3 {
				start := time.Now()
				if f := p.Within(time.Minute).Next(); f.Body != nil {
					t.Fatalf("got %s", f.Body.Name())
				}
				if got := time.Since(start); got > c.want {
					t.Errorf("idle-time-out %v: silent for %v, want %v at most", c.idle, got, c.want)
				}
			}
		})
	}
}

func TestConnection_SilentPeerIsClosedAfterTwiceOurTimeout(t *testing.T) { // [AMQP 2.4.5]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		start := time.Now()
		c := amqptest.Want[*frames.Close](p.Within(9 * time.Minute))
		if got := time.Since(start); got < 8*time.Minute || got > 8*time.Minute+20*time.Second {
			t.Errorf("closed after %v, want 8 minutes", got)
		}
		if c.Error.Condition != "amqp:connection:forced" {
			t.Errorf("closed with %v", c.Error)
		}
	}, func(o *amqpserver.Options) { o.LinkIdle = -1 })
}

func TestConnection_PeerThatDoesNotAnswerCloseIsCut(t *testing.T) { // [AMQP 2.4.6]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.Send(0, &frames.Open{ContainerID: "again"})
		amqptest.Want[*frames.Close](p)
		time.Sleep(2 * time.Second)
		if n := b.server.Connections(); n != 0 {
			t.Errorf("%d connections two seconds after close", n)
		}
	})
}

func TestConnection_PeerThatHangsUpInsteadOfAnsweringCloseIsGoneAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.Raw([]byte{0, 0, 0, 1, 2, 0, 0, 0}) // a frame shorter than its header
		amqptest.Want[*frames.Close](p)
		p.Close()
		synctest.Wait()
		if n := b.server.Connections(); n != 0 {
			t.Errorf("%d connections after the peer has gone", n)
		}
	})
}

func TestConnection_ErrorsAreLoggedOnceWithConnectionAndCondition(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.Send(0, &frames.Open{ContainerID: "again"})
		amqptest.Want[*frames.Close](p)
		log := b.log.String()
		if strings.Count(log, "amqp:illegal-state") != 1 || !strings.Contains(log, "conn=c1") {
			t.Errorf("log is %q", log)
		}
	})
}
