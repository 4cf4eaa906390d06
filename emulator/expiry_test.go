package emulator_test

import (
	"sync/atomic"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/emulator/clock"
)

func TestEXP5_NeverDeliveredPastTheInstant(t *testing.T) {
	for _, mode := range []emulator.ReceiveMode{emulator.PeekLock, emulator.ReceiveAndDelete} {
		bubble(t, emulator.QueueOptions{}, func(b *broker) {
			// The clock may be ahead of the timer: then it is the receive that finds the message expired.
			r := b.receiver(emulator.Main, mode)
			for range 10 {
				b.send(withTTL("a", time.Second))
			}
			b.send(withTTL("b", time.Minute))
			time.Sleep(time.Second) // no synctest.Wait: the timer may or may not have run
			equal(t, "received", bodies(r.take(20)), "b")
		})
	}
}

func TestEXP5_LateTimerStillDeliversNothingExpired(t *testing.T) {
	clock := &lateClock{}
	bubbleWith(t, emulator.Options{Clock: clock}, emulator.QueueOptions{DeadLetteringOnExpiration: true}, func(b *broker) {
		b.send(withTTL("a", time.Second), text("b"), withTTL("c", time.Second))
		clock.late.Store(true)
		wait(time.Minute)
		equal(t, "before the timer, peeked", bodies(b.peek()), "b") // PEEK-10
		b.wantCounts(3, 0, 0, 0)                                    // CNT-5
		equal(t, "received", bodies(b.receive(5)), "b")
		b.wantCounts(1, 2, 0, 0) // the attempt treats what it finds expired
	})
}

// lateClock is the system's clock, the timers of which do not fire once late is set.
type lateClock struct {
	clock.System
	late atomic.Bool
}

func (c *lateClock) At(t time.Time, f func()) clock.Timer {
	return c.System.At(t, func() {
		if !c.late.Load() {
			f()
		}
	})
}

func TestEXP6_DLQR2_DroppedOrDeadLettered(t *testing.T) {
	for _, flag := range []bool{false, true} {
		bubble(t, emulator.QueueOptions{DeadLetteringOnExpiration: flag}, func(b *broker) {
			m := withTTL("a", time.Minute)
			m.ApplicationProperties = map[string]any{"k": "v"}
			sent := now()
			b.send(m, text("stays"))
			wait(time.Minute)
			if !flag {
				b.wantCounts(1, 0, 0, 0)
				b.restart()
				b.wantCounts(1, 0, 0, 0)
				return
			}
			b.wantCounts(1, 1, 0, 0)
			b.restart()
			g := b.oneFrom(emulator.DeadLetter)
			equal(t, "body", g.body(), "a")
			equal(t, "reason", g.property("DeadLetterReason"), any("TTLExpiredException"))
			equal(t, "description", g.property("DeadLetterErrorDescription"), any("The message expired and was dead lettered."))
			equal(t, "the sender's property", g.property("k"), any("v"))
			equal(t, "number", g.seq(), 1)
			equal(t, "enqueued time", g.enqueued(), sent)
			equal(t, "delivery count", g.count(), 0)
		})
	}
}

func TestEXP7_DEC22_AtTheInstant(t *testing.T) {
	bubble(t, emulator.QueueOptions{DeadLetteringOnExpiration: true}, func(b *broker) {
		for i := range 300 { // more than one turn of the timer, all due at once, and a few besides
			b.send(withTTL("a", time.Minute+time.Duration(i%3)*time.Second))
		}
		wait(time.Minute - time.Millisecond)
		b.wantCounts(300, 0, 0, 0)
		for i := range int64(3) {
			wait(time.Millisecond)
			b.wantCounts(200-100*i, 100+100*i, 0, 0)
			wait(time.Second - time.Millisecond)
		}
	})
}

func TestEXP8_LockProtectsAndItsEndTakesEffectAtOnce(t *testing.T) {
	ends := map[string]func(b *broker, g *got){
		"abandon": func(b *broker, g *got) { b.settle(emulator.Abandon, g) },
		"release": func(b *broker, g *got) { b.settle(emulator.Release, g) },
		"expiry":  func(*broker, *got) { wait(time.Minute) },
	}
	for name, end := range ends {
		for _, flag := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				bubble(t, emulator.QueueOptions{DeadLetteringOnExpiration: flag}, func(b *broker) {
					b.send(withTTL("completed", time.Second), withTTL("a", time.Second))
					gs := b.receive(2)
					wait(30 * time.Second)
					b.wantCounts(2, 0, 0, 0)
					b.settle(emulator.Complete, gs[0])
					end(b, gs[1])
					equal(t, "redelivered", len(b.receive(1)), 0)
					if !flag {
						b.wantCounts(0, 0, 0, 0)
						return
					}
					b.wantCounts(0, 1, 0, 0)
					equal(t, "reason", b.oneFrom(emulator.DeadLetter).property("DeadLetterReason"), any("TTLExpiredException"))
				})
			})
		}
	}
}

func TestEXP8_EXP10_DeferOfAnExpiredLockedMessageKeepsIt(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.send(withTTL("a", time.Second))
		g := b.one()
		wait(30 * time.Second)
		b.settle(emulator.Defer, g)
		b.wantCounts(1, 0, 0, 1)
	})
}

func TestEXP9_ExpiryWinsOverMaxDeliveryCount(t *testing.T) {
	bubble(t, emulator.QueueOptions{DeadLetteringOnExpiration: true, MaxDeliveryCount: 1}, func(b *broker) {
		b.send(withTTL("a", time.Second))
		g := b.one()
		wait(30 * time.Second)
		b.settle(emulator.Abandon, g)
		g = b.oneFrom(emulator.DeadLetter)
		equal(t, "reason", g.property("DeadLetterReason"), any("TTLExpiredException"))
	})
}

func TestEXP10_EXP11_DeferredMessagesStayUntilTheyAreAskedFor(t *testing.T) {
	for _, flag := range []bool{false, true} {
		for _, mode := range []emulator.ReceiveMode{emulator.PeekLock, emulator.ReceiveAndDelete} {
			bubble(t, emulator.QueueOptions{DeadLetteringOnExpiration: flag}, func(b *broker) {
				seq := b.deferOne(withTTL("a", time.Second))
				other := b.deferOne(text("b"))
				wait(time.Hour)
				b.wantCounts(2, 0, 0, 2)
				b.restart()
				equal(t, "peeked", bodies(b.peek()), "a b")
				_, err := b.byNumber(emulator.Main, mode, other, seq)
				wantCode(t, "by number", err, emulator.CodeMessageNotFound)
				wait(0)
				equal(t, "peeked after the attempt", bodies(b.peek()), "b")
				dead := b.peekFrom(emulator.DeadLetter, 0, 5)
				equal(t, "dead-lettered", len(dead) == 1, flag)
				if flag {
					equal(t, "reason", dead[0].property("DeadLetterReason"), any("TTLExpiredException"))
				}
				equal(t, "the other one, not locked by the attempt", b.fetch(other).count(), 1)
			})
		}
	}
}

func TestEXP6_FailedExpiryIsTriedAgain(t *testing.T) {
	for _, flag := range []bool{false, true} {
		bubble(t, emulator.QueueOptions{DeadLetteringOnExpiration: flag}, func(b *broker) {
			b.send(withTTL("a", time.Minute), withTTL("b", time.Minute))
			b.failOnce()
			wait(time.Minute)
			b.wantCounts(2, 0, 0, 0)
			equal(t, "received meanwhile", len(b.receive(2)), 0)
			wait(2 * time.Second)
			if flag {
				b.wantCounts(0, 2, 0, 0)
				equalSlices(t, "delivery counts", countsOf(b.peekFrom(emulator.DeadLetter, 0, 2)), 0, 0)
				return
			}
			b.wantCounts(0, 0, 0, 0)
		})
	}
}

func TestEXP11_FailedExpiryOfADeferredMessageChangesNothing(t *testing.T) {
	for _, flag := range []bool{false, true} {
		bubble(t, emulator.QueueOptions{DeadLetteringOnExpiration: flag}, func(b *broker) {
			seq := b.deferOne(withTTL("a", time.Second))
			wait(time.Minute)
			b.failOnce()
			_, err := b.byNumber(emulator.Main, emulator.PeekLock, seq)
			wantCode(t, "by number", err, emulator.CodeMessageNotFound)
			wait(time.Hour)
			for _, g := range b.peek() { // it may be gone by now: the attempt is tried again
				equal(t, "delivery count", g.count(), 1)
				equal(t, "state", g.state(), int32(emulator.Deferred))
			}
			_, err = b.byNumber(emulator.Main, emulator.PeekLock, seq)
			wantCode(t, "by number again", err, emulator.CodeMessageNotFound)
			wait(time.Second)
			equal(t, "left", len(b.peek()), 0)
			equal(t, "dead-lettered", b.q.Counts().DeadLetter == 1, flag)
		})
	}
}

func TestEXP14_ExpiredMessagesMakeNoSessionAvailableWhereTheyStay(t *testing.T) {
	bubbleWith(t, emulator.Options{LazyExpiry: true}, sessionful, func(b *broker) {
		for _, id := range []string{"s", "t"} {
			m := withTTL(id+":expired", time.Second)
			m.Properties = &goamqp.MessageProperties{GroupID: &id}
			b.send(m)
		}
		b.sendSession("u:1", "t:2")
		wait(time.Minute)
		for _, want := range []string{"u", "t", "none"} {
			equal(t, "next", b.nextID(), want)
		}
		w := b.next()
		b.sendSession("s:2")
		equal(t, "granted when there is a message", w.granted(), 1)
		equal(t, "received", bodies(w.take(5)), "s:2")
		b.restart()
		equal(t, "next after a restart", b.nextID(), "u")
		equal(t, "expired messages of a session without a receiver", bodies(b.peekSession("t")), "t:expired t:2")
		equal(t, "received by who accepts", bodies(b.accept("t").take(5)), "t:2")
		equal(t, "left", bodies(b.peekSession("t")), "t:2")
	})
}

// TestEXP14_ExpiredMessagesThatStayAreLookedAtOnce: a send must not cost more the more expired messages there are.
func TestEXP14_ExpiredMessagesThatStayAreLookedAtOnce(t *testing.T) {
	bubbleWith(t, emulator.Options{LazyExpiry: true}, sessionful, func(b *broker) {
		b.sendSession("s:1")
		for range 50 {
			m := inSession("s", "expired")
			m.Header = &goamqp.MessageHeader{TTL: time.Second}
			b.send(m)
		}
		h := b.accept("s")
		gs := h.take(1)
		wait(2 * time.Second)
		err := b.held(true, func(o outcome) error {
			return b.q.Settle(tokensOf(gs), emulator.Settlement{Outcome: emulator.Complete}, o)
		}, func() {
			h.c.Close()
			equal(t, "passed over", b.q.InMemory().PassedOver("s"), 52)
			equal(t, "next while the first one is being removed", b.nextID(), "none")
		})
		if err == nil {
			t.Fatal("a removal that could not be written succeeded")
		}
		b.verify(true)
		equal(t, "passed over with the first one back", b.q.InMemory().PassedOver("s"), 1)
		equal(t, "next", b.nextID(), "s")
	})
}
