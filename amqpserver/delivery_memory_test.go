package amqpserver_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"minibus/amqpserver"
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// laden is a bench with messages of 2 MiB in "large", and memory for one of them.
func laden(t *testing.T, n int, f func(t *testing.T, b *bench), sets ...func(*amqpserver.Options)) {
	t.Helper()
	sets = slices.Insert(sets, 0, func(o *amqpserver.Options) { o.LargeBytes = 3 * mebibyte })
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, sets...)
		b.queue("large", emulator.QueueOptions{MaxMessageSizeInKilobytes: 4096})
		p := b.sender(t, "large")
		for id := range uint32(n) {
			sendInFrames(p, 0, id, large(2*mebibyte))
			wantOutcome(t, p, id, "")
		}
		f(t, b)
	})
}

// taking returns a peer that takes only the first frames of what it receives.
func (b *bench) taking(t *testing.T, window uint32, change ...func(*frames.Attach)) *amqptest.Peer {
	t.Helper()
	p := b.peer(t)
	p.Open()
	p.BeginWindow(0, window)
	a := amqptest.ReceiverAttach(0, "large")
	for _, f := range change {
		f(a)
	}
	p.AttachReceiver(0, a)
	flow := amqptest.Flow(0, 0, 10)
	flow.IncomingWindow = window
	p.Send(0, flow)
	for range window {
		amqptest.Want[*frames.Transfer](p)
	}
	return p
}

// receiveWhole reads a delivery to its end and returns its size.
func receiveWhole(p *amqptest.Peer) (bytes int) {
	for {
		t, payload := amqptest.WantPayload[*frames.Transfer](p)
		if bytes += len(payload); !t.More {
			return bytes
		}
	}
}

// wanting returns a peer that takes all that comes.
func (b *bench) wanting(t *testing.T, queue string) *amqptest.Peer {
	t.Helper()
	p := b.opened(t)
	p.AttachReceiver(0, amqptest.ReceiverAttach(0, queue))
	p.Send(0, amqptest.Flow(0, 0, 10))
	return p
}

func TestLarge_ReceiversWaitForRoom(t *testing.T) {
	laden(t, 3, func(t *testing.T, b *bench) {
		first := b.taking(t, 1)
		second := b.wanting(t, "large")
		second.WantSilence(20 * time.Second)
		// a consumer gets one of this size at a time: the receiver that waits has locked none
		b.wantReceivable(t, "large", 1)
		small := b.sender(t, "q")
		small.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
		wantOutcome(t, small, 0, "")
		amqptest.Want[*frames.Transfer](b.wanting(t, "q"))
		first.Send(0, &frames.Flow{NextIncomingID: 1, HasNextIncomingID: true, IncomingWindow: 1000})
		if n := receiveWhole(second); n < 2*mebibyte {
			t.Errorf("received %d bytes", n)
		}
	})
}

func TestLarge_RoomOfReceiversIsGivenBack(t *testing.T) {
	settled := func(a *frames.Attach) { a.SndSettleMode, a.HasSndSettleMode = 1, true }
	for name, end := range map[string]func(p *amqptest.Peer){
		"detached":      func(p *amqptest.Peer) { p.Send(0, &frames.Detach{Closed: true}) },
		"session ended": func(p *amqptest.Peer) { p.Send(0, &frames.End{}) },
		"closed":        func(p *amqptest.Peer) { p.Send(0, &frames.Close{}) },
		"vanished":      func(p *amqptest.Peer) { p.Close() },
		"stalled":       func(p *amqptest.Peer) {},
	} {
		for mode, change := range map[string]func(*frames.Attach){"peek-lock": func(*frames.Attach) {},
			"receive and delete": settled} {
			t.Run(name+", "+mode, func(t *testing.T) {
				laden(t, 2, func(t *testing.T, b *bench) {
					first := b.taking(t, 1, change)
					second := b.wanting(t, "large")
					second.WantSilence(20 * time.Second)
					switch {
					case name == "stalled",
						name == "detached" && mode != "peek-lock": // what is begun comes first (RAD-5)
						second.Within(stallTimeout - 19*time.Second)
					default:
						end(first)
					}
					receiveWhole(second)
				})
			})
		}
	}
}

func TestLarge_StalledReceiverIsDetached(t *testing.T) {
	laden(t, 2, func(t *testing.T, b *bench) {
		first := b.taking(t, 1)
		time.Sleep(time.Minute)
		first.WantSilence(time.Second) // nobody waits
		second := b.wanting(t, "large")
		d := amqptest.Want[*frames.Detach](first.Within(stallTimeout + time.Second))
		if d.Error == nil || d.Error.Condition != amqp.CondServerBusy {
			t.Errorf("detached with %v", d.Error)
		}
		receiveWhole(second)
	})
}

// The progress of a receiver is measured from when it gets its room, not from when it began to wait.
func TestLarge_WaitingIsNoStandstill(t *testing.T) {
	laden(t, 3, func(t *testing.T, b *bench) {
		first := b.taking(t, 1)
		second := b.peer(t)
		second.Open()
		second.BeginWindow(0, 1)
		second.AttachReceiver(0, amqptest.ReceiverAttach(0, "large"))
		flow := amqptest.Flow(0, 0, 10)
		flow.IncomingWindow = 1
		second.Send(0, flow)
		second.WantSilence(25 * time.Second)
		first.Send(0, &frames.Detach{Closed: true})
		amqptest.Want[*frames.Transfer](second)
		third := b.wanting(t, "large")
		second.WantSilence(25 * time.Second)
		amqptest.Want[*frames.Detach](second.Within(stallTimeout - 24*time.Second))
		receiveWhole(third)
	})
}

// A receiver that wants its credit back gets the message first that waits for memory.
func TestLarge_DrainWaitsForRoom(t *testing.T) {
	laden(t, 2, func(t *testing.T, b *bench) {
		first := b.taking(t, 1)
		second := b.wanting(t, "large")
		second.WantSilence(time.Second)
		drain := amqptest.Flow(0, 0, 10)
		drain.Drain = true
		second.Send(0, drain)
		second.WantSilence(time.Second)
		first.Send(0, &frames.Detach{Closed: true})
		receiveWhole(second)
		if f := amqptest.Want[*frames.Flow](second); f.LinkCredit != 0 {
			t.Errorf("credit of %d is left", f.LinkCredit)
		}
	})
}

// A receiver that takes its credit back while it waits leaves the line.
func TestLarge_NoCreditNoRoom(t *testing.T) {
	laden(t, 3, func(t *testing.T, b *bench) {
		first := b.taking(t, 1)
		second, third := b.wanting(t, "large"), b.wanting(t, "large")
		second.WantSilence(time.Second)
		second.Send(0, amqptest.Flow(0, 0, 0))
		synctest.Wait()
		first.Send(0, &frames.Detach{Closed: true})
		receiveWhole(third)
		second.WantSilence(time.Second)
	})
}
