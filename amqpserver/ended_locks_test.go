package amqpserver_test

import (
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp/frames"
	"minibus/internal/amqptest"
)

// reopen opens the window of a session that has received n transfers.
func reopen(p *amqptest.Peer, n, window uint32) {
	p.Send(0, &frames.Flow{NextIncomingID: n + 1, HasNextIncomingID: true, IncomingWindow: window})
}

func TestLOCK8_EndedLocksGiveTheirPlaceBack(t *testing.T) {
	for name, end := range map[string]func(b *bench, tags [][]byte){
		"their time is over": func(*bench, [][]byte) { time.Sleep(61 * time.Second) },
		"settled by token": func(b *bench, tags [][]byte) { // LOCK-9
			q, _ := b.ns.Entity("q")
			for _, tag := range tags {
				done := make(chan error, 1)
				if err := q.Settle([]emulator.LockToken{tokenOf(tag)}, emulator.Settlement{},
					emulator.CompletionFunc(func(err error) { done <- err })); err != nil {
					b.t.Fatal(err)
				}
				if err := <-done; err != nil {
					b.t.Fatal(err)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, b *bench) {
				const window, rounds = 4, 5
				b.send(t, b.client(t), "q", numbered(window*rounds)...)
				p := b.peer(t)
				p.Open()
				p.BeginWindow(0, window)
				p.AttachReceiver(0, amqptest.ReceiverAttach(0, "q"))
				flow := amqptest.Flow(0, 0, 1000)
				flow.IncomingWindow = window
				p.Send(0, flow)
				received := uint32(0)
				for range rounds {
					var tags [][]byte
					for range window {
						tags = append(tags, amqptest.Want[*frames.Transfer](p).DeliveryTag)
						received++
						reopen(p, received, window)
					}
					p.WantSilence(time.Second) // the client still has all of them
					end(b, tags)
				}
			})
		})
	}
}

// tokenOf returns the lock token in a delivery tag, which is a Guid.
func tokenOf(tag []byte) emulator.LockToken {
	t := emulator.LockToken(tag)
	t[0], t[1], t[2], t[3] = t[3], t[2], t[1], t[0]
	t[4], t[5], t[6], t[7] = t[5], t[4], t[7], t[6]
	return t
}

func TestLOCK7_RangeSettledAfterLocksEnded(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.delivered(t, 10)
		settle(p, 4, 4, false, &frames.Accepted{})
		wantSettled(t, p, 4, 4)
		time.Sleep(61 * time.Second)
		settle(p, 0, 5, false, &frames.Accepted{})
		wantLockLost(t, wantSettled(t, p, 0, 3))
		wantLockLost(t, wantSettled(t, p, 5, 5))
		settle(p, 7, 7, false, &frames.Accepted{})
		wantLockLost(t, wantSettled(t, p, 7, 7))
		settle(p, 8, 9, true, &frames.Accepted{})
		p.WantSilence(time.Second)
		settle(p, 0, 3, false, &frames.Accepted{}) // they have an answer already
		p.WantSilence(time.Second)
		p.Send(0, &frames.Detach{Handle: 0, Closed: true})
		amqptest.Want[*frames.Detach](p)
		settle(p, 6, 9, false, &frames.Accepted{}) // a link that has ended has no deliveries
		settle(p, 6, 6, false, &frames.Accepted{})
		p.WantSilence(time.Second)
	})
}

// TestLOCK7_RangeSettledAfterALinkThatMinibusEnded gets no answer, even if the client has not answered the detach.
func TestLOCK7_RangeSettledAfterALinkThatMinibusEnded(t *testing.T) {
	bubble(t, func(t *testing.T, b *bench) {
		p := b.delivered(t, 2)
		time.Sleep(61 * time.Second)
		b.inject(emulator.FaultOptions{Kind: emulator.FaultDetach, Operations: on(emulator.OperationNow)})
		amqptest.Want[*frames.Detach](p)
		settle(p, 0, 1, false, &frames.Accepted{})
		p.WantSilence(time.Second)
	})
}

// If reading a body takes longer than the lock lasts, the delivery must not reach the client with a dead token.
func TestLOCK8_DeliveryWhoseLockEndsBeforeItIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBenchFor(t, emulator.Options{BodyBudget: 1})
		p := b.receiving(t, 2)
		b.journal.Pause()
		p.Send(0, amqptest.Flow(0, 0, 4))
		p.WantSilence(61 * time.Second)
		b.journal.Resume()
		for id := range uint32(2) {
			d, payload := amqptest.WantPayload[*frames.Transfer](p)
			if count := decode(t, payload).Header.DeliveryCount; d.DeliveryID != id || count != 1 {
				t.Errorf("delivery %d with delivery-count %d", d.DeliveryID, count)
			}
		}
		p.WantSilence(time.Second)
		settle(p, 0, 1, false, &frames.Accepted{})
		wantSettled(t, p, 0, 1)
	})
}
