package amqpserver_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqp/message"
	"minibus/internal/amqptest"
)

// receiving returns a peer with a receiver of "q" on handle 0, without credit, and n messages in the queue.
func (b *bench) receiving(t *testing.T, n int, change ...func(*frames.Attach)) *amqptest.Peer {
	t.Helper()
	b.send(t, b.client(t), "q", numbered(n)...)
	p := b.opened(t)
	a := amqptest.ReceiverAttach(0, "q")
	for _, f := range change {
		f(a)
	}
	p.AttachReceiver(0, a)
	return p
}

// windowed returns a peer whose session takes so many transfers, and n messages in "q".
func (b *bench) windowed(t *testing.T, n int, window uint32) *amqptest.Peer {
	t.Helper()
	b.send(t, b.client(t), "q", numbered(n)...)
	p := b.peer(t)
	p.Open()
	p.BeginWindow(0, window)
	return p
}

// attach opens a receiver on "q" and gives it credit, in a session that takes so many transfers.
func attach(p *amqptest.Peer, handle, credit, window uint32, change ...func(*frames.Attach)) {
	a := amqptest.ReceiverAttach(handle, "q")
	for _, f := range change {
		f(a)
	}
	p.AttachReceiver(0, a)
	grant(p, handle, credit, window)
}

// grant gives a receiver credit, in a session that takes so many transfers.
func grant(p *amqptest.Peer, handle, credit, window uint32) {
	flow := amqptest.Flow(handle, 0, credit)
	flow.IncomingWindow = window
	p.Send(0, flow)
}

// wantTransfers reads so many transfers.
func wantTransfers(p *amqptest.Peer, n int) {
	for range n {
		amqptest.Want[*frames.Transfer](p)
	}
}

// deleting makes a receiver receive and delete.
func deleting(a *frames.Attach) {
	a.SndSettleMode, a.HasSndSettleMode, a.RcvSettleMode = 1, true, 0
}

// settle sends a receiver's disposition.
func settle(p *amqptest.Peer, first, last uint32, settled bool, state frames.DeliveryState) {
	p.Send(0, &frames.Disposition{Role: frames.RoleReceiver, First: first, Last: last, HasLast: true,
		Settled: settled, State: state})
}

func TestDelivery_TransferFields(t *testing.T) { // amqp-data-plane 4.5
	bubble(t, func(t *testing.T, b *bench) {
		p := b.receiving(t, 1)
		p.Send(0, amqptest.Flow(0, 0, 1))
		d, payload := amqptest.WantPayload[*frames.Transfer](p)
		if len(d.DeliveryTag) != 16 || !d.HasMessageFormat || d.MessageFormat != 0 || !d.HasDeliveryID {
			t.Errorf("transfer %+v", d)
		}
		if d.HasSettled || d.More || !d.Batchable {
			t.Errorf("transfer %+v", d)
		}
		m, err := message.Scan(payload)
		if err != nil {
			t.Fatal(err)
		}
		token := deliveryAnnotation(t, &m, "x-opt-lock-token").(amqp.UUID)
		guid := amqp.UUID{token[3], token[2], token[1], token[0], token[5], token[4], token[7], token[6]}
		copy(guid[8:], token[8:])
		if !bytes.Equal(d.DeliveryTag, guid[:]) {
			t.Errorf("tag %x is not the Guid form of token %x", d.DeliveryTag, token)
		}
	})
}

func deliveryAnnotation(t *testing.T, m *message.Message, key string) any {
	t.Helper()
	v, _, err := amqp.Decode(m.Raw[m.DeliveryAnnotations.Start:m.DeliveryAnnotations.End])
	if err != nil {
		t.Fatal(err)
	}
	value, _ := v.(amqp.Described).Value.(amqp.Map).Get(key)
	return value
}

func TestLOCK22_PRE1_CreditAloneDecides(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.receiving(t, 5)
		p.WantSilence(time.Second)
		p.Send(0, amqptest.Flow(0, 0, 2))
		amqptest.Want[*frames.Transfer](p)
		amqptest.Want[*frames.Transfer](p)
		p.WantSilence(time.Second)
		b.wantReceivable(t, "q", 3) // two are locked at once, none beyond the credit
	})
}

func TestLOCK22_WaitingReceiverGetsTheMessageWhenThereIsOne(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.receiving(t, 0)
		p.Send(0, amqptest.Flow(0, 0, 10))
		p.WantSilence(time.Hour / 10)
		b.send(t, b.client(t), "q", "now")
		if _, payload := amqptest.WantPayload[*frames.Transfer](p); !bytes.Contains(payload, []byte("now")) {
			t.Errorf("payload %q", payload)
		}
	})
}

func TestReceiver_ThatDetachesSwallowsNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		go_  func(p *amqptest.Peer)
	}{
		{"detach", func(p *amqptest.Peer) {
			p.Send(0, &frames.Detach{Handle: 0, Closed: true})
			amqptest.Want[*frames.Detach](p)
		}},
		{"end", func(p *amqptest.Peer) { p.Send(0, &frames.End{}); amqptest.Want[*frames.End](p) }},
		{"close", func(p *amqptest.Peer) { p.Send(0, &frames.Close{}); amqptest.Want[*frames.Close](p) }},
		{"loss", func(p *amqptest.Peer) { p.Close(); time.Sleep(time.Second) }},
	} {
		for _, mode := range []func(*frames.Attach){func(*frames.Attach) {}, deleting} {
			t.Run(c.name, func(t *testing.T) {
				bubble(t, func(t *testing.T, b *bench) {
					p := b.receiving(t, 0, mode)
					p.Send(0, amqptest.Flow(0, 0, 100))
					time.Sleep(time.Second)
					c.go_(p)
					b.send(t, b.client(t), "q", numbered(10)...)
					b.wantReceivable(t, "q", 10)
				})
			})
		}
	}
}

func TestLOCK10_DetachedReceiverKeepsItsLocks(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.receiving(t, 3)
		p.Send(0, amqptest.Flow(0, 0, 2))
		amqptest.Want[*frames.Transfer](p)
		amqptest.Want[*frames.Transfer](p)
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		amqptest.Want[*frames.Detach](p)
		b.wantReceivable(t, "q", 1)
		time.Sleep(61 * time.Second)
		b.wantReceivable(t, "q", 3)
	})
}

func TestLOCK20_ManyUnsettledDeliveries(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		const n = 6000
		q, _ := b.ns.Entity("q")
		m, err := message.Scan(amqptest.Message("x"))
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			if err := q.Send([]message.Message{m}, emulator.CompletionFunc(func(error) {})); err != nil {
				t.Fatal(err)
			}
		}
		p := b.receiving(t, 0)
		p.Send(0, amqptest.Flow(0, 0, n))
		for id := range uint32(n) {
			if d := amqptest.Want[*frames.Transfer](p); d.DeliveryID != id {
				t.Fatalf("delivery-id %d, want %d", d.DeliveryID, id)
			}
		}
		settle(p, 0, n-1, false, &frames.Accepted{})
		for next := uint32(0); next < n; {
			d := amqptest.Want[*frames.Disposition](p)
			if d.First != next {
				t.Fatalf("disposition %+v, want one from %d", d, next)
			}
			next = d.Last + 1
		}
	})
}

func TestDelivery_WindowThatIsClosedAtTheBeginning(t *testing.T) { // [AMQP 2.5.6]
	bubble(t, func(t *testing.T, b *bench) {
		b.send(t, b.client(t), "q", numbered(3)...)
		p := b.peer(t)
		p.Open()
		p.BeginWindow(0, 0)
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		flow := amqptest.Flow(0, 0, 10)
		flow.IncomingWindow = 0
		p.Send(0, flow)
		p.WantSilence(time.Second)
		p.Send(0, &frames.Flow{NextIncomingID: 1, HasNextIncomingID: true, IncomingWindow: 100})
		for range 3 {
			amqptest.Want[*frames.Transfer](p)
		}
	})
}

func TestDelivery_RingOfUnsettledDeliveries(t *testing.T) { // rhea's ring overflows beyond 2048
	bubble(t, func(t *testing.T, b *bench) {
		const ring, n = 20, 50
		b.send(t, b.client(t), "q", numbered(n)...)
		p := b.peer(t)
		p.Open()
		p.BeginWindow(0, ring)
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		flow := amqptest.Flow(0, 0, n)
		flow.IncomingWindow = ring
		p.Send(0, flow)
		for id := range uint32(ring) {
			amqptest.Want[*frames.Transfer](p)
			// The window is open again, but none of the deliveries is settled.
			p.Send(0, &frames.Flow{NextIncomingID: id + 2, HasNextIncomingID: true, IncomingWindow: ring})
		}
		p.WantSilence(time.Second)
		settle(p, 0, 4, false, &frames.Accepted{})
		// However many commits there are, each makes room for the deliveries that it settled.
		for settled, sent := uint32(0), 0; settled < 5 || sent < 5; {
			switch f := p.Next().Body.(type) {
			case *frames.Disposition:
				settled += f.Last - f.First + 1
			case *frames.Transfer:
				sent++
			default:
				t.Fatalf("got %T", f)
			}
		}
		p.WantSilence(time.Second)
	})
}

func TestDelivery_SplitAtThePeersFrameSize(t *testing.T) { // [AMQP 2.6.14]; Java over WebSocket takes 4096
	for _, size := range []int{100, 3500, 3800, 3900, 4000, 4096, 20_000, 200_000} {
		bubble(t, func(t *testing.T, b *bench) {
			body := strings.Repeat("x", size)
			s := b.client(t)
			b.send(t, s, "q", body)
			p := b.peer(t)
			p.MaxFrameSize = 4096 // larger frames fail the test
			p.Open()
			p.Begin(0)
			p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
			p.Send(0, amqptest.Flow(0, 0, 1))
			var raw []byte
			for more := true; more; {
				f := p.Next()
				more = f.Body.(*frames.Transfer).More
				if more && f.Size != 4096 {
					t.Errorf("a frame of %d bytes, and it is not the last", f.Size)
				}
				raw = append(raw, f.Payload...)
			}
			var m goamqp.Message
			if err := m.UnmarshalBinary(raw); err != nil || string(m.GetData()) != body {
				t.Errorf("size %d: %v, body of %d bytes", size, err, len(m.GetData()))
			}
		})
	}
}

func TestDelivery_LinksOfAConnectionTakeTurns(t *testing.T) { // DEC-27
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("q2", emulator.QueueOptions{})
		s := b.client(t)
		b.send(t, s, "q", numbered(500)...)
		b.send(t, s, "q2", numbered(10)...)
		p := b.opened(t)
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		p.AttachReceiver(0, amqptest.ReceiverAttach(1, "q2"))
		// Both flows in one write, so that one batch grants both credits.
		a := frames.AppendFrame(nil, 0, amqptest.Flow(0, 0, 1000))
		p.Raw(frames.AppendFrame(a, 0, amqptest.Flow(1, 0, 1000)))
		for i := 0; ; i++ {
			d := amqptest.Want[*frames.Transfer](p)
			if d.Handle == 1 {
				if i > 200 {
					t.Errorf("the second link had to wait for %d deliveries of the first", i)
				}
				return
			}
		}
	})
}

func TestReader_ThatStopsReadingHoldsLittle(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		const n, size = 200, 60_000 // 12 MB
		s := b.client(t)
		body := strings.Repeat("x", size)
		for range n / 10 {
			b.send(t, s, "q", body, body, body, body, body, body, body, body, body, body)
		}
		p := b.opened(t)
		p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
		p.Send(0, amqptest.Flow(0, 0, 1000))
		time.Sleep(10 * time.Second)
		q, _ := b.ns.Entity("q")
		c, _ := q.NewConsumer(emulator.Main, emulator.PeekLock, func() {})
		free := 0
		for got := c.Take(nil, 64); len(got) > 0; got = c.Take(nil, 64) {
			free += len(got)
		}
		if locked := n - free; locked > 80 {
			t.Errorf("%d messages of %d bytes are locked for a client that does not read", locked, size)
		}
		time.Sleep(2 * time.Minute) // the server does not wait for ever
		if got := b.server.Connections(); got > 1 {
			t.Errorf("%d connections", got)
		}
	})
}

func TestDelivery_MoreThanTheWriteBufferHolds(t *testing.T) {
	for _, mode := range []func(*frames.Attach){func(*frames.Attach) {}, deleting} {
		bubble(t, func(t *testing.T, b *bench) {
			const n = 100 // of 60 KB
			s := b.client(t)
			body := strings.Repeat("x", 60_000)
			for range n / 10 {
				b.send(t, s, "q", body, body, body, body, body, body, body, body, body, body)
			}
			p := b.receiving(t, 0, mode)
			drain := amqptest.Flow(0, 0, 1000)
			drain.Drain = true
			p.Send(0, drain)
			for range n {
				amqptest.Want[*frames.Transfer](p)
			}
			if f := amqptest.Want[*frames.Flow](p); f.DeliveryCount != 1000 || !f.Drain {
				t.Errorf("the answer to a drain is %+v", f)
			}
		})
	}
}

func TestDelivery_LargeMessages(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		b.queue("big", emulator.QueueOptions{MaxMessageSizeInKilobytes: 10_240})
		ctx := t.Context()
		s := b.client(t)
		body := strings.Repeat("0123456789abcdef", 500_000) // 8 MB
		b.send(t, s, "big", body, body)
		r, err := s.NewReceiver(ctx, "big",
			&goamqp.ReceiverOptions{SettlementMode: goamqp.ReceiverSettleModeSecond.Ptr(), Credit: 5})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			m, err := r.Receive(ctx, nil)
			if err != nil || string(m.GetData()) != body {
				t.Fatalf("%v, body of %d bytes", err, len(m.GetData()))
			}
			if err := r.AcceptMessage(ctx, m); err != nil {
				t.Fatal(err)
			}
		}
	})
}
