package amqpserver_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// holding returns a peer that holds the session "a" of "s" on handle 0, with this credit.
func (b *bench) holding(t *testing.T, credit uint32) *amqptest.Peer {
	t.Helper()
	p := b.opened(t)
	p.AttachReceiver(0, sessionAttach(0, "s", "a"))
	p.Send(0, amqptest.Flow(0, 0, credit))
	return p
}

// wantRejected fails the test unless a settlement was refused with the condition.
func wantRejected(t *testing.T, state frames.DeliveryState, condition amqp.Symbol) {
	t.Helper()
	r, ok := state.(*frames.Rejected)
	if !ok || r.Error == nil || r.Error.Condition != condition {
		t.Errorf("outcome %+v, want %s", state, condition)
	}
}

func TestSESS2_MessageWithoutSessionIDIsRefused(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "s")
		p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
		wantOutcome(t, p, 0, "amqp:not-allowed")
		p.Send(0, amqptest.Transfer(0, 1), sessionMessage("", "x")...) // an id like any other
		wantOutcome(t, p, 1, "")
	})
}

func TestSESS6_SESS12_LaterMessagesGoToTheHolder(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		until := lockedUntil(t, p.AttachReceiver(0, sessionAttach(0, "s", "a")))
		p.Send(0, amqptest.Flow(0, 0, 10))
		p.WantSilence(10 * time.Second)
		b.put(t, "s", "b", "not mine")
		b.put(t, "s", "a", "mine")
		_, payload := amqptest.WantPayload[*frames.Transfer](p)
		m := decode(t, payload)
		if string(m.GetData()) != "mine" || m.Properties.GroupID == nil || *m.Properties.GroupID != "a" {
			t.Errorf("received %+v", m)
		}
		if got, ok := m.Annotations["x-opt-locked-until"].(time.Time); !ok || !got.Equal(until) {
			t.Errorf("message locked until %v, session until %v", got, until)
		}
		p.WantSilence(time.Second)
	})
}

func TestSESS15_SESS16_LostSession(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		b.put(t, "s", "a", "1", "2")
		p := b.holding(t, 10)
		wantBody(t, p, "1")
		wantBody(t, p, "2")
		p.WantSilence(sessionLock - time.Millisecond)
		if d := amqptest.Want[*frames.Detach](p); !d.Closed || d.Error == nil ||
			d.Error.Condition != "com.microsoft:session-lock-lost" {
			t.Fatalf("detached with %v", d.Error)
		}
		// before the client has read the detach: its delivery has ended with the link
		settle(p, 0, 0, false, &frames.Accepted{})
		p.WantSilence(time.Second)
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		again := b.holding(t, 10) // any client may accept it now
		wantBody(t, again, "1")
		settle(p, 0, 0, false, &frames.Accepted{}) // the old delivery stays dead
		p.WantSilence(time.Second)
		settle(again, 0, 0, false, &frames.Accepted{})
		wantBody(t, again, "2")
		wantSettled(t, again, 0, 0)
	})
}

func TestSESS15_DeliveryCountAfterTheLock(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		b.put(t, "s", "a", "1")
		p := b.holding(t, 1)
		wantBody(t, p, "1")
		time.Sleep(sessionLock)
		synctest.Wait() // the lock ends at the same instant
		again := b.holding(t, 1)
		_, payload := amqptest.WantPayload[*frames.Transfer](again)
		if dc := decode(t, payload).Header.DeliveryCount; dc != 1 {
			t.Errorf("delivery count %d", dc)
		}
	})
}

func TestSESS17_SettledByTokenMeanwhile(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		b.put(t, "s", "a", "1")
		p := b.holding(t, 1)
		tr := wantBody(t, p, "1")
		q, _ := b.ns.Entity("s")
		token := emulator.LockToken(amqp.UUID(tr.DeliveryTag).SwapGUID())
		if err := q.Settle([]emulator.LockToken{token}, emulator.Settlement{},
			emulator.CompletionFunc(func(error) {})); err != nil {
			t.Fatal(err)
		}
		settle(p, 0, 0, false, &frames.Accepted{})
		wantLockLost(t, wantSettled(t, p, 0, 0)) // the session itself is not lost
	})
}

func TestSESS18_PRE4_ClosingFreesTheSessionAtOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		leave func(p *amqptest.Peer)
	}{
		{"detach", func(p *amqptest.Peer) {
			p.Send(0, &frames.Detach{Handle: 0, Closed: true})
			amqptest.Want[*frames.Detach](p)
		}},
		{"end", func(p *amqptest.Peer) {
			p.Send(0, &frames.End{})
			amqptest.Want[*frames.End](p)
		}},
		{"close", func(p *amqptest.Peer) {
			p.Send(0, &frames.Close{})
			amqptest.Want[*frames.Close](p)
		}},
		{"lost connection", func(p *amqptest.Peer) { p.Close() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			sessions(t, func(t *testing.T, b *bench) {
				b.put(t, "s", "a", "1", "2", "3", "4")
				p := b.holding(t, 3)
				for _, body := range []string{"1", "2", "3"} {
					wantBody(t, p, body)
				}
				settle(p, 0, 0, false, &frames.Accepted{})
				wantSettled(t, p, 0, 0)
				c.leave(p)
				synctest.Wait()
				again := b.holding(t, 10)
				for _, body := range []string{"2", "3", "4"} {
					_, payload := amqptest.WantPayload[*frames.Transfer](again)
					m := decode(t, payload)
					if string(m.GetData()) != body || m.Header.DeliveryCount != 0 {
						t.Errorf("received %q, delivery count %d; want %q, 0", m.GetData(),
							m.Header.DeliveryCount, body)
					}
				}
			})
		})
	}
}

func TestSESS16_SettlementAfterTheDetach(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		b.put(t, "s", "a", "1")
		p := b.holding(t, 1)
		wantBody(t, p, "1")
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		amqptest.Want[*frames.Detach](p)
		settle(p, 0, 0, false, &frames.Accepted{})
		p.WantSilence(time.Second)
		wantBody(t, b.holding(t, 1), "1") // it was not settled
	})
}

func TestSESS20_OrderInASession(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		b.put(t, "s", "a", "1", "2", "3")
		p := b.holding(t, 2)
		wantBody(t, p, "1")
		wantBody(t, p, "2")
		settle(p, 0, 0, false, &frames.Modified{}) // abandoned: it comes next, before the messages after it
		wantSettled(t, p, 0, 0)
		p.Send(0, amqptest.Flow(0, 2, 5))
		wantBody(t, p, "1")
		wantBody(t, p, "3")
		p.WantSilence(time.Second) // "2" is neither settled nor abandoned: it is not delivered again
	})
}

func TestSESS30_CreditDoesNotExtendTheLock(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		p := b.holding(t, 100)
		for i := range 5 {
			p.WantSilence(sessionLock / 6)
			p.Send(0, amqptest.Flow(0, 0, uint32(100+i)))
		}
		p.WantSilence(sessionLock/6 - time.Millisecond)
		if d := amqptest.Want[*frames.Detach](p); d.Error == nil ||
			d.Error.Condition != "com.microsoft:session-lock-lost" {
			t.Errorf("detached with %v", d.Error)
		}
	})
}

func TestSESS31_LOCK19_IdleSessionReceiver(t *testing.T) {
	short := func(o *amqpserver.Options) { o.LinkIdle = 20 * time.Second }
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("s", emulator.QueueOptions{RequiresSession: true})
		b.holding(t, 1)
		time.Sleep(15 * time.Second)
		b.wantHeld(t, "s", "a")
		time.Sleep(30 * time.Second)
		b.wantFree(t, "s", "a")
	}, short)
	bubble(t, func(t *testing.T, b *bench) { // a waiting accept is not idle, it waits
		b.queue("s", emulator.QueueOptions{RequiresSession: true})
		p := b.opened(t)
		p.Send(0, sessionAttach(0, "s", nil))
		time.Sleep(50 * time.Second)
		b.put(t, "s", "a", "x")
		if a := amqptest.Want[*frames.Attach](p); a.Source == nil {
			t.Error("the accept was refused")
		}
	}, short)
}

func TestRAD3_ReceiveAndDeleteOfASession(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		b.put(t, "s", "a", numbered(5)...)
		p := b.opened(t)
		a := sessionAttach(0, "s", nil)
		deleting(a)
		p.AttachReceiver(0, a)
		p.Send(0, amqptest.Flow(0, 0, 3))
		for i := range 3 {
			if tr := wantBody(t, p, fmt.Sprint(i)); !tr.Settled {
				t.Error("a delivery is not settled")
			}
		}
		q, _ := b.ns.Entity("s")
		if n := q.Counts().Active; n != 2 {
			t.Errorf("%d messages are left", n)
		}
		b.wantHeld(t, "s", "a") // it is locked nevertheless
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		amqptest.Want[*frames.Detach](p)
		b.wantFree(t, "s", "a")
	})
}

func TestSESS_DrainAndFreshCredit(t *testing.T) { // amqp-data-plane 4.4
	sessions(t, func(t *testing.T, b *bench) {
		b.put(t, "s", "a", "1", "2")
		p := b.holding(t, 10)
		wantBody(t, p, "1")
		wantBody(t, p, "2")
		drain := amqptest.Flow(0, 2, 8)
		drain.Drain = true
		p.Send(0, drain)
		if f := amqptest.Want[*frames.Flow](p); f.DeliveryCount != 10 || f.LinkCredit != 0 || !f.Drain {
			t.Errorf("drain answered with %+v", f)
		}
		b.put(t, "s", "a", "3")
		p.WantSilence(time.Second)
		p.Send(0, amqptest.Flow(0, 10, 1))
		wantBody(t, p, "3")
	})
}

func TestDLQ6_DeadLettersOfASessionQueue(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		b.put(t, "s", "a", "1")
		p := b.holding(t, 1)
		wantBody(t, p, "1")
		settle(p, 0, 0, false, &frames.Rejected{})
		wantSettled(t, p, 0, 0)
		p.AttachReceiver(0, amqptest.ReceiverAttach(1, "s/$DeadLetterQueue"))
		p.Send(0, amqptest.Flow(1, 0, 1))
		_, payload := amqptest.WantPayload[*frames.Transfer](p)
		if m := decode(t, payload); m.Properties.GroupID == nil || *m.Properties.GroupID != "a" {
			t.Errorf("properties %+v", m.Properties)
		}
	})
}

func TestClientAcceptsSessions(t *testing.T) { // SESS-8, SESS-18 as the Go SDK's client does it
	sessions(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		for _, s := range []string{"one", "two"} {
			b.put(t, "s", s, s+"0", s+"1")
		}
		next := &goamqp.ReceiverOptions{
			SettlementMode: goamqp.ReceiverSettleModeSecond.Ptr(), Credit: 10,
			Filters: []goamqp.LinkFilter{goamqp.NewLinkFilter(string(filterKey), 0x137000000C, nil)},
		}
		for _, s := range []string{"one", "two"} {
			r, err := b.client(t).NewReceiver(ctx, "s", next)
			if err != nil {
				t.Fatal(err)
			}
			if id := r.LinkSourceFilterValue(string(filterKey)); id != s {
				t.Fatalf("accepted %v, want %s", id, s)
			}
			if _, ok := r.Properties()["com.microsoft:locked-until-utc"].(int64); !ok {
				t.Errorf("link properties %v", r.Properties())
			}
			for i := range 2 {
				m, err := r.Receive(ctx, nil)
				if err != nil {
					t.Fatal(err)
				}
				if got := string(m.GetData()); got != fmt.Sprintf("%s%d", s, i) {
					t.Errorf("received %q", got)
				}
				if err := r.AcceptMessage(ctx, m); err != nil {
					t.Fatal(err)
				}
			}
			if err := r.Close(ctx); err != nil {
				t.Fatal(err)
			}
			b.wantFree(t, "s", s)
		}
	})
}

// callOn sends a management request of a session client and returns the reply's status and body.
func callOn(t *testing.T, p *amqptest.Peer, id uint32, operation, link string, body map[string]any) (int32, any) {
	t.Helper()
	m := &goamqp.Message{Properties: &goamqp.MessageProperties{MessageID: fmt.Sprint(id)},
		ApplicationProperties: map[string]any{"operation": "com.microsoft:" + operation}, Value: body}
	if link != "" {
		m.ApplicationProperties["associated-link-name"] = link
	}
	request(t, p, 0, 8, id, m)
	reply, _, _ := wantReply(t, p)
	return reply.ApplicationProperties["statusCode"].(int32), reply.ApplicationProperties["errorCondition"]
}

func TestSESS14_DEC19_RequestsOfTheHolder(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		p := b.holding(t, 0)
		p.AttachReceiver(0, sessionAttach(1, "s", "b"))
		p.AttachSender(0, 8, "s/$management")
		replyLink(p, 0, 9, "s/$management", "r", "r", 100)
		renew := map[string]any{"session-id": "a"}
		if status, _ := callOn(t, p, 0, "renew-session-lock", "", renew); status != 200 {
			t.Errorf("renewal by the holder: %d", status)
		}
		if status, c := callOn(t, p, 1, "renew-session-lock", "", map[string]any{"session-id": "c"}); status != 410 ||
			c != "com.microsoft:session-lock-lost" {
			t.Errorf("renewal of a session without a holder: %d, %v", status, c)
		}
		b.put(t, "s", "b", "in b")
		peek := map[string]any{"from-sequence-number": int64(1), "message-count": int32(10)}
		if status, _ := callOn(t, p, 2, "peek-message", "receiver from s", peek); status != 204 {
			t.Errorf("peek through the link of session a: %d", status) // both links have that name; the first holds a
		}
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		amqptest.Want[*frames.Detach](p)
		if status, _ := callOn(t, p, 3, "renew-session-lock", "", renew); status != 410 {
			t.Errorf("renewal after the detach: %d", status)
		}
	})
}

func TestSESS13_SESS31_RenewalKeepsSessionAndLink(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("s", emulator.QueueOptions{RequiresSession: true, LockDuration: sessionLock})
		p := b.holding(t, 0)
		p.AttachSender(0, 8, "s/$management")
		replyLink(p, 0, 9, "s/$management", "r", "r", 100)
		for i := range 10 { // three times the link's idle time and twenty locks
			if status, c := callOn(t, p, uint32(i), "renew-session-lock", "",
				map[string]any{"session-id": "a"}); status != 200 {
				t.Fatalf("renewal %d: %d, %v", i, status, c)
			}
			time.Sleep(25 * time.Second)
		}
		b.wantHeld(t, "s", "a")
	}, func(o *amqpserver.Options) { o.LinkIdle = 80 * time.Second })
}

// TestSESS20_ReadThatFailsKeepsTheOrder: messages that a link has taken don't overtake earlier ones that could not be
// read.
func TestSESS20_ReadThatFailsKeepsTheOrder(t *testing.T) {
	for _, remove := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := newBenchFor(t, emulator.Options{BodyBudget: 1})
			const n = 150 // more than one Take gives
			b.fillFor(t, "s", labelled(n, 10))
			b.journal.Pause()
			p := b.opened(t)
			receiverOf(p, "s", remove, n)
			synctest.Wait()
			b.journal.FailRead(errors.New("disk on fire"))
			b.journal.Resume()
			for i := range n {
				if _, payload := amqptest.WantPayload[*frames.Transfer](p); label(t, payload) != fmt.Sprint(i) {
					t.Fatalf("removed %v: received %s, want %d", remove, label(t, payload), i)
				}
			}
		})
	}
}
