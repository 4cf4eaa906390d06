package emulator_test

import (
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

func TestSESS20_AbandonedMessageComesNext(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "s:2", "s:3")
		h := b.accept("s")
		for count := range uint32(3) {
			gs := h.take(1)
			equal(t, "received", bodies(gs), "s:1")
			equal(t, "delivery count", gs[0].count(), count)
			b.settle(emulator.Abandon, gs...)
		}
		gs := h.take(2)
		equal(t, "received", bodies(gs), "s:1 s:2")
		equal(t, "received again without an abandon", bodies(h.take(5)), "s:3")
	})
}

func TestSESS20_NothingOvertakesAMessageOnItsWayBack(t *testing.T) {
	for _, how := range []string{"abandon", "expiry"} {
		t.Run(how, func(t *testing.T) {
			bubble(t, sessionful, func(b *broker) {
				b.sendSession("s:1", "s:2")
				h := b.accept("s")
				gs := h.take(1)
				w := b.next()
				b.j.Pause()
				if how == "expiry" {
					time.Sleep(10 * time.Second)
				} else if err := b.q.Settle(tokensOf(gs), emulator.Settlement{Outcome: emulator.Abandon}, newOutcome()); err != nil {
					t.Fatalf("abandon: %v", err)
				} else {
					equal(t, "received by the holder meanwhile", len(h.c.Take(nil, 1)), 0)
					h.c.Close()
				}
				synctest.Wait()
				equal(t, "granted before it is back", w.granted(), 0)
				b.j.Resume()
				synctest.Wait()
				equal(t, "received", bodies(w.take(5)), "s:1 s:2")
			})
		})
	}
}

func TestSESS20_FailedAbandonWakesTheWaitingHolder(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "s:2")
		h := b.accept("s")
		gs := h.take(1)
		b.j.Pause()
		done := newOutcome()
		if err := b.q.Settle(tokensOf(gs), emulator.Settlement{Outcome: emulator.Abandon}, done); err != nil {
			t.Fatalf("abandon: %v", err)
		}
		equal(t, "received before it is back", len(h.c.Take(nil, 5)), 0)
		b.failOnce()
		before := h.notices()
		b.j.Resume()
		if err := <-done; err == nil {
			t.Error("the abandon did not fail")
		}
		synctest.Wait()
		if h.notices() == before {
			t.Error("the holder was not told that it may take the next message")
		}
		equal(t, "received", bodies(h.take(5)), "s:2")
		b.settle(emulator.Complete, gs...) // its lock is as it was
	})
}

func TestSESS20_FailedExpiryKeepsTheOrder(t *testing.T) {
	bubble(t, sessionful, func(b *broker) {
		b.sendSession("s:1", "s:2", "s:3")
		b.accept("s").take(2)
		w := b.next()
		wait(10*time.Second - time.Millisecond)
		b.failOnce()
		wait(time.Millisecond)
		equal(t, "granted before the messages are back", w.granted(), 0)
		wait(time.Second)
		gs := w.take(5)
		equal(t, "received", bodies(gs), "s:1 s:2 s:3")
		equalSlices(t, "delivery counts", countsOf(gs), 1, 1, 0)
	})
}

func TestSESS20_FailedExpiryAtTheMaximumLetsTheOthersGo(t *testing.T) {
	o := sessionful
	o.MaxDeliveryCount = 1
	bubble(t, o, func(b *broker) {
		b.sendSession("s:1", "s:2")
		b.accept("s").take(1)
		w := b.next()
		wait(10*time.Second - time.Millisecond)
		b.failOnce()
		wait(2 * time.Second)
		equal(t, "received", bodies(w.take(5)), "s:2")
		equalSlices(t, "dead-lettered", b.deadReasons(emulator.DeadLetter), "s:1=MaxDeliveryCountExceeded")
	})
}

func TestSESS20_EXP8_MessageThatExpiresOnItsWayBackLetsTheOthersGo(t *testing.T) {
	for _, held := range []bool{true, false} {
		bubble(t, sessionful, func(b *broker) {
			m := inSession("s", "s:1")
			m.Header = &goamqp.MessageHeader{TTL: 10500 * time.Millisecond}
			b.send(m)
			b.sendSession("s:2")
			b.accept("s").take(1)
			wait(10*time.Second - time.Millisecond)
			b.failOnce()
			wait(time.Millisecond) // its return could not be written, and before the next try it expires
			w := &acceptNext{}
			if held {
				w.holder = b.accept("s")
				equal(t, "received before that is known", len(w.c.Take(nil, 5)), 0)
			} else {
				w = b.next()
			}
			wait(2 * time.Second)
			if held && w.notices() == 0 || !held && w.granted() == 0 {
				t.Fatal("no consumer was told of the other message")
			}
			equal(t, "received", bodies(w.take(5)), "s:2")
		})
	}
}
