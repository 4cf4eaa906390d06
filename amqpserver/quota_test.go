package amqpserver_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
	"minibus/internal/loglimit"
)

// limited runs f in a bubble with a bench under the profile of Microsoft's emulator.
func limited(t *testing.T, f func(t *testing.T, b *bench)) {
	t.Helper()
	limitedTo(t, emulator.ProfileEmulator, f)
}

// limitedTo runs a test in a bubble with a namespace that has a profile of limits.
func limitedTo(t *testing.T, limits emulator.Profile, f func(t *testing.T, b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newBenchFor(t, emulator.Options{Limits: limits})) })
}

func TestQUO12_ConnectionsOfANamespace(t *testing.T) {
	limited(t, func(t *testing.T, b *bench) {
		var idle []*amqptest.Peer
		for range 5 { // connections that were never opened don't count: a health check makes them
			idle = append(idle, b.peer(t))
		}
		var peers []*amqptest.Peer
		for range 10 {
			peers = append(peers, b.opened(t))
		}
		p := b.peer(t)
		p.Open()
		c := amqptest.Want[*frames.Close](p)
		if c.Error == nil || c.Error.Condition != "amqp:resource-limit-exceeded" ||
			!strings.HasPrefix(c.Error.Description, "ConnectionsQuotaExceeded for namespace: sbemulatorns.") {
			t.Errorf("the eleventh connection was closed with %+v", c.Error)
		}
		p.Send(0, &frames.Close{})
		p.WantEOF()
		peers[3].Close() // without a word
		time.Sleep(time.Second)
		b.opened(t)
		for _, p := range idle {
			p.Close()
		}
		time.Sleep(time.Second)
		p = b.peer(t)
		p.Open()
		amqptest.Want[*frames.Close](p)
	})
}

func TestQUO12_RelaxedTakesAnyNumberOfConnections(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		for range 200 {
			b.opened(t)
		}
	})
}

func TestQUO12_ReceiversOfAnEntity(t *testing.T) {
	limited(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		for h := range uint32(200) {
			p.AttachReceiver(0, named(amqptest.ReceiverAttach(h, "q"), h))
		}
		p.Send(0, named(amqptest.ReceiverAttach(200, "q/$deadletterqueue"), 200))
		amqptest.Want[*frames.Attach](p)
		if d := amqptest.Want[*frames.Detach](p); d.Error == nil ||
			d.Error.Condition != "amqp:resource-limit-exceeded" {
			t.Errorf("the receiver too many was detached with %+v", d.Error)
		}
		p.Send(0, &frames.Detach{Handle: 200, Closed: true})
		p.Send(0, &frames.Detach{Handle: 7, Closed: true})
		amqptest.Want[*frames.Detach](p)
		p.AttachReceiver(0, named(amqptest.ReceiverAttach(201, "q"), 201))
		p.Close()
		time.Sleep(time.Second)
		p = b.opened(t)
		for h := range uint32(200) {
			p.AttachReceiver(0, named(amqptest.ReceiverAttach(h, "q"), h))
		}
	})
}

// named gives an attach its own link name.
func named(a *frames.Attach, n uint32) *frames.Attach {
	a.LinkName = fmt.Sprint("receiver ", n)
	return a
}

// bounded gives a server a limiter of log lines.
func bounded(o *amqpserver.Options) { o.Refusals = loglimit.New(o.Logger) }

// TestLog_AFloodOfRefusalsIsCounted over all connections, each kind separately.
func TestLog_AFloodOfRefusalsIsCounted(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		lines := func(text string, want int) {
			t.Helper()
			if n := strings.Count(b.log.String(), text); n != want {
				t.Errorf("%d times %q, want %d:\n%s", n, text, want, b.log.String())
			}
		}
		attach := func(p *amqptest.Peer, n int) {
			for range n {
				p.Send(0, amqptest.SenderAttach(0, "missing"))
				amqptest.Want[*frames.Attach](p)
				amqptest.Want[*frames.Detach](p)
				p.Send(0, &frames.Detach{Handle: 0, Closed: true})
			}
		}
		send := func(p *amqptest.Peer, n int) {
			p.AttachSender(0, 1, "q")
			for id := range uint32(n) {
				p.Send(0, &frames.Transfer{Handle: 1, HasDeliveryID: true, DeliveryID: id,
					DeliveryTag: []byte{byte(id)}, HasMessageFormat: true}, 0)
				amqptest.Want[*frames.Disposition](p)
			}
		}
		p, other := b.opened(t), b.opened(t)
		attach(p, 25)
		attach(other, 25)
		lines("attach refused", 10)
		send(other, 13)
		lines("send refused", 10)
		lines("leftOut", 0)
		time.Sleep(time.Second)
		synctest.Wait()
		lines(`kind="attach amqp:not-found" leftOut=40`, 1)
		lines(`kind="send amqp:decode-error" leftOut=3`, 1)
		attach(other, 1)
		lines("attach refused", 11)
		attach(p, 20)
		a := amqptest.ReceiverAttach(0, "q")
		a.Source.Dynamic = true // not supported
		other.Send(0, a)
		amqptest.Want[*frames.Attach](other)
		amqptest.Want[*frames.Detach](other)
		// the first mistake of its kind is logged, after any number of others
		lines("condition=amqp:not-implemented", 1)
		for range 12 {
			p := b.opened(t)
			p.Send(0, &frames.Flow{HasHandle: true, Handle: 7}) // there is no such link
			amqptest.Want[*frames.End](p)
		}
		lines("session closed", 10)
	}, bounded)
}

// TestLog_EveryKindOfRefusalIsBounded includes handshakes, requests and whole connections.
func TestLog_EveryKindOfRefusalIsBounded(t *testing.T) {
	const n = loglimit.PerSecond + 5
	for kind, refuse := range map[string]func(*testing.T, *bench){
		"handshake": func(t *testing.T, b *bench) {
			p := b.peer(t)
			p.Raw([]byte("AMQP\x02\x01\x00\x00"))
			p.WantHeader(amqptest.HeaderAMQP)
			p.WantEOF()
		},
		"request": func(t *testing.T, b *bench) {
			p := b.opened(t)
			p.AttachSender(0, 0, "q/$management")
			replyLink(p, 0, 1, "q/$management", "link", "reply", 10)
			m := peekRequest("reply", "1")
			m.ApplicationProperties["operation"] = "com.microsoft:no-such-operation"
			request(t, p, 0, 0, 0, m)
			wantReply(t, p)
		},
		"connection closed": func(t *testing.T, b *bench) {
			p := b.opened(t)
			p.Send(0, &frames.Open{ContainerID: "again"})
			amqptest.Want[*frames.Close](p)
		},
	} {
		t.Run(kind, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				for range n {
					refuse(t, b)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				log := b.log.String()
				if lines := strings.Count(log, "level=WARN") - 1; lines != loglimit.PerSecond ||
					!strings.Contains(log, "leftOut=5") || !strings.Contains(log, kind) {
					t.Errorf("%d lines about %d refusals:\n%s", lines, n, log)
				}
			}, bounded)
		})
	}
}
