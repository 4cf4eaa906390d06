package amqpserver_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqp/message"
	"minibus/internal/amqptest"
)

const filterKey = amqp.Symbol("com.microsoft:session-filter")

// sessionAttach returns the attach of a receiver with a session filter: an id, nil for the next one, or either
// described.
func sessionAttach(handle uint32, address string, id any) *frames.Attach {
	a := amqptest.ReceiverAttach(handle, address)
	a.Source.Filter = amqp.Map{{Key: filterKey, Value: id}}
	return a
}

// waitingUpTo sets how long an attach waits for a session.
func waitingUpTo(a *frames.Attach, d time.Duration) *frames.Attach {
	a.Properties = amqp.Map{{Key: amqp.Symbol("com.microsoft:timeout"), Value: uint32(d.Milliseconds())}}
	return a
}

// sessions runs f in a bubble with a queue "s" that requires sessions and locks them for half a minute.
func sessions(t *testing.T, f func(t *testing.T, b *bench)) {
	t.Helper()
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("s", emulator.QueueOptions{RequiresSession: true, LockDuration: sessionLock})
		f(t, b)
	})
}

const sessionLock = 30 * time.Second

// put stores messages of a session in a queue directly, not through the server.
func (b *bench) put(t testing.TB, queue, session string, bodies ...string) {
	t.Helper()
	q, err := b.ns.Entity(queue)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range bodies {
		m, err := message.Scan(sessionMessage(session, body))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		if err := q.Send([]message.Message{m}, emulator.CompletionFunc(func(err error) { done <- err })); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

// sessionMessage returns an encoded message with a group-id.
func sessionMessage(session, body string) []byte {
	const groupID = 10 // fields before it [AMQP 3.2.4]
	b, m := amqp.BeginList(amqp.AppendDescriptor(nil, 0x73))
	for range groupID {
		b = amqp.AppendNull(b)
	}
	b = amqp.EndList(amqp.AppendString(b, session), m, groupID+1)
	return append(b, amqptest.Message(body)...)
}

// wantBody fails the test unless the next frame is a delivery with that body; it returns the transfer.
func wantBody(t *testing.T, p *amqptest.Peer, body string) *frames.Transfer {
	t.Helper()
	tr, payload := amqptest.WantPayload[*frames.Transfer](p)
	if got := string(decode(t, payload).GetData()); got != body {
		t.Errorf("delivery %d is %q, want %q", tr.DeliveryID, got, body)
	}
	return tr
}

// wantFree fails the test unless another receiver can accept the session. It releases the session again.
func (b *bench) wantFree(t *testing.T, queue, session string) {
	t.Helper()
	q, err := b.ns.Entity(queue)
	if err != nil {
		t.Fatal(err)
	}
	c, err := q.Sessions().Accept(session, emulator.Accept{Notify: func() {}, Lost: func(error) {}})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

// wantHeld fails the test unless a receiver holds the session.
func (b *bench) wantHeld(t *testing.T, queue, session string) {
	t.Helper()
	q, err := b.ns.Entity(queue)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := q.Sessions().Accept(session, emulator.Accept{Notify: func() {}, Lost: func(error) {}}); err == nil {
		c.Close()
		t.Errorf("no link holds the session %q", session)
	}
}

// lockedUntil returns the link property of an answered session attach.
func lockedUntil(t *testing.T, a *frames.Attach) time.Time {
	t.Helper()
	v, _ := a.Properties.Get("com.microsoft:locked-until-utc")
	ticks, ok := v.(int64)
	if !ok {
		t.Fatalf("locked-until-utc is %v (%T), want a long", v, v)
	}
	return time.UnixMilli((ticks - 621355968000000000) / 10_000)
}

func TestSESS6_SESS13_SESS34_NamedSessionIsAnsweredInTheFormOfTheQuestion(t *testing.T) { // amqp-data-plane 4.3
	described := func(v any) any { return amqp.Described{Descriptor: uint64(0x137000000C), Value: v} }
	for _, c := range []struct {
		name   string
		filter any
		want   any
	}{
		{"plain", "a", "a"},
		{"described", described("a"), described("a")},
		{"symbol", amqp.Symbol("a"), "a"},
		{"next", nil, "waiting"},
		{"next, described", described(nil), described("waiting")},
		{"empty", "", ""},
		{"empty, described", described(""), described("")},
		{"two characters, torn", amqp.Described{Descriptor: amqp.Symbol("a"), Value: "b"}, "ab"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sessions(t, func(t *testing.T, b *bench) {
				b.put(t, "s", "waiting", "x")
				a := b.opened(t).AttachReceiver(0, sessionAttach(0, "s", c.filter))
				if a.Source.Address != "s" || len(a.Source.Filter) != 1 ||
					a.Source.Filter[0] != (amqp.Pair{Key: filterKey, Value: c.want}) {
					t.Errorf("answered with %+v", a.Source)
				}
				if got := time.Until(lockedUntil(t, a)); got != sessionLock {
					t.Errorf("locked for %v", got)
				}
			})
		})
	}
}

func TestSESS5_DLQ6_WhoMayReceiveWhere(t *testing.T) {
	for _, c := range []struct {
		name   string
		attach *frames.Attach
		text   string
	}{
		{"plain receiver, session queue", amqptest.ReceiverAttach(0, "s"),
			"It is not possible for an entity that requires sessions to create a non-sessionful message receiver."},
		{"named session, plain queue", sessionAttach(0, "q", "a"), "RequiresSession"},
		{"next session, plain queue", sessionAttach(0, "q", nil), "RequiresSession"},
		{"session of a dead-letter queue", sessionAttach(0, "s/$DeadLetterQueue", "a"), "no sessions"},
		{"next session of a dead-letter queue", sessionAttach(0, "s/$DeadLetterQueue", nil), "no sessions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sessions(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				if text := wantRefused(t, p, c.attach, "amqp:not-allowed"); !strings.Contains(text, c.text) {
					t.Errorf("refused with %q", text)
				}
				p.AttachReceiver(0, amqptest.ReceiverAttach(0, "s/$DeadLetterQueue"))
			})
		})
	}
}

func TestSESS_FilterOfAnotherTypeIsRefused(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		wantRefused(t, b.opened(t), sessionAttach(0, "s", int32(7)), "amqp:invalid-field")
	})
}

func TestSESS7_HeldSessionIsRefusedAtOnce(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachReceiver(0, sessionAttach(0, "s", "a"))
		start := time.Now()
		for _, other := range []*amqptest.Peer{p, b.opened(t)} {
			text := wantRefused(t, other, sessionAttach(1, "s", "a"), "com.microsoft:session-cannot-be-locked")
			if !strings.HasPrefix(text, "The requested session 'a' cannot be accepted. It may be locked by another receiver.") {
				t.Errorf("refused with %q", text)
			}
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("refused after %v", waited)
		}
	})
}

func TestSESS8_NextSessionWaits(t *testing.T) {
	for _, c := range []struct {
		name   string
		attach *frames.Attach
		wait   time.Duration
	}{
		{"65 seconds by default", sessionAttach(0, "s", nil), 65 * time.Second},
		{"less", waitingUpTo(sessionAttach(0, "s", nil), 2*time.Second), 2 * time.Second},
		{"more than a minute", waitingUpTo(sessionAttach(0, "s", nil), 3*time.Minute), 3 * time.Minute},
		{"not at all", waitingUpTo(sessionAttach(0, "s", nil), 0), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			sessions(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				start := time.Now()
				p.Send(0, c.attach)
				if c.wait > 0 {
					p.WantSilence(c.wait - time.Millisecond)
				}
				if a := amqptest.Want[*frames.Attach](p); a.Source != nil || a.Target != nil {
					t.Errorf("answered with %+v", a)
				}
				d := amqptest.Want[*frames.Detach](p)
				if !d.Closed || d.Error == nil || d.Error.Condition != "com.microsoft:timeout" {
					t.Errorf("detached with %v", d.Error)
				}
				if waited := time.Since(start); waited != c.wait {
					t.Errorf("answered after %v", waited)
				}
				p.Send(0, &frames.Detach{Handle: 0, Closed: true})
				b.put(t, "s", "late", "x") // SESS-9
				b.wantFree(t, "s", "late")
				p.AttachReceiver(0, sessionAttach(0, "s", nil)) // the handle is free
			})
		})
	}
}

func TestSESS8_WaitingAcceptIsAnsweredWhenASessionComes(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.Send(0, sessionAttach(0, "s", nil))
		p.Send(0, amqptest.Flow(0, 0, 5)) // credit granted before the answer counts
		p.WantSilence(10 * time.Second)
		b.put(t, "s", "a", "1", "2")
		a := amqptest.Want[*frames.Attach](p)
		if a.Source == nil || a.Source.Filter[0].Value != "a" || time.Until(lockedUntil(t, a)) != sessionLock {
			t.Fatalf("answered with %+v", a)
		}
		wantBody(t, p, "1")
		wantBody(t, p, "2")
		time.Sleep(2 * time.Minute) // the wait's time-out has passed, the session's lock has ended: there is one detach
		if d := amqptest.Want[*frames.Detach](p); d.Error == nil ||
			d.Error.Condition != "com.microsoft:session-lock-lost" {
			t.Errorf("detached with %v", d.Error)
		}
	})
}

// wantNeverAttached fails the test unless the next frames refuse the link with handle 0 and detach it without an
// error: a client knows no link by our handle until its attach is answered [AMQP 2.6.3].
func wantNeverAttached(t *testing.T, p *amqptest.Peer) {
	t.Helper()
	if a := amqptest.Want[*frames.Attach](p); a.Handle != 0 || a.Source != nil || a.Target != nil {
		t.Errorf("answered with %+v", a)
	}
	wantDetach(t, p, 0, "")
}

func TestSESS9_CancelledAcceptTakesNothing(t *testing.T) {
	for _, c := range []struct {
		name   string
		cancel func(p *amqptest.Peer)
		answer func(p *amqptest.Peer)
	}{
		{"detach", func(p *amqptest.Peer) { p.Send(0, &frames.Detach{Handle: 0, Closed: true}) },
			func(p *amqptest.Peer) { wantNeverAttached(t, p) }},
		{"end", func(p *amqptest.Peer) { p.Send(0, &frames.End{}) },
			func(p *amqptest.Peer) { amqptest.Want[*frames.End](p) }},
		{"close", func(p *amqptest.Peer) { p.Send(0, &frames.Close{}) },
			func(p *amqptest.Peer) { amqptest.Want[*frames.Close](p) }},
		{"lost connection", func(p *amqptest.Peer) { p.Close() }, func(*amqptest.Peer) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sessions(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				p.Send(0, sessionAttach(0, "s", nil))
				p.WantSilence(time.Second)
				c.cancel(p)
				c.answer(p)
				synctest.Wait()
				b.put(t, "s", "a", "x")
				b.wantFree(t, "s", "a")
				if c.name == "detach" {
					p.WantSilence(2 * time.Minute) // never a late attach (trap 13)
				}
			})
		})
	}
}

func TestSESS9_SessionGrantedToAClientThatHasGoneIsFree(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		for range 50 { // the grant and the end of the link race
			p := b.opened(t)
			p.Send(0, sessionAttach(0, "s", nil))
			synctest.Wait()
			go p.Send(0, &frames.Detach{Handle: 0, Closed: true})
			b.put(t, "s", "a", "x")
			synctest.Wait()
			b.wantFree(t, "s", "a")
			p.Close()
		}
	})
}

func TestLOCK17_EntityChangeEndsAWaitingAccept(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachReceiver(0, sessionAttach(1, "s", "held"))
		p.Send(0, sessionAttach(0, "s", nil))
		p.WantSilence(time.Second)
		if _, err := b.ns.Entities().UpdateQueue("s",
			emulator.QueueOptions{RequiresSession: true, LockDuration: sessionLock, UserMetadata: "x"}); err != nil {
			t.Fatal(err)
		}
		detached := map[uint32]bool{}
		refused := false
		for len(detached) < 2 {
			switch f := p.Next().Body.(type) {
			case *frames.Attach: // an attach without source comes first, or the peer would not know the link
				refused = f.Handle == 0 && f.Source == nil
			case *frames.Detach:
				detached[f.Handle] = true
				if f.Error == nil || f.Error.Condition != "amqp:link:detach-forced" {
					t.Errorf("link %d detached with %v", f.Handle, f.Error)
				}
				if f.Handle == 0 && !refused {
					t.Error("a link was detached that had not been attached")
				}
			}
		}
		b.wantFree(t, "s", "held")
	})
}

func TestSESS_AcceptTakesPartInShutdown(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.Send(0, sessionAttach(0, "s", nil))
		p.WantSilence(time.Second)
		go func() { _ = b.server.Shutdown(t.Context()) }()
		if c := amqptest.Want[*frames.Close](p); c.Error == nil || c.Error.Condition != "amqp:connection:forced" {
			t.Errorf("closed with %v", c.Error)
		}
	})
}

func TestSESS35_AnyCaseOfAnIDMeansTheSession(t *testing.T) {
	sessions(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "s")
		p.Send(0, amqptest.Transfer(0, 0), sessionMessage("ORDER-1", "x")...)
		wantOutcome(t, p, 0, "")
		p.Send(0, sessionAttach(1, "s", "order-1"))
		answer := amqptest.Want[*frames.Attach](p)
		if id, _ := answer.Source.Filter.Get(string(filterKey)); id != any("order-1") {
			t.Errorf("answered with the session %v, want the client's spelling", id)
		}
		wantRefused(t, p, sessionAttach(2, "s", "Order-1"), "com.microsoft:session-cannot-be-locked")
		p.Send(0, amqptest.Flow(1, 0, 1))
		wantBody(t, p, "x")
		p.AttachSender(0, 8, "s/$management")
		replyLink(p, 0, 9, "s/$management", "r", "r", 100)
		p.Send(0, amqptest.Transfer(8, 1),
			encode(t, managementRequest("set-session-state",
				map[string]any{"session-id": "Order-1", "session-state": []byte("x")}))...)
		wantOutcome(t, p, 1, "")
		if m, _, _ := wantReply(t, p); m.ApplicationProperties["statusCode"] != int32(200) {
			t.Errorf("set-session-state: %v", m.ApplicationProperties)
		}
	})
}
