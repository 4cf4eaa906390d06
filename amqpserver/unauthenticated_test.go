package amqpserver_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/amqpserver"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// few lets a server have four connections without a token.
func few(o *amqpserver.Options) { o.MaxUnauthenticated = 4 }

// TestUnauthenticated_OneTooManyEndsTheOldest, not the newest: a client with a token shows it at once.
func TestUnauthenticated_OneTooManyEndsTheOldest(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		known := b.authorized(t)
		wantPut(t, known, 0, signedToken("sb://localhost/q", "r", "1"), 202, "Accepted")
		silent := b.dial() // has not even begun the handshake
		t.Cleanup(func() { _ = silent.Close() })
		synctest.Wait()
		headed := b.peer(t)
		headed.Raw(amqptest.HeaderAMQP)
		headed.WantHeader(amqptest.HeaderAMQP)
		first, second := b.opened(t), b.opened(t)
		for range 3 {
			b.opened(t)
		}
		synctest.Wait()
		_ = silent.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := silent.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the oldest connection lives: %v", err)
		}
		headed.WantEOF()
		c := amqptest.Want[*frames.Close](first)
		if c.Error == nil || c.Error.Condition != "amqp:resource-limit-exceeded" ||
			!strings.Contains(c.Error.Description, "$cbs") {
			t.Errorf("the oldest one was closed with %v", c.Error)
		}
		first.WantEOF()
		second.WantSilence(time.Second)
		known.WantSilence(time.Second)
		if n := b.server.Connections(); n != 5 {
			t.Errorf("%d connections, want the known one and four", n)
		}
		if n := strings.Count(b.log.String(), "have shown no token"); n != 3 {
			t.Errorf("%d connections are logged, want 3:\n%s", n, b.log.String())
		}
	}, checked, few, bounded)
}

// TestUnauthenticated_ATokenOrAKeyEndsIt: such a connection no longer counts as unauthenticated.
func TestUnauthenticated_ATokenOrAKeyEndsIt(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		var known []*amqptest.Peer
		for i := range 20 {
			if i%2 == 0 {
				p := b.authorized(t)
				wantPut(t, p, 0, signedToken("sb://localhost/q", "r", "1"), 202, "Accepted")
				known = append(known, p)
				continue
			}
			p := b.peer(t)
			p.Raw(amqptest.HeaderSASL)
			p.WantHeader(amqptest.HeaderSASL)
			p.SendSASL(&frames.SASLInit{Mechanism: "PLAIN", InitialResponse: []byte("\x00all\x00all-key")})
			amqptest.Want[*frames.SASLMechanisms](p)
			amqptest.Want[*frames.SASLOutcome](p)
			p.Open()
			known = append(known, p)
		}
		for _, p := range known {
			p.WantSilence(time.Second)
		}
	}, checked, few)
}

// TestUnauthenticated_WithoutTokensThereAreNone if the server does not check tokens.
func TestUnauthenticated_WithoutTokensThereAreNone(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		for range 20 {
			b.opened(t)
		}
		if n := b.server.Connections(); n != 20 {
			t.Errorf("%d connections", n)
		}
		p := b.peer(t)
		p.Open()
		for channel := range uint16(1000) {
			p.Begin(channel)
		}
	}, few)
}

// TestUnauthenticated_SessionsAndLinksAreFewUntilATokenIsShown. Java begins a session for each of its entities before
// it puts its first token.
func TestUnauthenticated_SessionsAndLinksAreFewUntilATokenIsShown(t *testing.T) {
	t.Run("sessions", func(t *testing.T) {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.peer(t)
			p.Open()
			for channel := range uint16(128) {
				p.Begin(channel)
			}
			p.Send(128, &frames.Begin{IncomingWindow: 1, OutgoingWindow: 1})
			wantClose(t, p, "amqp:resource-limit-exceeded")
		}, checked)
	})
	t.Run("links", func(t *testing.T) {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.opened(t)
			for h := range uint32(32) {
				p.Send(0, named(amqptest.ReceiverAttach(h, "q"), h))
				amqptest.Want[*frames.Attach](p)
				amqptest.Want[*frames.Detach](p)
			}
			p.Send(0, named(amqptest.ReceiverAttach(32, "q"), 32))
			wantEnd(t, p, 0, "amqp:resource-limit-exceeded")
		}, checked)
	})
	t.Run("afterwards", func(t *testing.T) {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.authorized(t)
			wantPut(t, p, 0, signedToken("sb://localhost/q", "r", "1"), 202, "Accepted")
			for channel := range uint16(300) {
				p.Begin(channel + 1)
				p.AttachReceiver(channel+1, named(amqptest.ReceiverAttach(0, "q"), 0))
			}
		}, checked)
	})
}

// TestUnauthenticated_UnfinishedTokensAreBounded over all links together.
func TestUnauthenticated_UnfinishedTokensAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		for h := range uint32(4) {
			p.Send(0, controlAttach(h))
			amqptest.Want[*frames.Attach](p)
			amqptest.Want[*frames.Flow](p)
		}
		p.AttachSender(0, 9, "$cbs")
		sendPart := func(handle uint32, n int) {
			for i := range n {
				p.Send(0, &frames.Transfer{Handle: handle, DeliveryID: handle, HasDeliveryID: i == 0, More: true},
					make([]byte, 50_000)...)
			}
		}
		sendPart(9, 20)
		for h := range uint32(4) {
			sendPart(h, 1)
		}
		d := amqptest.Want[*frames.Disposition](p)
		if r, ok := d.State.(*frames.Rejected); !ok || r.Error.Condition != "amqp:resource-limit-exceeded" {
			t.Errorf("outcome %+v", d.State)
		}
	}, checked)
}
