package emulator_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

func TestORD1_LowestAvailableNumberFirst(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		var want []int64
		for i := range 300 { // more than a quantum, in one batch and alone
			b.sendTexts(fmt.Sprint(i))
			want = append(want, int64(i+1))
		}
		equalSlices(t, "numbers", seqsOf(b.receive(300)), want...)
	})
}

func TestORD1_SkipsLockedDeferredExpiredAndScheduled(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: time.Hour}, func(b *broker) {
		b.sendTexts("locked", "deferred")
		b.settle(emulator.Defer, b.receive(2)[1])
		b.send(withTTL("expired", time.Second))
		b.send(at("scheduled", soon(time.Hour)), text("available"))
		wait(2 * time.Second)
		equal(t, "received", bodies(b.receive(10)), "available")
	})
}

func TestORD2_LockedMessagesAreSkipped(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b", "c")
		first, second := b.receiver(emulator.Main, emulator.PeekLock), b.receiver(emulator.Main, emulator.PeekLock)
		equal(t, "first", bodies(first.take(1)), "a")
		equal(t, "second", bodies(second.take(1)), "b")
		equal(t, "received and deleted", bodies(b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 5)), "c")
		equal(t, "first again", len(first.take(1)), 0)
	})
}

func TestORD3_UnlockedMessageReturnsToItsPlace(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("a", "b", "c", "d", "e")
		gs := b.receive(4)
		b.settle(emulator.Abandon, gs[2])
		b.settle(emulator.Release, gs[0])
		equal(t, "after abandon and release", bodies(b.receive(5)), "a c e")
		wait(11 * time.Second)
		equal(t, "after lock expiry", bodies(b.receive(5)), "a b c d e")
	})
}

func TestORD8_SendsAreStoredInTheOrderTheyWereMade(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.j.Pause() // several senders' transfers wait for one commit
		for i := range 100 {
			if err := b.q.Send(b.encodeAll(texts(fmt.Sprint(i))), newOutcome()); err != nil {
				t.Fatalf("send: %v", err)
			}
		}
		b.j.Resume()
		synctest.Wait()
		for i, g := range b.receive(100) {
			equal(t, "body", g.body(), fmt.Sprint(i))
		}
	})
}

// waiting is a consumer that notes when it is poked and answers when it is told to.
type waiting struct {
	name  string
	c     *emulator.Consumer
	pokes chan struct{}
	got   []int64
}

func (b *broker) waiting(name string, mode emulator.ReceiveMode, credit int) *waiting {
	b.t.Helper()
	w := &waiting{name: name, pokes: make(chan struct{}, 100)}
	c, err := b.q.NewConsumer(emulator.Main, mode, func() { w.pokes <- struct{}{} })
	if err != nil {
		b.t.Fatalf("attach consumer: %v", err)
	}
	w.c = c
	if n := len(w.take(credit)); n != 0 {
		b.t.Fatalf("%s took %d messages from an empty queue", name, n)
	}
	return w
}

// poked reports whether the consumer was poked since the last look.
func (w *waiting) poked() bool {
	synctest.Wait()
	poked := len(w.pokes) > 0
	for len(w.pokes) > 0 {
		<-w.pokes
	}
	return poked
}

func (w *waiting) take(n int) []*emulator.Delivery {
	ds := w.c.Take(nil, n)
	for _, d := range ds {
		w.got = append(w.got, d.Seq())
	}
	return ds
}

func TestORD4_DEC27_CreditIsServedInTheOrderItWasGranted(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		first := b.waiting("first", emulator.PeekLock, 1)
		second := b.waiting("second", emulator.PeekLock, 1)
		third := b.waiting("third", emulator.ReceiveAndDelete, 1)
		for i, w := range []*waiting{first, second, third} {
			b.sendTexts("x")
			for _, other := range []*waiting{first, second, third} {
				equal(t, fmt.Sprintf("message %d: %s is poked", i+1, other.name), other.poked(), other == w)
			}
			w.take(1)
			equalSlices(t, w.name+" got", w.got, int64(i+1))
		}
	})
}

func TestORD5_CreditAloneReservesMessages(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		first := b.waiting("first", emulator.PeekLock, 2)
		second := b.waiting("second", emulator.PeekLock, 2)
		b.sendTexts("a", "b")
		equal(t, "first is poked", first.poked(), true)
		equal(t, "second is poked", second.poked(), false)
		// The second is faster, but both messages are promised to the first.
		equal(t, "second takes", len(second.take(2)), 0)
		equal(t, "somebody new takes", len(b.receive(5)), 0)
		first.take(2)
		equalSlices(t, "first got", first.got, 1, 2)
		b.sendTexts("c")
		equal(t, "second is poked at last", second.poked(), true)
		second.take(2)
		equalSlices(t, "second got", second.got, 3)
	})
}

func TestORD4_WhoIsPokedInVainKeepsItsTurn(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		first := b.waiting("first", emulator.PeekLock, 1)
		second := b.waiting("second", emulator.PeekLock, 1)
		b.send(withTTL("a", time.Second))
		equal(t, "first is poked", first.poked(), true)
		wait(time.Second) // the message expires before it is taken
		equal(t, "first takes", len(first.take(1)), 0)
		b.sendTexts("b")
		equal(t, "first is poked again", first.poked(), true)
		equal(t, "second is poked", second.poked(), false)
	})
}

func TestORD4_OneMessageEachInTurn(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		ws := []*waiting{b.waiting("first", emulator.PeekLock, 10), b.waiting("second", emulator.PeekLock, 10)}
		for range 6 {
			b.sendTexts("x")
			for _, w := range ws {
				if w.poked() {
					w.take(10)
				}
			}
		}
		equalSlices(t, "first got", ws[0].got, 1, 3, 5)
		equalSlices(t, "second got", ws[1].got, 2, 4, 6)
	})
}

func TestDEC27_OneTakeIsAQuantumAtMost(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		greedy := b.waiting("greedy", emulator.PeekLock, 1000)
		modest := b.waiting("modest", emulator.PeekLock, 1000)
		bodies := make([]string, 200)
		b.sendTexts(bodies...)
		equal(t, "greedy is poked", greedy.poked(), true)
		n := len(greedy.take(1000))
		if n < 1 || n > 64 {
			t.Fatalf("one take gave %d messages", n)
		}
		equal(t, "modest is poked while greedy is busy with its quantum", modest.poked(), true)
		equal(t, "modest takes", len(modest.take(1000)), n)
	})
}

func TestDEC27_TakeOfNothingPassesThePokeOn(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		first := b.waiting("first", emulator.PeekLock, 5)
		second := b.waiting("second", emulator.PeekLock, 5)
		b.sendTexts("a")
		equal(t, "first is poked", first.poked(), true)
		first.take(0) // its credit or its window is gone
		equal(t, "second is poked", second.poked(), true)
		second.take(5)
		equalSlices(t, "second got", second.got, 1)
		b.sendTexts("b")
		equal(t, "first is poked though it left the wait list", first.poked(), false)
		equal(t, "second is poked", second.poked(), true)
	})
}

func TestDEC27_PokedConsumerThatTakesLessPassesTheRestOn(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		first := b.waiting("first", emulator.PeekLock, 5)
		second := b.waiting("second", emulator.PeekLock, 5)
		b.sendTexts("a", "b", "c")
		equal(t, "first is poked", first.poked(), true)
		first.take(1) // its window shrank
		equal(t, "second is poked", second.poked(), true)
		second.take(5)
		equalSlices(t, "second got", second.got, 2, 3)
	})
}

func TestORD4_CloseOfAPokedConsumerPassesThePokeOn(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		first := b.waiting("first", emulator.PeekLock, 5)
		second := b.waiting("second", emulator.PeekLock, 5)
		b.sendTexts("a")
		equal(t, "first is poked", first.poked(), true)
		first.c.Close()
		equal(t, "second is poked", second.poked(), true)
		second.take(5)
		equalSlices(t, "second got", second.got, 1)
		equal(t, "a closed consumer takes", len(first.take(5)), 0)
	})
}

func TestORD4_LOCK22_ClosedConsumerWithCreditSwallowsNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		gone := b.waiting("gone", emulator.PeekLock, 100)
		gone.c.Close()
		b.sendTexts("a", "b")
		equal(t, "poked after the close", gone.poked(), false)
		gs := b.receive(5)
		equal(t, "others receive", bodies(gs), "a b")
		equalSlices(t, "delivery counts", countsOf(gs), 0, 0)
	})
}

func TestORD4_EverythingThatBecomesAvailableWakesAWaitingConsumer(t *testing.T) {
	unlock := map[string]func(b *broker, g *got){
		"abandon": func(b *broker, g *got) { b.settle(emulator.Abandon, g) },
		"release": func(b *broker, g *got) { b.settle(emulator.Release, g) },
		"expiry":  func(*broker, *got) { wait(time.Minute) },
		"refused dead-lettering": func(b *broker, g *got) {
			if err := b.trySettle(emulator.DeadLetterOutcome, nil, g.token()); err == nil {
				b.t.Error("a message of the dead-letter queue was dead-lettered")
			}
		},
	}
	for name, f := range unlock {
		t.Run(name, func(t *testing.T) {
			bubble(t, emulator.QueueOptions{}, func(b *broker) {
				b.deadLetterOne(text("a"))
				g := b.oneFrom(emulator.DeadLetter)
				pokes := 0
				c, err := b.q.NewConsumer(emulator.DeadLetter, emulator.PeekLock, func() { pokes++ })
				if err != nil {
					t.Fatalf("attach consumer: %v", err)
				}
				c.Take(nil, 1)
				f(b, g)
				synctest.Wait()
				equal(t, "pokes", pokes, 1)
				equal(t, "taken", len(c.Take(nil, 1)), 1)
			})
		})
	}
}

func TestORD4_ActivationWakesAWaitingConsumer(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		w := b.waiting("w", emulator.PeekLock, 1)
		b.schedule(at("a", soon(time.Minute)))
		equal(t, "poked by a scheduled message", w.poked(), false)
		wait(time.Minute)
		equal(t, "poked", w.poked(), true)
	})
}
