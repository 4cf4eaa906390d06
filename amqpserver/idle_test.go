package amqpserver_test

import (
	"strings"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// nextAlive returns the next frame that is not a heartbeat, and how long it took. The peer sends heartbeats meanwhile.
func nextAlive(p *amqptest.Peer) (frames.Performative, time.Duration) {
	start := time.Now()
	for {
		f := p.Within(20 * time.Second).Next() // a heartbeat comes sooner
		if f.Body != nil {
			return f.Body, time.Since(start)
		}
		p.Raw(frames.Heartbeat)
	}
}

// about reports whether an idle limit was kept: never early, and late by at most a heartbeat's interval.
func about(got, want time.Duration) bool { return got >= want && got <= want+16*time.Second }

func TestLOCK19_IdleLinkIsDetached(t *testing.T) {
	for _, c := range []struct {
		attach *frames.Attach
		words  []string
	}{
		{amqptest.SenderAttach(0, "q"), []string{"publisher(link0)", "AmqpMessagePublisher.IdleTimerExpired"}},
		{amqptest.ReceiverAttach(0, "q"), []string{"consumer(link0)", "AmqpMessageConsumer.IdleTimerExpired"}},
	} {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.opened(t)
			p.Send(0, c.attach)
			amqptest.Want[*frames.Attach](p)
			if c.attach.Role == frames.RoleSender {
				amqptest.Want[*frames.Flow](p)
			}
			body, took := nextAlive(p)
			d, ok := body.(*frames.Detach)
			if !ok || !d.Closed || d.Error == nil || d.Error.Condition != "amqp:link:detach-forced" {
				t.Fatalf("got %+v", body)
			}
			for _, w := range append(c.words, "The link '"+c.attach.LinkName+"' is force detached.",
				"Idle timeout: 00:10:00.", "TrackingId:") {
				if !strings.Contains(d.Error.Description, w) {
					t.Errorf("no %q in %q", w, d.Error.Description)
				}
			}
			if !about(took, 10*time.Minute) {
				t.Errorf("detached after %v", took)
			}
		})
	}
}

func TestLOCK16_LOCK19_TrafficKeepsALink(t *testing.T) {
	for _, c := range []struct {
		name    string
		traffic func(t *testing.T, b *bench, p *amqptest.Peer, round uint32)
	}{
		{"flow", func(t *testing.T, b *bench, p *amqptest.Peer, round uint32) { p.Send(0, amqptest.Flow(0, 0, 0)) }},
		{"delivery and disposition", func(t *testing.T, b *bench, p *amqptest.Peer, round uint32) {
			b.send(t, b.client(t), "q", "x")
			p.Send(0, amqptest.Flow(0, round, 1))
			amqptest.Want[*frames.Transfer](p)
		}},
		{"request that names it", func(t *testing.T, b *bench, p *amqptest.Peer, round uint32) {
			m := peekRequest("r", "1")
			m.ApplicationProperties["associated-link-name"] = "receiver from q"
			tr := amqptest.Transfer(1, round)
			tr.Settled = true
			p.Send(0, tr, encode(t, m)...)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
				p.AttachSender(0, 1, "q/$management")
				for round := range uint32(4) {
					c.traffic(t, b, p, round)
					p.WantSilence(4 * time.Minute)
					p.Raw(frames.Heartbeat)
					p.WantSilence(4 * time.Minute)
					p.Raw(frames.Heartbeat)
					if round == 0 && c.name != "request that names it" {
						p.Send(0, &frames.Detach{Handle: 1, Closed: true}) // or the server would detach it too
						amqptest.Want[*frames.Detach](p)
					}
				}
			})
		})
	}
}

func TestLOCK19_ConnectionWithoutLinks(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(p *amqptest.Peer)
		want time.Duration
	}{
		{"never a link", func(*amqptest.Peer) {}, time.Minute},
		{"no link any more", func(p *amqptest.Peer) {
			p.AttachSender(0, 0, "q")
			p.Send(0, &frames.Detach{Handle: 0, Closed: true})
			amqptest.Want[*frames.Detach](p)
		}, 5 * time.Minute},
		{"no session any more", func(p *amqptest.Peer) {
			p.AttachSender(0, 0, "$cbs")
			p.Send(0, &frames.End{})
			amqptest.Want[*frames.End](p)
		}, 5 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				c.do(p)
				body, took := nextAlive(p)
				end, ok := body.(*frames.Close)
				if !ok || end.Error == nil || end.Error.Condition != "amqp:connection:forced" {
					t.Fatalf("got %+v", body)
				}
				if !strings.Contains(end.Error.Description, "LinkTracker") || !about(took, c.want) {
					t.Errorf("after %v: %s", took, end.Error.Description)
				}
			})
		})
	}
}

func TestDEC15_IdlePoliciesCanBeSwitchedOff(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		other := b.opened(t)
		other.AttachSender(0, 0, "q")
		for range 12 {
			p.WantSilence(5 * time.Minute)
			p.Raw(frames.Heartbeat)
			other.WantSilence(time.Second)
			other.Raw(frames.Heartbeat)
		}
	}, func(o *amqpserver.Options) { o.LinkIdle, o.ConnectionIdle, o.FirstLink = -1, -1, -1 })
}

func TestDEC15_CBSLinksAreNotDetached(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "$cbs")
		for range 6 {
			p.WantSilence(5 * time.Minute)
			p.Raw(frames.Heartbeat)
		}
	})
}

func TestLOCK11_LockOutlivesTheConnection(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("long", emulator.QueueOptions{LockDuration: 5 * time.Minute})
		ctx := t.Context()
		b.send(t, b.client(t), "long", "x")
		p := b.opened(t)
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "long"))
		p.Send(0, amqptest.Flow(0, 0, 1))
		_, payload := amqptest.WantPayload[*frames.Transfer](p)
		token := decode(t, payload).DeliveryAnnotations["x-opt-lock-token"].(goamqp.UUID)
		p.Close()
		time.Sleep(4 * time.Minute)
		b.wantReceivable(t, "long", 0)
		_ = ctx

		other := b.opened(t)
		other.AttachSender(0, 0, "long/$management")
		replyLink(other, 0, 1, "long/$management", "r", "r", 10)
		request(t, other, 0, 0, 0, &goamqp.Message{
			Properties:            &goamqp.MessageProperties{MessageID: "1"},
			ApplicationProperties: map[string]any{"operation": "com.microsoft:update-disposition"},
			Value: map[string]any{"disposition-status": "completed",
				"lock-tokens": []goamqp.UUID{token}},
		})
		m, _, _ := wantReply(t, other)
		if m.ApplicationProperties["statusCode"] != int32(200) {
			t.Errorf("reply %v", m.ApplicationProperties)
		}
		q, _ := b.ns.Entity("long")
		if q.Counts().Active != 0 {
			t.Error("the message is still there")
		}
	})
}
