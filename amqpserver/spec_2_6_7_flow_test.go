package amqpserver_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

func TestORD4_ORD5_CreditIsServedInTheOrderGranted(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		first, second := b.receiving(t, 0), b.receiving(t, 0)
		second.Send(0, amqptest.Flow(0, 0, 1))
		time.Sleep(time.Second)
		first.Send(0, amqptest.Flow(0, 0, 1))
		time.Sleep(time.Second)
		sender := b.client(t)
		for i, p := range []*amqptest.Peer{second, first} {
			b.send(t, sender, "q", fmt.Sprint(i)) // one at a time: of two links notified at once either may be faster
			if _, payload := amqptest.WantPayload[*frames.Transfer](p); !bytes.HasSuffix(payload,
				[]byte(fmt.Sprint(i))) {
				t.Errorf("delivery %d is %q", i, payload)
			}
			p.WantSilence(time.Second)
		}
	})
}

// TestFlow_CreditOfASenderCountsFromItsInitialDeliveryCount [AMQP 2.6.7]: it may send our delivery-count plus credit
// minus its own count, which need not begin at zero and wraps around.
func TestFlow_CreditOfASenderCountsFromItsInitialDeliveryCount(t *testing.T) {
	for _, first := range []uint32{0, 1, 5000, 1<<32 - 100} {
		for _, address := range []string{"q", "q/$management", "$cbs", ""} {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				a := amqptest.SenderAttach(0, address)
				if address == "" {
					a = controlAttach(0)
				}
				a.InitialDeliveryCount = first
				p.Send(0, a)
				amqptest.Want[*frames.Attach](p)
				if f := amqptest.Want[*frames.Flow](p); f.DeliveryCount != first || f.LinkCredit == 0 {
					t.Errorf("a sender to '%s' that begins at %d is told delivery-count %d, link-credit %d", address,
						first, f.DeliveryCount, f.LinkCredit)
				}
				if address != "q" {
					return
				}
				for i := range uint32(200) {
					p.Send(0, amqptest.Transfer(0, i), amqptest.Message("x")...)
				}
				p.Send(0, &frames.Flow{HasHandle: true, Echo: true})
				for {
					if f, ok := p.Next().Body.(*frames.Flow); ok {
						if f.DeliveryCount != first+200 {
							t.Errorf("begun at %d, the count is %d after 200 deliveries", first, f.DeliveryCount)
						}
						return
					}
				}
			})
		}
	}
}

func TestFlow_DrainWithoutMessages(t *testing.T) { // [AMQP 2.6.7], amqp-data-plane 4.4
	bubble(t, func(t *testing.T, b *bench) {
		p := b.receiving(t, 0)
		p.Send(0, amqptest.Flow(0, 0, 10))
		drain := amqptest.Flow(0, 0, 10)
		drain.Drain = true
		p.Send(0, drain)
		f := amqptest.Want[*frames.Flow](p)
		if !f.Drain || f.DeliveryCount != 10 || f.LinkCredit != 0 || f.Available != 0 || f.Handle != 0 || !f.HasHandle {
			t.Errorf("the answer to a drain is %+v", f)
		}
		b.send(t, b.client(t), "q", "later")
		p.WantSilence(time.Second) // the credit is gone
		p.Send(0, amqptest.Flow(0, 10, 1))
		amqptest.Want[*frames.Transfer](p)
	})
}

func TestFlow_DrainSendsWhatIsThereFirst(t *testing.T) { // [AMQP 2.6.7]
	bubble(t, func(t *testing.T, b *bench) {
		for _, mode := range []func(*frames.Attach){func(*frames.Attach) {}, deleting} {
			p := b.receiving(t, 100, mode)
			drain := amqptest.Flow(0, 0, 1000)
			drain.Drain = true
			p.Send(0, drain)
			for range 100 {
				amqptest.Want[*frames.Transfer](p)
			}
			if f := amqptest.Want[*frames.Flow](p); !f.Drain || f.DeliveryCount != 1000 || f.LinkCredit != 0 {
				t.Errorf("the answer to a drain is %+v", f)
			}
			p.Close()
		}
	})
}

func TestFlow_DrainThatUsesAllCredit(t *testing.T) { // [AMQP 2.6.7]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.receiving(t, 5)
		drain := amqptest.Flow(0, 0, 3)
		drain.Drain = true
		p.Send(0, drain)
		for range 3 {
			amqptest.Want[*frames.Transfer](p)
		}
		if f := amqptest.Want[*frames.Flow](p); f.DeliveryCount != 3 || f.LinkCredit != 0 || !f.Drain {
			t.Errorf("the answer to a drain is %+v", f)
		}
		p.WantSilence(time.Second)
	})
}

func TestFlow_DrainIsAnsweredWithTheWindowClosed(t *testing.T) { // Python sends no flow until it is answered
	bubble(t, func(t *testing.T, b *bench) {
		b.send(t, b.client(t), "q", numbered(5)...)
		p := b.peer(t)
		p.Open()
		p.BeginWindow(0, 0)
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		drain := amqptest.Flow(0, 0, 3)
		drain.Drain, drain.IncomingWindow = true, 0
		p.Send(0, drain)
		if f := amqptest.Want[*frames.Flow](p); f.DeliveryCount != 3 || !f.Drain {
			t.Errorf("the answer to a drain is %+v", f)
		}
		b.wantReceivable(t, "q", 5)
	})
}

func TestLOCK21_DrainedCreditChangesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.receiving(t, 0)
		drain := amqptest.Flow(0, 0, 5)
		drain.Drain = true
		p.Send(0, drain)
		amqptest.Want[*frames.Flow](p)
		b.send(t, b.client(t), "q", "x")
		r, _ := b.client(t).NewReceiver(t.Context(), "q", nil)
		m, err := r.Receive(t.Context(), nil)
		if err != nil || m.Header.DeliveryCount != 0 {
			t.Errorf("delivery count %d, %v", m.Header.DeliveryCount, err)
		}
	})
}

func TestFlow_CreditCanBeWithdrawn(t *testing.T) { // [AMQP 2.6.7]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.receiving(t, 0)
		other := b.receiving(t, 0)
		p.Send(0, amqptest.Flow(0, 0, 10))
		time.Sleep(time.Second)
		other.Send(0, amqptest.Flow(0, 0, 10))
		p.Send(0, amqptest.Flow(0, 0, 0))
		time.Sleep(time.Second)
		b.send(t, b.client(t), "q", "x")
		amqptest.Want[*frames.Transfer](other)
		p.WantSilence(time.Second)
	})
}

func TestFlow_CountsWrapAround(t *testing.T) { // [RFC 1982]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.receiving(t, 6)
		// The client claims to be just below the end of the circle; its credit reaches across it.
		p.Send(0, amqptest.Flow(0, 1<<32-2, 4))
		amqptest.Want[*frames.Transfer](p)
		amqptest.Want[*frames.Transfer](p)
		p.WantSilence(time.Second) // the limit is 2, as the server counts
	})
}

// TestFlow_DrainWaitsForTheRoomThatAnotherLinkHolds for messages that it has taken and cannot write yet. There are
// messages and the window is open, so the answer to the drain must wait [AMQP 2.6.7].
func TestFlow_DrainWaitsForTheRoomThatAnotherLinkHolds(t *testing.T) {
	const window = 4
	for _, c := range []struct {
		name   string
		opened uint32 // the window in the peer's flows
		change func(b *bench, p *amqptest.Peer)
		others int // deliveries on the other link
		got    int
	}{
		{"until they are written, which closes the window", window,
			func(b *bench, _ *amqptest.Peer) { b.journal.Resume() }, 4, 0},
		{"until they are written, which leaves room", 100,
			func(b *bench, _ *amqptest.Peer) { b.journal.Resume() }, 4, 3},
		{"until they are given back", window, func(b *bench, p *amqptest.Peer) {
			b.journal.FailNext(1, errors.New("disk on fire"))
			p.Send(0, windowed(amqptest.Flow(0, 0, 0), window)) // it wants no more meanwhile
			time.Sleep(time.Second)
			b.journal.Resume()
		}, 0, 3},
		{"until the peer closes the window", window, func(_ *bench, p *amqptest.Peer) {
			p.Send(0, &frames.Flow{NextIncomingID: 1, HasNextIncomingID: true})
		}, 0, 0},
		{"until the connection shuts down", window, func(b *bench, _ *amqptest.Peer) {
			go func() { _ = b.server.Shutdown(context.Background()) }()
		}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				b.send(t, b.client(t), "q", numbered(10)...)
				p := b.peer(t)
				p.Open()
				p.BeginWindow(0, window)
				first := amqptest.ReceiverAttach(0, "q")
				deleting(first)
				p.AttachReceiver(0, first)
				p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q"))
				b.journal.Pause()
				defer b.journal.Resume()
				p.Send(0, windowed(amqptest.Flow(0, 0, window), c.opened))
				time.Sleep(time.Second)
				drain := windowed(amqptest.Flow(1, 0, 3), c.opened)
				drain.Drain = true
				p.Send(0, drain)
				p.WantSilence(time.Second)
				c.change(b, p)
				for i := range c.others + c.got {
					if d := amqptest.Want[*frames.Transfer](p); d.Handle == 1 != (i >= c.others) {
						t.Errorf("delivery %d is on handle %d", i, d.Handle)
					}
				}
				if f := amqptest.Want[*frames.Flow](p); f.Handle != 1 || !f.Drain ||
					f.DeliveryCount != 3 || f.LinkCredit != 0 {
					t.Errorf("the answer to a drain is %+v", f)
				}
			})
		})
	}
}

// TestFlow_RoomThatAnotherLinkLeavesIsUsed without another frame from the peer.
func TestFlow_RoomThatAnotherLinkLeavesIsUsed(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.send(t, b.client(t), "q", numbered(10)...)
		p := b.peer(t)
		p.Open()
		p.BeginWindow(0, 4) // this many can be unsettled; received and deleted ones never are
		first := amqptest.ReceiverAttach(0, "q")
		deleting(first)
		p.AttachReceiver(0, first)
		p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q"))
		b.journal.Pause()
		for handle := range uint32(2) {
			p.Send(0, windowed(amqptest.Flow(handle, 0, 4), 100))
			time.Sleep(time.Second)
		}
		b.journal.Resume()
		for i := range 8 {
			if d := amqptest.Want[*frames.Transfer](p); int(d.Handle) != i/4 {
				t.Errorf("delivery %d is on handle %d", i, d.Handle)
			}
		}
	})
}

// windowed sets the session window in a flow.
func windowed(f *frames.Flow, window uint32) *frames.Flow {
	f.IncomingWindow = window
	return f
}
