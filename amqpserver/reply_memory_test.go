package amqpserver_test

import (
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/amqpserver"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// stacked is a bench with messages of 2 MiB in "large", and memory for two replies with one of them and part of a
// third.
func stacked(t *testing.T, n int, f func(t *testing.T, b *bench)) {
	t.Helper()
	laden(t, n, f, func(o *amqpserver.Options) { o.LargeBytes = 7 * mebibyte })
}

// asking returns a peer that has asked for the first message, with credit for the reply. It takes only so many frames.
func (b *bench) asking(t *testing.T, window, credit uint32) *amqptest.Peer {
	t.Helper()
	p := b.peer(t)
	p.Open()
	p.BeginWindow(0, window)
	p.AttachSender(0, 0, "large/$management")
	replyLink(p, 0, 1, "large/$management", "replies", "reply", 0)
	flow := amqptest.Flow(1, 0, credit)
	flow.IncomingWindow = window
	p.Send(0, flow)
	request(t, p, 0, 0, 0, peekRequest("reply", "1"))
	return p
}

// wantLargeReply reads a reply with a message of 2 MiB.
func wantLargeReply(t *testing.T, p *amqptest.Peer) {
	t.Helper()
	if n := receiveWhole(p); n < 2*mebibyte {
		t.Errorf("a reply of %d bytes", n)
	}
}

// Large replies share the memory of large deliveries to clients: the second peek waits until the reply to the first
// is written or given up.
func TestLarge_RepliesWaitForRoom(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, p *amqptest.Peer){
		"written": func(t *testing.T, p *amqptest.Peer) {
			p.Send(0, &frames.Flow{NextIncomingID: 1, HasNextIncomingID: true, IncomingWindow: 1000})
			receiveWhole(p)
		},
		"detached": func(_ *testing.T, p *amqptest.Peer) { p.Send(0, &frames.Detach{Handle: 1, Closed: true}) },
		"ended":    func(_ *testing.T, p *amqptest.Peer) { p.Send(0, &frames.End{}) },
		"vanished": func(_ *testing.T, p *amqptest.Peer) { p.Close() },
		"stalled": func(t *testing.T, p *amqptest.Peer) {
			d := amqptest.Want[*frames.Detach](p.Within(stallTimeout - 19*time.Second))
			if d.Error == nil || d.Error.Condition != amqp.CondServerBusy {
				t.Errorf("detached with %v", d.Error)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			stacked(t, 1, func(t *testing.T, b *bench) {
				// their replies leave too little for a message and a reply
				first, other := b.asking(t, 1, 10), b.asking(t, 1, 10)
				amqptest.Want[*frames.Transfer](first)
				amqptest.Want[*frames.Transfer](other)
				second := b.asking(t, 1000, 10)
				second.WantSilence(20 * time.Second)
				small := b.sender(t, "q")
				small.Send(0, amqptest.Transfer(0, 0), amqptest.Message("x")...)
				wantOutcome(t, small, 0, "")
				end(t, first)
				wantLargeReply(t, second)
			})
		})
	}
}

// A client that gives no credit for its large reply has it for 30 s while others wait.
func TestLarge_ReplyWithoutCreditIsGivenUp(t *testing.T) {
	stacked(t, 1, func(t *testing.T, b *bench) {
		first, other := b.asking(t, 1000, 0), b.asking(t, 1000, 0)
		first.WantSilence(time.Minute)
		second := b.asking(t, 1000, 10)
		wantLargeReply(t, second.Within(stallTimeout+time.Second))
		if d := amqptest.Want[*frames.Detach](first); d.Error == nil || d.Error.Condition != amqp.CondServerBusy {
			t.Errorf("detached with %v", d.Error)
		}
		_ = other
	})
}

// A connection that ends, or a server that stops, leaves nothing behind of requests that wait.
func TestLarge_RequestsThatWaitEnd(t *testing.T) {
	stacked(t, 1, func(t *testing.T, b *bench) {
		first, second := b.asking(t, 1, 10), b.asking(t, 1, 10)
		waiting := b.asking(t, 1000, 10)
		waiting.WantSilence(time.Second)
		waiting.Close()
		synctest.Wait()
		first.Close()
		second.Close()
		synctest.Wait()
		wantLargeReply(t, b.asking(t, 1000, 10))
		first, second = b.asking(t, 1, 10), b.asking(t, 1, 10)
		waiting = b.asking(t, 1000, 10)
		waiting.WantSilence(time.Second)
		if err := b.server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		_, _ = first, second
	})
}

// Messages that are received by their numbers wait like those of a peek.
func TestLarge_DeferredMessagesWaitForRoom(t *testing.T) {
	stacked(t, 1, func(t *testing.T, b *bench) {
		receiver := b.wanting(t, "large")
		first, payload := amqptest.WantPayload[*frames.Transfer](receiver)
		for tr := first; tr.More; {
			var more []byte
			tr, more = amqptest.WantPayload[*frames.Transfer](receiver)
			payload = append(payload, more...)
		}
		seq := decode(t, payload).Annotations["x-opt-sequence-number"].(int64)
		receiver.Send(0, &frames.Disposition{
			Role: frames.RoleReceiver, First: first.DeliveryID, Last: first.DeliveryID, HasLast: true,
			State: &frames.Modified{UndeliverableHere: true},
		})
		amqptest.Want[*frames.Disposition](receiver)
		holders := []*amqptest.Peer{b.asking(t, 1, 10), b.asking(t, 1, 10)}
		for _, p := range holders {
			amqptest.Want[*frames.Transfer](p)
		}
		p := b.opened(t)
		p.AttachSender(0, 0, "large/$management")
		replyLink(p, 0, 1, "large/$management", "replies", "reply", 10)
		reply := "reply"
		request(t, p, 0, 0, 0, &goamqp.Message{
			Properties:            &goamqp.MessageProperties{MessageID: "1", ReplyTo: &reply},
			ApplicationProperties: map[string]any{"operation": "com.microsoft:receive-by-sequence-number"},
			Value:                 map[string]any{"sequence-numbers": []int64{seq}, "receiver-settle-mode": uint32(1)},
		})
		p.WantSilence(20 * time.Second)
		holders[0].Close()
		wantLargeReply(t, p)
	})
}
