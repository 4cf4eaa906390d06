package emulator_test

import (
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// deleting takes up to n messages in receive-and-delete mode, the removals of which may not be committed yet.
func (b *broker) deleting(n int) (*receiver, []*emulator.Delivery) {
	b.t.Helper()
	r := b.receiver(emulator.Main, emulator.ReceiveAndDelete)
	return r, r.pull(n)
}

func TestRAD1_RemovedBeforeItLeaves(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		b.j.Pause()
		r, ds := b.deleting(1)
		synctest.Wait()
		if ready, gone := ds[0].Ready(); ready || gone {
			t.Fatalf("before the commit: ready %v, gone %v", ready, gone)
		}
		equal(t, "received twice", len(b.receive(1)), 0)
		b.j.Resume()
		g := b.written(ds)[0]
		equal(t, "body", g.body(), "a")
		equal(t, "token", g.token(), lockToken{})
		b.wantCounts(0, 0, 0, 0)
		r.c.Close()
		b.restart()
		equal(t, "left after a restart", len(b.peek()), 0)
	})
}

func TestRAD1_NothingToSettleOrRenew(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		g := b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 1)[0]
		wantCode(t, "settle", b.trySettle(emulator.Abandon, nil, g.token()), emulator.CodeMessageLockLost)
		_, err := b.q.Renew(tokensOf([]*got{g}), nil)
		wantCode(t, "renew", err, emulator.CodeMessageLockLost)
		wait(time.Hour)
		equal(t, "received again", len(b.receive(1)), 0)
	})
}

func TestRAD2_CreditIsWhatIsGone(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts(make([]string, 100)...)
		_, ds := b.deleting(70)
		equal(t, "written", len(b.written(ds)), 70)
		b.wantCounts(30, 0, 0, 0)
		equal(t, "next", b.one().seq(), 71)
	})
}

func TestRAD3_DeadLetterQueueAndDeferredMessages(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.deadLetterOne(text("dead"))
		seq := b.deferOne(text("deferred"))
		gs := b.receiveFrom(emulator.DeadLetter, emulator.ReceiveAndDelete, 5)
		equal(t, "from the dead-letter queue", bodies(gs), "dead")
		gs, err := b.byNumber(emulator.Main, emulator.ReceiveAndDelete, seq)
		if err != nil || bodies(gs) != "deferred" {
			t.Fatalf("by number: %q, error %v", bodies(gs), err)
		}
		b.wantCounts(0, 0, 0, 0)
		_, err = b.byNumber(emulator.Main, emulator.ReceiveAndDelete, seq)
		wantCode(t, "by number again", err, emulator.CodeMessageNotFound)
	})
}

func TestRAD4_DeliveryCountIsSentAsItIs(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		b.settle(emulator.Abandon, b.one())
		b.settle(emulator.Abandon, b.one())
		equalSlices(t, "abandoned twice", countsOf(b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 1)), 2)
		seq := b.deferOne(text("b"))
		gs, err := b.byNumber(emulator.Main, emulator.ReceiveAndDelete, seq)
		if err != nil {
			t.Fatalf("receive by number: %v", err)
		}
		equalSlices(t, "deferred once", countsOf(gs), 1)
	})
}

func TestRAD5_WhatWasNotWrittenReturnsToItsPlace(t *testing.T) {
	for _, when := range []string{"after the commit", "before the commit"} {
		t.Run(when, func(t *testing.T) {
			bubble(t, emulator.QueueOptions{}, func(b *broker) {
				b.sendTexts("a", "b", "c", "d")
				b.settle(emulator.Abandon, b.one())
				if when == "before the commit" {
					b.j.Pause()
				}
				r, ds := b.deleting(3)
				synctest.Wait()
				r.c.Return(ds[1:])
				r.c.Return(ds[1:2]) // twice: without effect
				r.c.Close()
				b.j.Resume()
				equal(t, "on the wire", bodies(b.written(ds[:1])), "a")
				gs := b.receive(5)
				equal(t, "still there", bodies(gs), "b c d")
				equalSlices(t, "numbers", seqsOf(gs), 2, 3, 4)
				equalSlices(t, "delivery counts", countsOf(gs), 0, 0, 0)
				equal(t, "changes for which a full journal has room", b.j.restores, 2)
				b.restart()
				equal(t, "after a restart", bodies(b.receive(5)), "b c d")
				b.sendTexts("e")
				equal(t, "next number", b.one().seq(), 5)
			})
		})
	}
}

func TestRAD5_ReturnKeepsCountOverlayAndExpiry(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.send(withTTL("a", time.Minute))
		b.settleWith(emulator.Abandon, b.properties("k", "v"), b.one())
		r, ds := b.deleting(1)
		synctest.Wait()
		r.c.Return(ds)
		r.c.Close()
		synctest.Wait()
		g := b.peekOne(emulator.Main, 0)
		equal(t, "delivery count", g.count(), 1)
		equal(t, "property", g.property("k"), any("v"))
		wait(time.Minute)
		b.wantCounts(0, 0, 0, 0)
	})
}

func TestRAD5_WhileItIsStoredAgainOthersAreReceived(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		r, ds := b.deleting(1)
		synctest.Wait()
		b.j.Pause()
		r.c.Return(ds)
		r.c.Close()
		w := &waiting{pokes: make(chan struct{}, 100)}
		c, err := b.q.NewConsumer(emulator.Main, emulator.PeekLock, func() { w.pokes <- struct{}{} })
		if err != nil {
			t.Fatalf("attach consumer: %v", err)
		}
		w.c = c
		w.take(1)
		if w.poked() && len(w.got) == 0 {
			t.Error("poked though there was nothing to take: a loop that answers would spin")
		}
		equalSlices(t, "received", w.got, 2)
	})
}

func TestRAD1_FailedRemovalMakesTheMessagesAvailableAgain(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		seq := b.deferOne(text("deferred"))
		b.sendTexts("a", "b")
		b.failOnce()
		pokes := 0
		c, err := b.q.NewConsumer(emulator.Main, emulator.ReceiveAndDelete, func() { pokes++ })
		if err != nil {
			t.Fatalf("attach consumer: %v", err)
		}
		ds := c.Take(nil, 2)
		c.Take(nil, 0)
		equal(t, "written", len(b.written(ds)), 0)
		equal(t, "pokes", pokes, 1)
		b.wantCounts(3, 0, 0, 1)
		b.failOnce()
		if _, err := b.byNumber(emulator.Main, emulator.ReceiveAndDelete, seq); err == nil {
			t.Error("receive by number succeeded though the removal could not be written")
		}
		synctest.Wait() // until then changes count as queued behind the failed one
		b.wantCounts(3, 0, 0, 1)
		gs := b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 5)
		equal(t, "received once more", bodies(gs), "a b")
		equalSlices(t, "delivery counts", countsOf(gs), 0, 0)
		gs, err = b.byNumber(emulator.Main, emulator.ReceiveAndDelete, seq)
		if err != nil || bodies(gs) != "deferred" {
			t.Errorf("by number once more: %q, error %v", bodies(gs), err)
		}
	})
}

func TestRAD5_ReturnOfAFailedRemovalStoresNothingTwice(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		b.j.Pause()
		r, ds := b.deleting(1)
		r.c.Return(ds)
		b.failOnce()
		b.j.Resume()
		synctest.Wait()
		equal(t, "there", bodies(b.peek()), "a")
		r.c.Return(ds)
		synctest.Wait()
		b.restart()
		equal(t, "there after a restart", bodies(b.receive(5)), "a")
	})
}

func TestRAD5_FailedReturnIsTriedAgain(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		m := text("a")
		m.Properties = properties("its id")
		b.send(m)
		r, ds := b.deleting(1)
		synctest.Wait()
		for range 3 {
			b.failOnce()
			r.c.Return(ds)
			wait(time.Second)
		}
		wait(time.Second)
		equal(t, "received", bodies(b.receive(5)), "a")
		ops := b.j.since(0)
		equal(t, "message id for people", ops[len(ops)-1].Record.MessageID, "its id")
		b.restart()
		equal(t, "after a restart", bodies(b.receive(5)), "a")
	})
}
