package emulator_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
	"minibus/emulator/clock"
)

func TestSEQ10_FreshQueueNumbersFromOne(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		b.sendTexts("b")
		b.sendTexts("c")
		equalSlices(t, "numbers", seqsOf(b.peek()), 1, 2, 3)
		equal(t, "messages from number 4 on", len(b.peekFrom(emulator.Main, 4, 10)), 0)
		equal(t, "number after 2", b.peekOne(emulator.Main, 3).seq(), 3)
	})
}

func TestSEQ1_PROP1_NumberAndTimeOnDeliveredAndPeekedMessages(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		sent := now()
		b.sendTexts("a", "b")
		peeked, received := b.peek(), b.receive(1)
		deleted := b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 1)
		for i, g := range []*got{peeked[0], received[0], peeked[1], deleted[0]} {
			equal(t, "number", g.seq(), int64(i/2+1))
			equal(t, "enqueued time", g.enqueued(), sent)
		}
	})
}

func TestSEQ2_SEQ4_NumbersIncreaseWithoutGapsAndAreNeverReused(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for want := int64(1); want <= 20; want++ {
			b.sendTexts("x")
			g := b.one()
			equal(t, "number", g.seq(), want)
			b.settle(emulator.Complete, g)
			if want%5 == 0 {
				b.restart() // with an empty queue: the counter is not made from what is left
			}
		}
	})
}

func TestSEQ2_FailedSendLeavesNoGap(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		b.failOnce()
		if err := b.trySend(texts("lost", "lost too")...); err == nil {
			t.Fatal("a send that could not be written succeeded")
		}
		synctest.Wait()
		equal(t, "messages after the failure", len(b.peek()), 1)
		b.sendTexts("b")
		equalSlices(t, "numbers", seqsOf(b.peek()), 1, 2)
		b.restart()
		b.sendTexts("c")
		equalSlices(t, "numbers after a restart", seqsOf(b.peek()), 1, 2, 3)
	})
}

func TestSEQ2_SendsQueuedBehindAFailedOneLeaveNoGap(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.j.Pause()
		outcomes := make([]outcome, 5)
		for i := range outcomes {
			outcomes[i] = newOutcome()
			if err := b.q.Send(b.encodeAll(texts("lost")), outcomes[i]); err != nil {
				t.Fatalf("send: %v", err)
			}
		}
		b.failOnce()
		b.j.Resume()
		for _, o := range outcomes {
			if err := <-o; err == nil {
				t.Error("a send of a failed commit succeeded")
			}
		}
		synctest.Wait()
		b.sendTexts("a")
		equalSlices(t, "numbers", seqsOf(b.peek()), 1)
	})
}

func TestSEQ4_NothingIsVisibleBeforeItIsCommitted(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.j.Pause()
		done := newOutcome()
		if err := b.q.Send(b.encodeAll(texts("a")), done); err != nil {
			t.Fatalf("send: %v", err)
		}
		synctest.Wait()
		equal(t, "outcomes told", len(done), 0)
		equal(t, "peeked", len(b.peek()), 0)
		equal(t, "received", len(b.receive(1)), 0)
		b.wantCounts(0, 0, 0, 0)
		b.j.Resume()
		if err := <-done; err != nil {
			t.Fatalf("send: %v", err)
		}
		equal(t, "received after the commit", b.one().seq(), 1)
	})
}

func TestSEQ6_NumberingRestartsAtZero(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("old")
		b.stop()
		b.j.Memory = b.j.Reopen()
		// An entity record moves the counter forward: that is how it is stored.
		jump(t, b.j, b.q, math.MaxInt64-1)
		b.stop()
		b.start()
		b.sendTexts("last", "first")
		equalSlices(t, "numbers", seqsOf(b.peek()), 0, 1, math.MaxInt64)
		equal(t, "bodies", bodies(b.receive(3)), "first old last")
	})
}

// jump stores that the last number drawn in q is last.
func jump(t *testing.T, j *journal, q *emulator.Entity, last int64) {
	t.Helper()
	done := newOutcome()
	j.Append(&emulator.Change{Done: done, Ops: []emulator.Op{{
		Kind: emulator.OpCounter, DrawsNumber: true, Record: emulator.MessageRecord{Entity: q.ID(), Seq: last},
	}}})
	if err := <-done; err != nil {
		t.Fatalf("move the counter: %v", err)
	}
}

func TestSEQ7_PROP13_SendersNumberAndTimeHaveNoEffect(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		values := map[string][2]any{
			"x-opt-sequence-number": {int64(77), nil},
			"x-opt-enqueued-time":   {time.Unix(1, 0), nil},
			"x-opt-locked-until":    {time.Unix(1, 0), "soon"},
		}
		want := int64(0)
		for key, vs := range values {
			for _, v := range vs {
				m := text("a")
				m.Annotations = goamqp.Annotations{key: v}
				b.send(m)
				want++
				g := b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 1)[0]
				equal(t, key+": number", g.seq(), want)
				equal(t, key+": time", g.enqueued(), now())
				equal(t, key+": annotations", len(g.Annotations), 2)
			}
		}
	})
}

func TestSEQ8_SEQ9_OrderGoesByNumberNotByTime(t *testing.T) {
	clock := &steppingClock{}
	bubbleWith(t, emulator.Options{Clock: clock}, emulator.QueueOptions{}, func(b *broker) {
		for _, s := range []string{"a", "b", "c"} {
			b.sendTexts(s)
			clock.back += time.Hour // no clock of a broker goes back; this one shows what the order goes by
		}
		gs := b.peek()
		if !gs[2].enqueued().Before(gs[0].enqueued()) {
			t.Error("the times do not go backwards: the test proves nothing")
		}
		b.restart()
		gs = b.receive(3)
		equal(t, "order", bodies(gs), "a b c")
		equalSlices(t, "numbers", seqsOf(gs), 1, 2, 3)
	})
}

// steppingClock is the system's clock, set back.
type steppingClock struct {
	clock.System
	back time.Duration
}

func (c *steppingClock) Now() time.Time { return c.System.Now().Add(-c.back) }

func (c *steppingClock) At(t time.Time, f func()) clock.Timer {
	return c.System.At(t.Add(c.back), f)
}

func TestSEQ12_NumberSurvivesAbandonExpiryDeferralAndDeadLettering(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("first")
		b.sendTexts("a")
		b.settle(emulator.Complete, b.one())
		b.settle(emulator.Abandon, b.one())
		g := b.one()
		equal(t, "number after abandon", g.seq(), 2)
		wait(11 * time.Second)
		g = b.one()
		equal(t, "number after lock expiry", g.seq(), 2)
		b.settle(emulator.Release, g)
		b.restart() // as if the consumer and the broker had crashed
		g = b.one()
		equal(t, "number after release and restart", g.seq(), 2)
		b.settle(emulator.Defer, g)
		g = b.fetch(2)
		equal(t, "number when deferred", g.seq(), 2)
		b.settle(emulator.DeadLetterOutcome, g)
		equal(t, "number when dead-lettered", b.oneFrom(emulator.DeadLetter).seq(), 2)
	})
}

func TestSEQ13_NumbersOrderThePickUpNotTheProcessing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b", "c")
		first, second := b.one(), b.one()
		equal(t, "picked up", bodies([]*got{first, second}), "a b")
		b.settle(emulator.Complete, second) // before the first
		b.settle(emulator.Abandon, first)
		equal(t, "left", bodies(b.receive(3)), "a c")
	})
}

func TestSEQ14_BatchIsAtomicWithConsecutiveNumbers(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("first")
		b.sendTexts("a", "b", "c")
		gs := b.receive(10)
		equal(t, "order", bodies(gs), "first a b c")
		equalSlices(t, "numbers", seqsOf(gs), 1, 2, 3, 4)

		bad := text("x")
		bad.Annotations = goamqp.Annotations{"x-opt-scheduled-enqueue-time": nil}
		wantCode(t, "batch with a bad message", b.trySend(text("d"), bad, text("e")), emulator.CodeArgument)
		equal(t, "messages after the refused batch", len(b.peek()), 4)
		b.failOnce()
		if err := b.trySend(texts("d", "e")...); err == nil {
			t.Fatal("a batch that could not be written succeeded")
		}
		synctest.Wait()
		equal(t, "messages after the failed batch", len(b.peek()), 4)
	})
}

func TestSEQ14_BatchIsOneChange(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		before, _ := b.j.seen()
		b.sendTexts("a", "b", "c")
		after, _ := b.j.seen()
		equal(t, "changes in the journal", after-before, 1)
		equal(t, "operations", len(b.j.since(before)), 3)
	})
}

func TestSEQ17_PROP2_NoEnqueuedSequenceNumberOnAQueue(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		m := at("later", time.Now().Add(time.Minute))
		m.Annotations["x-opt-enqueue-sequence-number"] = int64(5)
		b.send(text("now"), m)
		wait(time.Minute)
		for _, g := range append(b.peek(), b.receive(2)...) {
			if g.has("x-opt-enqueue-sequence-number") {
				t.Errorf("message %q has an enqueued sequence number", g.body())
			}
		}
	})
}
