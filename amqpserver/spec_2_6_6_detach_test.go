package amqpserver_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/amqpserver"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// wantDetach fails the test unless the next frame detaches the link of a handle, with the condition, or without an
// error if that is empty.
func wantDetach(t *testing.T, p *amqptest.Peer, handle uint32, condition amqp.Symbol) {
	t.Helper()
	d := amqptest.Want[*frames.Detach](p)
	var got amqp.Symbol
	if d.Error != nil {
		got = d.Error.Condition
	}
	if !d.Closed || d.Handle != handle || got != condition {
		t.Fatalf("detach %+v with %v, want handle %d, %q", d, d.Error, handle, condition)
	}
}

// held pauses the journal, lets the peer send something that has to be committed with say, and end the link, session
// or connection with end. The server must not answer until the journal goes on.
func held(t *testing.T, b *bench, p *amqptest.Peer, say, end func()) {
	t.Helper()
	b.journal.Pause()
	say()
	end()
	p.WantSilence(500 * time.Millisecond)
	b.journal.Resume()
}

// TestDetach_FollowsTheAnswers [AMQP 2.6.6]: our detach ends the link, and one client ends its session over an answer
// that comes later.
func TestDetach_FollowsTheAnswers(t *testing.T) {
	detach := func(p *amqptest.Peer) func() {
		return func() { p.Send(0, &frames.Detach{Handle: 0, Closed: true}) }
	}
	t.Run("settlements", func(t *testing.T) {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.delivered(t, 4)
			held(t, b, p, func() {
				settle(p, 0, 1, false, &frames.Accepted{})
				settle(p, 2, 2, true, &frames.Accepted{})
			}, detach(p))
			wantSettled(t, p, 0, 1)
			wantDetach(t, p, 0, "")
			p.WantSilence(time.Second)
			b.wantReceivable(t, "q", 0) // the last one is still locked (LOCK-10)
		})
	})
	t.Run("messages", func(t *testing.T) {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.opened(t)
			p.AttachSender(0, 0, "q")
			held(t, b, p, func() {
				for id := range uint32(10) {
					p.Send(0, amqptest.Transfer(0, id), amqptest.Message("x")...)
				}
			}, detach(p))
			for settled := uint32(0); settled < 10; {
				settled = amqptest.Want[*frames.Disposition](p).Last + 1
			}
			wantDetach(t, p, 0, "")
		})
	})
	t.Run("discharge", func(t *testing.T) {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.controlled(t)
			p.AttachSender(0, 0, "q")
			txn := declare(t, p)
			sendWithin(t, p, txn, 0, 0, "x")
			held(t, b, p, func() {
				p.Send(1, amqptest.Transfer(7, 5), (&frames.Discharge{TxnID: txn}).AppendTo(nil)...)
			}, func() { p.Send(1, &frames.Detach{Handle: 7, Closed: true}) })
			wantOutcome(t, p, 5, "")
			wantDetach(t, p, 7, "")
		})
	})
	t.Run("another link does not wait", func(t *testing.T) {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.delivered(t, 1)
			p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q"))
			b.journal.Pause()
			settle(p, 0, 0, false, &frames.Accepted{})
			p.Send(0, &frames.Detach{Handle: 1, Closed: true})
			wantDetach(t, p, 1, "")
			b.journal.Resume()
			wantSettled(t, p, 0, 0)
		})
	})
}

// TestDetach_OursFollowsTheAnswersToo [AMQP 2.6.6], and is sent once even if the peer's arrives meanwhile.
func TestDetach_OursFollowsTheAnswersToo(t *testing.T) {
	for _, both := range []bool{false, true} {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.delivered(t, 1)
			b.journal.Pause()
			settle(p, 0, 0, false, &frames.Accepted{})
			p.WantSilence(2 * time.Minute) // the link is idle by then
			if both {
				p.Send(0, &frames.Detach{Handle: 0, Closed: true})
			}
			b.journal.Resume()
			wantSettled(t, p, 0, 0)
			wantDetach(t, p, 0, "amqp:link:detach-forced")
			if !both {
				p.Send(0, &frames.Detach{Handle: 0, Closed: true})
			}
			p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q")) // the handle is free
			p.WantSilence(time.Second)
		}, func(o *amqpserver.Options) { o.LinkIdle = time.Minute })
	}
}

// TestDetach_NothingIsSaidOfItsDeliveries after the detach [AMQP 2.6.6]: they ended with the link.
func TestDetach_NothingIsSaidOfItsDeliveries(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.delivered(t, 2)
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		wantDetach(t, p, 0, "")
		settle(p, 0, 0, false, &frames.Accepted{})
		settle(p, 0, 1, false, &frames.Accepted{})
		p.WantSilence(time.Second)
		q, _ := b.ns.Entity("q")
		if n := q.Counts().Active; n != 2 {
			t.Errorf("%d messages are left, want both", n)
		}
	})
}

// TestDetach_FlowBehindItIsDiscarded: the Go client grants credit for a settlement that is answered while it closes.
func TestDetach_FlowBehindItIsDiscarded(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.delivered(t, 1)
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		p.Send(0, amqptest.Flow(0, 1, 1))
		wantDetach(t, p, 0, "")
		p.WantSilence(time.Second)
		p.Send(0, amqptest.Flow(1, 0, 1)) // there has never been such a link
		wantEnd(t, p, 0, "amqp:session:unattached-handle")
	})
}

// TestDetach_IsSaidBeforeTheHandleIsUsedAgain: a client may attach again on the handle of its detach. It then waits
// for no more answers [AMQP 2.6.6], and none follows the detach.
func TestDetach_IsSaidBeforeTheHandleIsUsedAgain(t *testing.T) {
	t.Run("a sender", func(t *testing.T) {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.opened(t)
			p.AttachSender(0, 0, "q")
			b.journal.Pause()
			p.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
			p.Send(0, &frames.Detach{Handle: 0, Closed: true})
			p.Send(0, amqptest.SenderAttach(0, "q"))
			wantDetach(t, p, 0, "")
			amqptest.Want[*frames.Attach](p)
			amqptest.Want[*frames.Flow](p)
			p.Send(0, amqptest.Transfer(0, 1), amqptest.Message("y")...)
			b.journal.Resume()
			if d := amqptest.Want[*frames.Disposition](p); d.First != 1 {
				t.Errorf("delivery %d is answered, want that of the new link", d.First)
			}
			p.WantSilence(time.Second)
			b.wantReceivable(t, "q", 2)
		})
	})
	t.Run("a receiver", func(t *testing.T) {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.delivered(t, 2)
			b.journal.Pause()
			settle(p, 0, 0, false, &frames.Accepted{})
			p.Send(0, &frames.Detach{Handle: 0, Closed: true})
			p.Send(0, amqptest.ReceiverAttach(0, "q"))
			wantDetach(t, p, 0, "")
			amqptest.Want[*frames.Attach](p)
			b.journal.Resume()
			p.WantSilence(time.Second)
			b.wantReceivable(t, "q", 0)
		})
	})
	t.Run("a receiver that deletes", func(t *testing.T) {
		bubble(t, func(t *testing.T, b *bench) {
			b.send(t, b.client(t), "q", numbered(3)...)
			p := b.opened(t)
			a := amqptest.ReceiverAttach(0, "q")
			a.SndSettleMode, a.HasSndSettleMode = 1, true
			p.AttachReceiver(0, a)
			b.journal.Pause()
			p.Send(0, amqptest.Flow(0, 0, 3))
			p.Send(0, &frames.Detach{Handle: 0, Closed: true})
			p.Send(0, a)
			wantDetach(t, p, 0, "")
			amqptest.Want[*frames.Attach](p)
			b.journal.Resume()
			p.WantSilence(time.Second)
			b.wantReceivable(t, "q", 3) // RAD-5
		})
	})
}

func TestEnd_FollowsTheAnswers(t *testing.T) { // [AMQP 2.5.2]
	t.Run("of the peer", func(t *testing.T) {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.delivered(t, 1)
			held(t, b, p, func() { settle(p, 0, 0, false, &frames.Accepted{}) }, func() { p.Send(0, &frames.End{}) })
			wantSettled(t, p, 0, 0)
			amqptest.Want[*frames.End](p)
			p.Begin(0)
		})
	})
	t.Run("of the peer, behind detach", func(t *testing.T) { // as .NET writes it (amqp-data-plane 4.6)
		bubble(t, func(t *testing.T, b *bench) {
			p := b.delivered(t, 1)
			held(t, b, p, func() { settle(p, 0, 0, false, &frames.Accepted{}) }, func() {
				p.Send(0, &frames.Detach{Handle: 0, Closed: true})
				p.Send(0, &frames.End{})
			})
			wantSettled(t, p, 0, 0)
			wantDetach(t, p, 0, "")
			amqptest.Want[*frames.End](p)
			p.Begin(0)
		})
	})
	t.Run("of ours", func(t *testing.T) {
		bubble(t, func(t *testing.T, b *bench) {
			p := b.delivered(t, 1)
			held(t, b, p, func() { settle(p, 0, 0, false, &frames.Accepted{}) },
				func() { p.Send(0, amqptest.Flow(9, 0, 1)) })
			wantSettled(t, p, 0, 0)
			wantEnd(t, p, 0, "amqp:session:unattached-handle")
			p.Begin(0)
		})
	})
}

// TestEnd_IsSaidBeforeTheChannelIsUsedAgain [AMQP 2.5.2]: a peer that begins a new session does not need answers to
// the old one.
func TestEnd_IsSaidBeforeTheChannelIsUsedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.delivered(t, 1)
		b.journal.Pause()
		settle(p, 0, 0, false, &frames.Accepted{})
		p.Send(0, &frames.End{})
		p.Send(0, &frames.Begin{IncomingWindow: 100, OutgoingWindow: 100})
		amqptest.Want[*frames.End](p)
		amqptest.Want[*frames.Begin](p)
		b.journal.Resume()
		p.WantSilence(time.Second)
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
	})
}

func TestClose_FollowsTheAnswers(t *testing.T) { // [AMQP 2.4.3]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.delivered(t, 1)
		held(t, b, p, func() { settle(p, 0, 0, false, &frames.Accepted{}) }, func() { p.Send(0, &frames.Close{}) })
		wantSettled(t, p, 0, 0)
		amqptest.Want[*frames.Close](p)
		p.WantEOF()
	})
}

// TestClose_FollowsTheAnswersToAPeerThatHasHungUp: it can still read.
func TestClose_FollowsTheAnswersToAPeerThatHasHungUp(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		said := frames.AppendFrame(append([]byte(nil), amqptest.HeaderAMQP...), 0, &frames.Open{ContainerID: "peer"})
		said = frames.AppendFrame(said, 0, &frames.Begin{IncomingWindow: 100, OutgoingWindow: 100})
		said = frames.AppendFrame(said, 0, amqptest.SenderAttach(0, "q"))
		said, start := frames.BeginFrame(said, frames.TypeAMQP, 0)
		said = frames.EndFrame(append(amqptest.Transfer(0, 0).AppendTo(said), amqptest.Message("x")...), start)
		said = frames.AppendFrame(said, 0, &frames.Close{})
		h := &hangUp{said: bytes.NewReader(said)}
		b.journal.Pause()
		done := make(chan struct{})
		go func() {
			defer close(done)
			b.server.ServeConn(h)
		}()
		time.Sleep(500 * time.Millisecond)
		b.journal.Resume()
		<-done
		want := frames.AppendFrame(nil, 0,
			&frames.Disposition{Role: frames.RoleReceiver, HasLast: true, Settled: true, State: &frames.Accepted{}})
		want = frames.AppendFrame(want, 0, &frames.Close{})
		if !bytes.HasSuffix(h.heard.Bytes(), want) {
			t.Errorf("heard % x, which does not end with the outcome and a close", h.heard.Bytes())
		}
	})
}

// TestClose_WaitsForAMomentOnly if answers do not come.
func TestClose_WaitsForAMomentOnly(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.delivered(t, 1)
		b.journal.Pause()
		settle(p, 0, 0, false, &frames.Accepted{})
		p.Send(0, &frames.Close{})
		start := time.Now()
		amqptest.Want[*frames.Close](p.Within(3 * time.Second))
		if waited := time.Since(start); waited > 2*time.Second {
			t.Errorf("close was answered after %v", waited)
		}
		p.WantEOF()
		b.journal.Resume()
	})
}

// TestDetach_ClientClosesAReceiverWhileItSettles: the session of the real client lives on, and so do its other links.
func TestDetach_ClientClosesAReceiverWhileItSettles(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		ctx := t.Context()
		s := b.client(t)
		b.send(t, s, "q", "x")
		receiver, err := s.NewReceiver(ctx, "q",
			&goamqp.ReceiverOptions{SettlementMode: goamqp.ReceiverSettleModeSecond.Ptr(), Credit: 1})
		if err != nil {
			t.Fatal(err)
		}
		m, err := receiver.Receive(ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		b.journal.Pause()
		done := make(chan error, 2)
		go func() { done <- receiver.AcceptMessage(ctx, m) }()
		synctest.Wait()
		go func() { done <- receiver.Close(ctx) }()
		synctest.Wait()
		b.journal.Resume()
		for range 2 {
			if err := <-done; err != nil {
				t.Errorf("settle and close: %v", err)
			}
		}
		b.send(t, s, "q", "on the same session")
	})
}
