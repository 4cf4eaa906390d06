package emulator_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

func TestLOCK1_ExclusiveForTheLockDuration(t *testing.T) {
	for _, c := range []struct {
		option, want time.Duration
	}{{0, time.Minute}, {5 * time.Second, 5 * time.Second}, {5 * time.Minute, 5 * time.Minute}} {
		bubble(t, emulator.QueueOptions{LockDuration: c.option}, func(b *broker) {
			b.sendTexts("a")
			equal(t, "locked for", b.one().until().Sub(now()), c.want)
			wait(c.want - time.Millisecond)
			equal(t, "received a millisecond before the end", len(b.receive(1)), 0)
			wait(time.Millisecond)
			equal(t, "received at the end", len(b.receive(1)), 1)
		})
	}
}

func TestLOCK2_PRE1_ClockStartsWhenTheMessageIsTaken(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("a")
		wait(time.Minute)
		taken := now()
		ds := b.receiver(emulator.Main, emulator.PeekLock).pull(1)
		wait(3 * time.Second) // in a buffer, not yet on the wire
		g := b.written(ds)[0]
		equal(t, "locked until", g.until(), taken.Add(10*time.Second))
		equal(t, "LockedUntil", ds[0].LockedUntil(), taken.Add(10*time.Second).UnixMilli())
		wait(7 * time.Second)
		wantCode(t, "complete after the end", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeMessageLockLost)
	})
}

func TestLOCK3_PROP3_TokenPerDelivery(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		seen := map[lockToken]bool{}
		for range 5 {
			for _, g := range b.receive(2) {
				token := g.DeliveryAnnotations["x-opt-lock-token"]
				equal(t, "token in the delivery annotations", token, any(goamqp.UUID(g.token())))
				equal(t, "delivery annotations", len(g.DeliveryAnnotations), 1)
				equal(t, "version and variant", [2]byte{g.token()[6] >> 4, g.token()[8] >> 6}, [2]byte{4, 2})
				if seen[g.token()] {
					t.Errorf("token %v twice", g.token())
				}
				seen[g.token()] = true
				b.settle(emulator.Release, g)
			}
		}
		for _, g := range append(b.peek(), b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 2)...) {
			if len(g.DeliveryAnnotations) > 0 || g.has("x-opt-locked-until") {
				t.Errorf("lock data without a lock: %v %v", g.DeliveryAnnotations, g.Annotations)
			}
		}
	})
}

func TestLOCK4_RenewSetsNowPlusDuration(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("a", "b")
		gs := b.receive(2)
		for range 20 { // far longer than one lock
			wait(7 * time.Second)
			untils, err := b.q.Renew([]lockToken{gs[1].token(), gs[0].token()})
			if err != nil {
				t.Fatalf("renew: %v", err)
			}
			want := now().Add(10 * time.Second).UnixMilli()
			equalSlices(t, "locked until", untils, want, want)
		}
		wait(10*time.Second - time.Millisecond)
		equal(t, "received before the last renewal ends", len(b.receive(2)), 0)
		b.settle(emulator.Complete, gs[0])
		wait(time.Millisecond)
		equal(t, "received after it", bodies(b.receive(2)), "b")
	})
}

func TestLOCK5_RenewOfADeadTokenIsLockLost(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("a", "b")
		gs := b.receive(2)
		b.settle(emulator.Complete, gs[0])
		wait(10 * time.Second)
		for name, token := range map[string]lockToken{"settled": gs[0].token(), "expired": gs[1].token(), "unknown": {1}} {
			_, err := b.q.Renew([]lockToken{token})
			wantCode(t, name, err, emulator.CodeMessageLockLost)
			if !strings.HasPrefix(err.Error(), "The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue") {
				t.Errorf("%s: text %q", name, err)
			}
		}
	})
}

func TestLOCK6_RenewIsAllOrNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("a")
		g := b.one()
		wait(5 * time.Second)
		_, err := b.q.Renew([]lockToken{g.token(), {1}})
		wantCode(t, "renew with an unknown token", err, emulator.CodeMessageLockLost)
		wait(5 * time.Second)
		equal(t, "received at the end of the first lock", len(b.receive(1)), 1)
	})
}

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
		_, err := b.q.Renew(tokensOf([]*got{g}))
		wantCode(t, "renew after abandon", err, emulator.CodeMessageLockLost)
		equal(t, "received before the abandon is durable", len(b.receive(1)), 0)
		b.j.Resume()
		if err := <-first; err != nil {
			t.Errorf("abandon: %v", err)
		}
	})
}

func TestLOCK8_DC3_AfterExpiryReceivableAtItsPlaceCountPlusOne(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("a", "b")
		g := b.one()
		wait(10 * time.Second)
		wantCode(t, "the old token", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeMessageLockLost)
		gs := b.receive(2)
		equal(t, "order", bodies(gs), "a b")
		equalSlices(t, "delivery counts", countsOf(gs), 1, 0)
	})
}

func TestLOCK9_LOCK10_LOCK11_DC9_LockOutlivesLinkAndConnection(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("complete", "abandon", "defer", "dead-letter", "renew", "leave")
		r := b.receiver(emulator.Main, emulator.PeekLock)
		gs := r.take(6)
		r.c.Close() // the link, and the connection with it, are gone
		wait(5 * time.Second)
		equal(t, "still locked for others", len(b.receive(6)), 0)
		b.settle(emulator.Complete, gs[0])
		b.settle(emulator.Abandon, gs[1])
		b.settle(emulator.Defer, gs[2])
		b.settle(emulator.DeadLetterOutcome, gs[3])
		if _, err := b.q.Renew(tokensOf(gs[4:5])); err != nil {
			t.Errorf("renew: %v", err)
		}
		again := b.receive(6)
		equal(t, "abandoned", bodies(again), "abandon")
		equal(t, "its count: exactly one more", again[0].count(), 1)
		wait(5 * time.Second)
		left := b.receive(6)
		equal(t, "after its lock ended", bodies(left), "leave")
		equal(t, "its count", left[0].count(), 1)
		wait(5 * time.Second)
		equal(t, "after the renewed lock ended", bodies(b.receive(1)), "abandon")
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
			if _, err := b.q.Renew(tokensOf(gs)); err != nil {
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

func TestLOCK17_DEC23_UpdateTellsLinksAndKeepsMessageLocks(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		g := b.one()
		var told []error
		cancel := b.q.Watch(emulator.Main, func(err error) { told = append(told, err) })
		b.update(func(*emulator.QueueOptions) {}) // even if nothing changes
		if len(told) != 1 {
			t.Fatalf("told %d times", len(told))
		}
		wantCode(t, "what links are told", told[0], emulator.CodeDetached)
		b.settle(emulator.Complete, g)
		equal(t, "backlog keeps its number", b.one().seq(), 2)
		cancel()
		b.update(func(*emulator.QueueOptions) {})
		equal(t, "told after cancel", len(told), 1)
	})
}

func TestLOCK18_NewLockDurationCountsForLaterLocks(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 30 * time.Second}, func(b *broker) {
		b.sendTexts("a", "b", "c")
		old, renewed := b.one(), b.one()
		b.update(func(o *emulator.QueueOptions) { o.LockDuration = 10 * time.Second })
		equal(t, "new lock", b.one().until().Sub(now()), 10*time.Second)
		untils, err := b.q.Renew(tokensOf([]*got{renewed}))
		if err != nil {
			t.Fatalf("renew: %v", err)
		}
		equal(t, "renewed lock", untils[0], now().Add(10*time.Second).UnixMilli())
		wait(29 * time.Second)
		b.settle(emulator.Complete, old)
	})
}

func TestLOCK20_ManyUnsettledDeliveries(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts(make([]string, 6000)...)
		gs := b.receive(6000)
		equal(t, "received", len(gs), 6000)
		for i := len(gs) - 1; i >= 0; i -= 7 {
			b.settle(emulator.Complete, gs[i])
		}
		wait(time.Minute)
		b.wantCounts(6000-6000/7-1, 0, 0, 0)
		equal(t, "again after expiry", len(b.receive(6000)), 6000-6000/7-1)
	})
}

func TestLOCK21_WithdrawnCreditChangesNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		r := b.receiver(emulator.Main, emulator.PeekLock)
		for range 20 {
			equal(t, "taken from an empty queue", len(r.take(5)), 0)
		}
		b.sendTexts("a")
		gs := r.take(5)
		equalSlices(t, "delivery counts", countsOf(gs), 0)
	})
}

func TestLOCK22_WaitingReceiverHoldsNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		changes, _ := b.j.seen()
		w := b.waiting("w", emulator.PeekLock, 100)
		wait(time.Hour)
		after, _ := b.j.seen()
		equal(t, "changes in the journal", after, changes)
		b.sendTexts("a")
		sent := now()
		wait(time.Second)
		ds := w.take(100)
		equal(t, "locked from the moment it is taken", ds[0].LockedUntil(), sent.Add(time.Second+time.Minute).UnixMilli())
	})
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
			equal(t, "count after the lock ended", b.peek()[0].count(), 1)
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
			if _, err := b.q.Renew(tokensOf(gs[:1])); err != nil {
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

func TestLOCK8_FailedLockEndIsTriedAgain(t *testing.T) {
	bubble(t, emulator.QueueOptions{LockDuration: 10 * time.Second}, func(b *broker) {
		b.sendTexts("a", "b")
		gs := b.receive(2)
		b.failOnce()
		wait(10 * time.Second)
		equal(t, "received while the end is not written", len(b.receive(2)), 0)
		wantCode(t, "the old token", b.trySettle(emulator.Complete, nil, gs[0].token()), emulator.CodeMessageLockLost)
		wait(2 * time.Second)
		again := b.receive(2)
		equal(t, "received", bodies(again), "a b")
		equalSlices(t, "delivery counts", countsOf(again), 1, 1)
	})
}
