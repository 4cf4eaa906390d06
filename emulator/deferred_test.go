package emulator_test

import (
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

func TestDEF1_DEF11_StaysInTheQueueButIsNotReceived(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.deferOne(text("a"))
		b.sendTexts("b")
		wait(time.Hour)
		equal(t, "received", bodies(b.receive(5)), "b")
		equal(t, "received and deleted", len(b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 5)), 0)
		gs := b.peek()
		equal(t, "peeked", bodies(gs), "a b")
		equal(t, "state", gs[0].state(), int32(emulator.Deferred))
		b.wantCounts(2, 0, 0, 1)
		b.restart()
		equal(t, "received after a restart", bodies(b.receive(5)), "b")
		b.wantCounts(2, 0, 0, 1)
	})
}

func TestDEF2_ByNumberAndByAnybody(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		r := b.receiver(emulator.Main, emulator.PeekLock)
		b.sendTexts("a")
		gs := r.take(1)
		b.settle(emulator.Defer, gs...)
		r.c.Close() // who deferred it is gone
		g := b.fetch(1)
		equal(t, "body", g.body(), "a")
		b.settle(emulator.Abandon, g)
		b.settle(emulator.Release, b.fetch(1))
		equal(t, "received the ordinary way, ever", len(b.receive(1)), 0)
	})
}

func TestDEF3_PROP6_LockedWithANewTokenStateDeferred(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("a")
		first := b.one()
		b.settle(emulator.Defer, first)
		wait(time.Minute)
		g := b.fetch(1)
		if g.token() == first.token() {
			t.Error("the token of the first delivery again")
		}
		equal(t, "locked until", g.until(), now().Add(10*time.Second))
		equal(t, "state", g.state(), int32(emulator.Deferred))
		equal(t, "peeked state", b.peekOne(emulator.Main, 0).state(), int32(emulator.Deferred))
		if _, err := b.q.Renew(tokensOf([]*got{g}), nil); err != nil {
			t.Errorf("renew: %v", err)
		}
		b.settle(emulator.Complete, g)
		b.wantCounts(0, 0, 0, 0)
	})
}

func TestDEF4_ResultInRequestOrder(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for _, s := range []string{"a", "b", "c"} {
			b.deferOne(text(s))
		}
		gs, err := b.byNumber(emulator.Main, emulator.PeekLock, 3, 1, 2)
		if err != nil {
			t.Fatalf("receive by number: %v", err)
		}
		equal(t, "order", bodies(gs), "c a b")
		gs, err = b.byNumber(emulator.Main, emulator.PeekLock)
		if err != nil || len(gs) != 0 {
			t.Errorf("empty request: %d messages, error %v", len(gs), err)
		}
	})
}

func TestDEF5_AllOrNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for _, s := range []string{"a", "b", "locked"} {
			b.deferOne(text(s))
		}
		b.sendTexts("active")
		b.schedule(at("scheduled", soon(time.Hour)))
		b.fetch(3)
		for name, seq := range map[string]int64{"unknown": 99, "active": 4, "scheduled": 5, "locked": 3, "named twice": 1} {
			for _, mode := range []emulator.ReceiveMode{emulator.PeekLock, emulator.ReceiveAndDelete} {
				_, err := b.byNumber(emulator.Main, mode, 1, 2, seq)
				wantCode(t, name, err, emulator.CodeMessageNotFound)
				equal(t, "text", err.Error(),
					"Failed to lock one or more specified messages. Either the message is already locked or does not exist.")
			}
		}
		_, err := b.byNumber(emulator.DeadLetter, emulator.PeekLock, 1)
		wantCode(t, "in another sub-queue", err, emulator.CodeMessageNotFound)
		gs, err := b.byNumber(emulator.Main, emulator.PeekLock, 1, 2)
		if err != nil {
			t.Fatalf("none of the refused calls may have locked or removed anything: %v", err)
		}
		equalSlices(t, "delivery counts", countsOf(gs), 1, 1)
	})
}

func TestDEF6_LockExpiryDefersAgainCountPlusOne(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		seq := b.deferOne(text("a"))
		g := b.fetch(seq)
		wait(10 * time.Second)
		wantCode(t, "the old token", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeMessageLockLost)
		b.wantCounts(1, 0, 0, 1)
		equal(t, "received the ordinary way", len(b.receive(1)), 0)
		equal(t, "delivery count", b.fetch(seq).count(), 2)
	})
}

func TestDEF7_CompleteRemovesAndDeadLetterMoves(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		first, second := b.deferOne(text("a")), b.deferOne(text("b"))
		b.settle(emulator.Complete, b.fetch(first))
		b.settle(emulator.DeadLetterOutcome, b.fetch(second))
		b.wantCounts(0, 1, 0, 0)
		for _, seq := range []int64{first, second} {
			_, err := b.byNumber(emulator.Main, emulator.PeekLock, seq)
			wantCode(t, "by number afterwards", err, emulator.CodeMessageNotFound)
		}
		g := b.oneFrom(emulator.DeadLetter)
		equal(t, "dead-lettered, and no longer deferred", g.body(), "b")
		equal(t, "number", g.seq(), second)
	})
}

func TestDEF8_PropertiesMayChangeOnDefer(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		b.settleWith(emulator.Defer, b.properties("k", "v"), b.one())
		equal(t, "peeked", b.peekOne(emulator.Main, 0).property("k"), any("v"))
		g := b.fetch(1)
		equal(t, "received", g.property("k"), any("v"))
		b.settleWith(emulator.Abandon, b.properties("k", "w"), g)
		equal(t, "received again", b.fetch(1).property("k"), any("w"))
	})
}

func TestDEF12_InsideTheDeadLetterQueue(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.deadLetterOne(text("a"))
		b.settle(emulator.Defer, b.oneFrom(emulator.DeadLetter))
		equal(t, "received the ordinary way", len(b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 1)), 0)
		equal(t, "state", b.peekOne(emulator.DeadLetter, 0).state(), int32(emulator.Deferred))
		b.wantCounts(0, 1, 0, 0)
		_, err := b.byNumber(emulator.Main, emulator.PeekLock, 1)
		wantCode(t, "by number on the queue", err, emulator.CodeMessageNotFound)
		b.restart()
		gs, err := b.byNumber(emulator.DeadLetter, emulator.PeekLock, 1)
		if err != nil {
			t.Fatalf("by number on the dead-letter queue: %v", err)
		}
		b.settle(emulator.Complete, gs...)
		b.wantCounts(0, 0, 0, 0)
	})
}

func TestDEF3_BodyThatCannotBeReadLeavesNoTrace(t *testing.T) {
	for _, mode := range []emulator.ReceiveMode{emulator.PeekLock, emulator.ReceiveAndDelete} {
		bubbleWith(t, emulator.Options{BodyBudget: 1}, emulator.QueueOptions{}, func(b *broker) {
			b.deferOne(text("a"))
			b.deferOne(text("b"))
			b.j.setReads(errDisk, 0)
			gs, err := b.byNumber(emulator.Main, mode, 1, 2)
			if err == nil {
				t.Fatalf("received by number without a body: %q", bodies(gs))
			}
			synctest.Wait()
			b.j.setReads(nil, 0)
			gs, err = b.byNumber(emulator.Main, mode, 1, 2)
			if err != nil {
				t.Fatalf("after the disk recovered: %v", err)
			}
			equal(t, "bodies", bodies(gs), "a b")
			equalSlices(t, "delivery counts", countsOf(gs), 1, 1)
		})
	}
}

// bodyOf returns the id of the body of the message with that number.
func (b *broker) bodyOf(seq int64) int64 {
	b.t.Helper()
	for _, op := range b.j.since(0) {
		if op.Kind == emulator.OpInsert && op.Record.Seq == seq {
			return op.Record.Body
		}
	}
	b.t.Fatalf("message %d was never stored", seq)
	return 0
}

func TestDEF1_FailedDeferLeavesTheLock(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		g := b.one()
		b.failOnce()
		if err := b.trySettle(emulator.Defer, nil, g.token()); err == nil {
			t.Fatal("a deferral that could not be written succeeded")
		}
		_, err := b.byNumber(emulator.Main, emulator.PeekLock, 1)
		wantCode(t, "by number", err, emulator.CodeMessageNotFound)
		b.settle(emulator.Abandon, g)
		equal(t, "delivery count", b.one().count(), 1)
	})
}
