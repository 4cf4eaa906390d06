package amqpserver_test

import (
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// wantEnd fails the test unless the server ends the session with the condition; then the peer ends it too.
func wantEnd(t *testing.T, p *amqptest.Peer, channel uint16, condition amqp.Symbol) {
	t.Helper()
	e := amqptest.Want[*frames.End](p)
	if e.Error == nil || e.Error.Condition != condition {
		t.Fatalf("ended with %v, want %s", e.Error, condition)
	}
	p.Send(channel, &frames.End{})
}

func TestSession_BeginIsAnsweredOnTheSameChannel(t *testing.T) { // [AMQP 2.5.1], amqp-data-plane 1.6
	bubble(t, func(t *testing.T, b *bench) {
		p := b.peer(t)
		p.Open()
		for _, channel := range []uint16{0, 3, 4999} {
			p.Send(channel, &frames.Begin{NextOutgoingID: 1, IncomingWindow: 1, OutgoingWindow: 1})
			f := p.Next()
			begin := f.Body.(*frames.Begin)
			if f.Channel != channel || !begin.HasRemoteChannel || begin.RemoteChannel != channel {
				t.Errorf("begin on %d answered on %d with remote-channel %d", channel, f.Channel, begin.RemoteChannel)
			}
			if begin.IncomingWindow != 5000 || begin.OutgoingWindow == 0 || !begin.HasHandleMax ||
				begin.HandleMax < 255 {
				t.Errorf("begin %+v", begin)
			}
		}
	})
}

func TestSession_ChannelsAreReused(t *testing.T) { // [AMQP 2.5.2]; Go begins a session per token
	bubble(t, func(t *testing.T, b *bench) {
		p := b.peer(t)
		p.Open()
		for range 300 {
			p.Begin(1)
			p.AttachSender(1, 0, "$cbs")
			p.Send(1, &frames.End{})
			if e := amqptest.Want[*frames.End](p); e.Error != nil {
				t.Fatalf("ended with %v", e.Error)
			}
		}
	})
}

// go-amqp ends, at its next begin, a session whose own begin its context cancelled before it was written.
func TestSession_EndOfASessionThatNeverBeganIsPassedOver(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.Send(1, &frames.End{})
		p.Begin(1)
		p.AttachSender(1, 0, "q")
	})
}

func TestSession_EndAndBeginPipelined(t *testing.T) { // .NET does not wait (amqp-data-plane 4.6)
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		p.Send(0, &frames.End{})
		p.Send(0, &frames.Begin{IncomingWindow: 1, OutgoingWindow: 1})
		amqptest.Want[*frames.Detach](p)
		amqptest.Want[*frames.End](p)
		amqptest.Want[*frames.Begin](p)
	})
}

func TestSession_Violations(t *testing.T) {
	for _, c := range []struct {
		name      string
		do        func(p *amqptest.Peer)
		condition amqp.Symbol
	}{
		{"transfer to no link [2.8.18]", func(p *amqptest.Peer) { p.Send(0, amqptest.Transfer(9, 0)) },
			"amqp:session:unattached-handle"},
		{"flow for no link [2.8.18]", func(p *amqptest.Peer) { p.Send(0, amqptest.Flow(9, 0, 1)) },
			"amqp:session:unattached-handle"},
		{"detach of no link [2.8.18]", func(p *amqptest.Peer) { p.Send(0, &frames.Detach{Handle: 9, Closed: true}) },
			"amqp:session:unattached-handle"},
		{"handle in use [2.8.18]", func(p *amqptest.Peer) { p.Send(0, amqptest.SenderAttach(0, "q")) },
			"amqp:session:handle-in-use"},
		{"transfer on a receiving link [2.6.12]", func(p *amqptest.Peer) { p.Send(0, amqptest.Transfer(1, 0)) },
			"amqp:session:errant-link"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				p.AttachSender(0, 0, "q")
				p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q"))
				p.Begin(1)
				c.do(p)
				p.Send(0, amqptest.Flow(1, 0, 5)) // discarded: written before the client knew
				wantEnd(t, p, 0, c.condition)
				// The channel is free, and the other session is not affected.
				p.Begin(0)
				p.AttachSender(1, 0, "q")
			})
		})
	}
}

// Whatever the client writes before it sees our end is discarded, whichever kind it is [AMQP 2.5.5].
func TestSession_FramesBehindOurEndAreDiscarded(t *testing.T) {
	disposition := &frames.Disposition{Role: frames.RoleReceiver, First: 0, Settled: true, State: &frames.Accepted{}}
	for name, frame := range map[string]frames.Performative{
		"attach":      amqptest.SenderAttach(5, "q"),
		"flow":        &frames.Flow{IncomingWindow: 1, OutgoingWindow: 1, Echo: true},
		"transfer":    amqptest.Transfer(5, 0),
		"disposition": disposition,
		"detach":      &frames.Detach{Handle: 5, Closed: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				p := b.opened(t)
				p.Send(0, amqptest.Transfer(9, 0)) // to no link
				amqptest.Want[*frames.End](p)
				p.Send(0, frame)
				p.WantSilence(time.Second)
				p.Send(0, &frames.End{})
				p.Begin(0)
				p.AttachSender(0, 5, "q")
			})
		})
	}
}

func TestSession_IncomingWindowIsOpenedAgainBeforeItCloses(t *testing.T) { // [AMQP 2.5.6]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		window, sent := uint32(5000), uint32(0)
		for range 6000 { // of a single delivery that stays unfinished, so that no link flow helps
			p.Send(0, &frames.Transfer{Handle: 0, HasDeliveryID: sent == 0, More: true})
			sent++
			if sent%500 != 0 {
				continue
			}
			p.Send(0, &frames.Flow{OutgoingWindow: 1, Echo: true}) // the answer shows where the server is
			for answered := false; !answered; {
				f := amqptest.Want[*frames.Flow](p)
				window = f.NextIncomingID + f.IncomingWindow - sent
				answered = f.NextIncomingID == sent
			}
			if window < 2500 {
				t.Fatalf("after %d transfers the window is %d", sent, window)
			}
		}
	})
}

func TestSession_OutgoingWindowIsRespected(t *testing.T) { // [AMQP 2.5.6]
	bubble(t, func(t *testing.T, b *bench) {
		b.send(t, b.client(t), "q", numbered(10)...)
		p := b.peer(t)
		p.Open()
		p.BeginWindow(0, 3)
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		flow := amqptest.Flow(0, 0, 100)
		flow.IncomingWindow = 3
		p.Send(0, flow)
		for i := range uint32(3) {
			if d := amqptest.Want[*frames.Transfer](p); d.DeliveryID != i {
				t.Errorf("delivery-id %d, want %d", d.DeliveryID, i)
			}
		}
		p.WantSilence(time.Second)
		p.Send(0, &frames.Disposition{Role: frames.RoleReceiver, First: 0, Last: 2, HasLast: true, Settled: true,
			State: &frames.Accepted{}})
		p.Send(0, &frames.Flow{NextIncomingID: 4, HasNextIncomingID: true, IncomingWindow: 2})
		amqptest.Want[*frames.Transfer](p)
		amqptest.Want[*frames.Transfer](p)
		p.WantSilence(time.Second)
		// Others can receive what the link could not take.
		b.wantReceivable(t, "q", 5)
	})
}

func TestSession_WindowClosesInTheMiddleOfADelivery(t *testing.T) { // [AMQP 2.5.6, 2.6.14]
	bubble(t, func(t *testing.T, b *bench) {
		b.send(t, b.client(t), "q", string(make([]byte, 2000)))
		p := b.peer(t)
		p.MaxFrameSize = 512
		p.Open()
		p.BeginWindow(0, 2)
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		flow := amqptest.Flow(0, 0, 1)
		flow.IncomingWindow = 2
		p.Send(0, flow)
		size := 0
		for i := uint32(0); ; i++ {
			d, payload := amqptest.WantPayload[*frames.Transfer](p)
			size += len(payload)
			if i > 0 && (d.HasDeliveryID || d.DeliveryTag != nil) {
				t.Errorf("frame %d repeats the delivery-id", i)
			}
			if !d.More {
				break
			}
			if i%2 == 1 {
				p.WantSilence(time.Second)
				p.Send(0, &frames.Flow{NextIncomingID: i + 2, HasNextIncomingID: true, IncomingWindow: 2})
			}
		}
		if size < 2000 {
			t.Errorf("%d bytes arrived", size)
		}
	})
}

func TestSession_DeliveryIDsAreContiguousOverAllLinks(t *testing.T) { // amqp-data-plane 1.6
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("q2", emulator.QueueOptions{})
		s := b.client(t)
		b.send(t, s, "q", numbered(5)...)
		b.send(t, s, "q2", numbered(5)...)
		p := b.opened(t)
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q2"))
		p.Send(0, amqptest.Flow(0, 0, 2))
		p.Send(0, amqptest.Flow(1, 0, 5))
		p.Send(0, amqptest.Flow(0, 0, 5))
		for i := range uint32(10) {
			if d := amqptest.Want[*frames.Transfer](p); d.DeliveryID != i {
				t.Fatalf("delivery-id %d, want %d", d.DeliveryID, i)
			}
		}
	})
}

func TestSession_EchoIsAnswered(t *testing.T) { // [AMQP 2.7.4]
	bubble(t, func(t *testing.T, b *bench) {
		p := b.opened(t)
		p.AttachSender(0, 0, "q")
		p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q"))
		p.Send(0, &frames.Flow{Echo: true})
		if f := amqptest.Want[*frames.Flow](p); f.HasHandle {
			t.Error("the answer to a session's echo has a handle")
		}
		echo := amqptest.Flow(0, 0, 77) // a client that sends can't set credit
		echo.Echo = true
		p.Send(0, echo)
		if f := amqptest.Want[*frames.Flow](p); !f.HasHandle || f.Handle != 0 || f.LinkCredit != 1000 {
			t.Errorf("the answer to a sender's echo is %+v", f)
		}
		echo = amqptest.Flow(1, 0, 7)
		echo.Echo = true
		p.Send(0, echo)
		if f := amqptest.Want[*frames.Flow](p); !f.HasHandle || f.Handle != 1 || f.LinkCredit != 7 {
			t.Errorf("the answer to a receiver's echo is %+v", f)
		}
	})
}
