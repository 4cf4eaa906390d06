package emulator_test

import (
	"testing"
	"time"

	"minibus/emulator"
)

func TestDEC21_LOCK8_LocksAreGoneAndCountsUnchanged(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		seq := b.deferOne(text("deferred"))
		b.deadLetterOne(text("dead"))
		locked := append(b.receive(5), b.fetch(seq), b.oneFrom(emulator.DeadLetter))
		b.restart()
		for _, g := range locked {
			wantCode(t, "old token of "+g.body(), b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeMessageLockLost)
		}
		gs := b.receive(5)
		equal(t, "received", len(gs), 2)
		equalSlices(t, "delivery counts", countsOf(gs), locked[0].count(), locked[1].count())
		equal(t, "deferred", b.fetch(seq).count(), locked[2].count())
		equal(t, "dead-lettered", b.oneFrom(emulator.DeadLetter).count(), 0)
	})
}

func TestDEC21_MessagesNumbersCountsAndSchedulesSurvive(t *testing.T) {
	bubble(t, emulator.QueueOptions{MaxDeliveryCount: 7, LockDuration: 42 * time.Second}, func(b *broker) {
		sent := now()
		b.send(everything())
		b.settleWith(emulator.Abandon, b.properties("k", "v"), b.one())
		b.settle(emulator.Defer, b.one())
		b.deadLetterOne(text("dead"))
		b.schedule(at("later", soon(time.Hour)))
		b.send(withTTL("active", 2*time.Hour))
		b.send(text("completed"))
		b.settle(emulator.Complete, b.receive(2)[1])
		wait(10 * time.Second)
		b.restart()
		b.wantCounts(2, 1, 1, 1)
		gs := b.peek()
		equalSlices(t, "numbers", seqsOf(gs), 1, 3, 4)
		equalSlices(t, "delivery counts", countsOf(gs), 2, 0, 0)
		equalSlices(t, "states", mapped(gs, (*got).state), 1, 2, 0)
		for _, g := range gs {
			equal(t, "enqueued time", g.enqueued(), sent)
		}
		equal(t, "changed property", gs[0].property("k"), any("v"))
		equal(t, "time to live", gs[2].Header.TTL, 2*time.Hour)
		equal(t, "options", b.q.Options().LockDuration, 42*time.Second)
		b.sendTexts("next")
		equal(t, "next number", b.peekOne(emulator.Main, 5).seq(), 6)
		wait(time.Hour)
		equal(t, "activated", b.peekOne(emulator.Main, 7).body(), "later")
		wait(time.Hour)
		equal(t, "expired", len(b.peekFrom(emulator.Main, 4, 1)), 1)
		equal(t, "which is not the one that expired", b.peekOne(emulator.Main, 4).body(), "next")
	})
}

func TestDEC21_WhatFellDueMeanwhileIsTreatedBeforeReady(t *testing.T) {
	bubble(t, emulator.QueueOptions{DeadLetteringOnExpiration: true}, func(b *broker) {
		b.schedule(at("second", soon(2*time.Minute)), at("first", soon(time.Minute)), at("not yet", soon(time.Hour)))
		b.send(withTTL("expires", time.Minute), text("stays"))
		b.deferOne(withTTL("deferred", time.Minute)) // it is "expires" that is deferred
		b.stop()
		time.Sleep(10 * time.Minute)
		b.start() // no synctest.Wait: Open has done it all
		b.wantCounts(4, 1, 1, 1)
		started := now()
		gs := b.receive(5)
		equal(t, "active", bodies(gs), "stays first second")
		equalSlices(t, "numbers", seqsOf(gs), 5, 7, 8)
		for _, g := range gs[1:] {
			equal(t, "activated at the start", g.enqueued(), started)
		}
		equal(t, "expired", bodies(b.peekFrom(emulator.DeadLetter, 0, 5)), "deferred")
	})
}

func TestDEC21_ManyDueAtStart(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for range 10 {
			b.schedule(at("s", soon(time.Minute)), at("s", soon(time.Minute)))
			for range 50 {
				b.send(withTTL("x", time.Minute), at("y", soon(2*time.Minute)))
			}
		}
		b.stop()
		time.Sleep(time.Hour)
		b.start()
		b.wantCounts(520, 0, 0, 0)
		var last int64
		for _, g := range b.receive(520) {
			if g.seq() <= last || g.seq() <= 1020 {
				t.Fatalf("number %d after %d", g.seq(), last)
			}
			last = g.seq()
		}
		equal(t, "last number", last, 1540)
	})
}

func TestDEC21_FailedCatchUpIsTriedAgain(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.schedule(at("due", soon(time.Minute)))
		b.send(withTTL("expired", time.Minute))
		b.stop()
		time.Sleep(time.Hour)
		b.j.Memory = b.j.Reopen()
		b.j.Memory.FailNext(1, errDisk)
		b.open()
		q, err := b.ns.Entity("q")
		if err != nil {
			t.Fatalf("find queue: %v", err)
		}
		b.q = q
		wait(2 * time.Second)
		equal(t, "received", bodies(b.receive(5)), "due")
		b.wantCounts(1, 0, 0, 0)
	})
}

func TestDEC21_UnansweredOperationsLeaveNoTrace(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a", "b")
		gs := b.receive(2)
		b.j.Pause()
		for _, start := range []func(o outcome) error{
			func(o outcome) error { return b.q.Send(b.encodeAll(texts("lost")), o) },
			func(o outcome) error {
				return b.q.Settle(tokensOf(gs[:1]), emulator.Settlement{Outcome: emulator.Complete}, o)
			},
			func(o outcome) error {
				return b.q.Settle(tokensOf(gs[1:]), emulator.Settlement{Outcome: emulator.Defer}, o)
			},
		} {
			if err := start(newOutcome()); err != nil {
				t.Fatalf("start an operation: %v", err)
			}
		}
		b.failOnce() // the process dies before the commit
		b.restart()
		gs = b.receive(5)
		equal(t, "received", bodies(gs), "a b")
		equalSlices(t, "delivery counts", countsOf(gs), 0, 0)
		b.sendTexts("c")
		equal(t, "next number", b.one().seq(), 3)
	})
}
