package emulator_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

func TestLOCK7_SettlingWithADeadTokenIsLockLost(t *testing.T) {
	for _, o := range []emulator.Outcome{
		emulator.Complete, emulator.Abandon, emulator.Defer, emulator.DeadLetterOutcome, emulator.Release,
	} {
		bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
			b.sendTexts("a")
			g := b.one()
			wait(10 * time.Second)
			wantCode(t, "expired", b.trySettle(o, nil, g.token()), emulator.CodeMessageLockLost)
			wantCode(t, "unknown", b.trySettle(o, nil, lockToken{9}), emulator.CodeMessageLockLost)
			g = b.one()
			b.settle(o, g)
			wantCode(t, "settled before", b.trySettle(o, nil, g.token()), emulator.CodeMessageLockLost)
		})
	}
}

func TestLOCK5_LOCK7_DeadAtTheInstantThoughTheTimerIsLate(t *testing.T) {
	clock := &lateClock{}
	bubbleWith(t, emulator.Options{Clock: clock}, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		g := b.one()
		clock.late.Store(true)
		wait(time.Minute - time.Millisecond)
		if _, err := b.q.Renew([]lockToken{g.token()}, nil); err != nil {
			t.Errorf("renew a millisecond before the end: %v", err)
		}
		wait(time.Minute)
		_, err := b.q.Renew([]lockToken{g.token()}, nil)
		wantCode(t, "renew at the end", err, emulator.CodeMessageLockLost)
		wantCode(t, "settle", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeMessageLockLost)
	})
}

func TestLOCK7_SecondSettlementWhileTheFirstIsBeingWritten(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		g := b.one()
		b.j.Pause()
		first := newOutcome()
		if err := b.q.Settle(tokensOf([]*got{g}), emulator.Settlement{Outcome: emulator.Abandon}, first); err != nil {
			t.Fatalf("abandon: %v", err)
		}
		wantCode(t, "complete after abandon", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeMessageLockLost)
		_, err := b.q.Renew(tokensOf([]*got{g}), nil)
		wantCode(t, "renew after abandon", err, emulator.CodeMessageLockLost)
		equal(t, "received before the abandon is durable", len(b.receive(1)), 0)
		b.j.Resume()
		if err := <-first; err != nil {
			t.Errorf("abandon: %v", err)
		}
	})
}

func TestLOCK12_WhatEachOutcomeMeans(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for _, c := range []struct {
			outcome                   emulator.Outcome
			available, deferred, dead int64
			count                     uint32
			name                      string
			peekState                 int32
			sub                       emulator.SubQueue
			gone                      bool
		}{
			{outcome: emulator.Complete, name: "complete", gone: true},
			{outcome: emulator.Abandon, name: "abandon", count: 1},
			{outcome: emulator.Defer, name: "defer", count: 1, peekState: 1},
			{outcome: emulator.DeadLetterOutcome, name: "dead-letter", sub: emulator.DeadLetter},
			{outcome: emulator.Release, name: "release"},
		} {
			b.sendTexts(c.name)
			g := b.one()
			b.settle(c.outcome, g)
			gs := b.peekFrom(c.sub, g.seq(), 1)
			if c.gone {
				equal(t, c.name+": left", len(gs), 0)
				continue
			}
			equal(t, c.name+": body", bodies(gs), c.name)
			equal(t, c.name+": delivery count", gs[0].count(), c.count)
			equal(t, c.name+": state", gs[0].state(), c.peekState)
			b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 1)
		}
	})
}

func TestLOCK13_DC12_ReleasedAtOnceWithoutCounting(t *testing.T) {
	bubble(t, emulator.QueueOptions{MaxDeliveryCount: 3}, func(b *broker) {
		b.sendTexts("a", "b")
		for range 2000 {
			g := b.one()
			equal(t, "body", g.body(), "a")
			equal(t, "delivery count", g.count(), 0)
			b.settle(emulator.Release, g)
		}
		b.wantCounts(2, 0, 0, 0)
	})
}

func TestLOCK13_ReturnOfUnwrittenDeliveries(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b", "c")
		r := b.receiver(emulator.Main, emulator.PeekLock)
		ds := r.pull(3)
		synctest.Wait()
		r.c.Return(ds[1:])
		r.c.Close()
		gs := b.receive(3)
		equal(t, "available again, at once", bodies(gs), "b c")
		equalSlices(t, "delivery counts", countsOf(gs), 0, 0)
		wantCode(t, "token of a returned delivery", b.trySettle(emulator.Complete, nil, ds[1].Token()), emulator.CodeMessageLockLost)
		if err := b.trySettle(emulator.Complete, nil, ds[0].Token()); err != nil {
			t.Errorf("complete of the delivery that was written: %v", err)
		}
		b.settle(emulator.Complete, gs...)
		r.c.Return(ds) // late, of settled ones: without effect
		b.wantCounts(0, 0, 0, 0)
	})
}

func TestLOCK14_ChangedPropertiesAreMerged(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		m := text("a")
		m.ApplicationProperties = map[string]any{"kept": "sent", "changed": "sent"}
		b.send(m)
		g := b.one()
		b.settleWith(emulator.Abandon, b.properties("changed", int64(1), "added", true), g)
		g = b.one()
		equal(t, "kept", g.property("kept"), any("sent"))
		equal(t, "changed", g.property("changed"), any(int64(1)))
		equal(t, "added", g.property("added"), any(true))
		b.settleWith(emulator.Defer, b.properties("changed", "again"), g)
		b.restart()
		g = b.fetch(1)
		equal(t, "after defer and restart: changed", g.property("changed"), any("again"))
		equal(t, "added", g.property("added"), any(true))
		b.settleWith(emulator.DeadLetterOutcome, b.properties("last", "x"), g)
		g = b.oneFrom(emulator.DeadLetter)
		equal(t, "dead-lettered: changed", g.property("changed"), any("again"))
		equal(t, "last", g.property("last"), any("x"))
		equal(t, "kept", g.property("kept"), any("sent"))
		equal(t, "number of properties", len(g.ApplicationProperties), 4)
		b.settleWith(emulator.Complete, b.properties("x", "ignored"), g)
		b.wantCounts(0, 0, 0, 0)
	})
}

func TestLOCK15_SettlementOfSeveralIsAllOrNothing(t *testing.T) {
	for _, o := range []emulator.Outcome{
		emulator.Complete, emulator.Abandon, emulator.Defer, emulator.DeadLetterOutcome, emulator.Release,
	} {
		bubble(t, emulator.QueueOptions{}, func(b *broker) {
			b.sendTexts("a", "b", "c")
			gs := b.receive(3)
			bad := append(tokensOf(gs), lockToken{7})
			wantCode(t, "with an unknown token", b.trySettle(o, nil, bad...), emulator.CodeMessageLockLost)
			twice := append(tokensOf(gs), gs[0].token())
			wantCode(t, "with a token twice", b.trySettle(o, nil, twice...), emulator.CodeMessageLockLost)
			b.wantCounts(3, 0, 0, 0)
			if _, err := b.q.Renew(tokensOf(gs), nil); err != nil {
				t.Errorf("locks after the refusals: %v", err)
			}
			before, _ := b.j.seen()
			b.settle(o, gs...)
			after, _ := b.j.seen()
			if after-before > 1 {
				t.Errorf("%d changes in the journal, want one", after-before)
			}
			if err := b.trySettle(o, nil); err != nil {
				t.Errorf("settlement of nothing: %v", err)
			}
		})
	}
}

func TestLOCK23_STAT2_NoSettlementOnADisabledQueueAndTheLockRunsOn(t *testing.T) {
	for _, s := range []emulator.Status{emulator.StatusDisabled, emulator.StatusReceiveDisabled} {
		bubble(t, emulator.QueueOptions{LockDuration: 30 * time.Second}, func(b *broker) {
			b.sendTexts("a", "b")
			gs := b.receive(2)
			b.update(func(o *emulator.QueueOptions) { o.Status = s })
			for _, o := range []emulator.Outcome{emulator.Complete, emulator.Abandon, emulator.Defer, emulator.DeadLetterOutcome} {
				wantCode(t, "settlement", b.trySettle(o, nil, gs[0].token()), emulator.CodeEntityDisabled)
			}
			wait(10 * time.Second)
			b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusActive })
			b.settle(emulator.Complete, gs[0])
			b.update(func(o *emulator.QueueOptions) { o.Status = s })
			wait(20 * time.Second)
			equal(t, "count after the lock ended", b.peekOne(emulator.Main, 0).count(), 1)
		})
	}
}

func TestLOCK24_DEC24_DLQ4_RefusedDeadLetteringEndsTheDelivery(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.deadLetterOne(text("a"))
		b.deadLetterOne(text("b"))
		gs := b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 2)
		err := b.trySettle(emulator.DeadLetterOutcome, b.properties("x", "y"), tokensOf(gs)...)
		wantCode(t, "dead-letter a dead letter", err, emulator.CodeNotAllowed)
		for _, g := range gs {
			wantCode(t, "its token afterwards", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeMessageLockLost)
		}
		again := b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 2)
		equal(t, "available at once", bodies(again), "a b")
		equalSlices(t, "numbers", seqsOf(again), 1, 2)
		equalSlices(t, "delivery counts", countsOf(again), 0, 0)
		equal(t, "properties", len(again[0].ApplicationProperties), 0)
	})
}

func TestLOCK7_FailedSettlementLeavesTheLock(t *testing.T) {
	for _, o := range []emulator.Outcome{emulator.Complete, emulator.Abandon, emulator.Defer, emulator.DeadLetterOutcome} {
		bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
			b.sendTexts("a", "b")
			gs := b.receive(2)
			wait(5 * time.Second)
			b.failOnce()
			if err := b.trySettle(o, b.properties("k", "v"), tokensOf(gs)...); !errors.Is(err, errDisk) {
				t.Fatalf("settlement that could not be written: %v", err)
			}
			synctest.Wait()
			b.wantCounts(2, 0, 0, 0)
			equal(t, "received meanwhile", len(b.receive(2)), 0)
			if _, err := b.q.Renew(tokensOf(gs[:1]), nil); err != nil {
				t.Errorf("renew after the failure: %v", err)
			}
			wait(5 * time.Second)
			again := b.one()
			equal(t, "the lock that was not renewed ended in time", again.body(), "b")
			equal(t, "its count", again.count(), 1)
			equal(t, "properties", len(again.ApplicationProperties), 0)
			b.settle(o, gs[0])
		})
	}
}
