package emulator_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

// forwarding is a queue whose messages go to the queue "target".
var forwarding = emulator.QueueOptions{ForwardTo: "target"}

// strict are namespace options under which quotas are enforced: 100 MB for each queue.
var strict = emulator.Options{Limits: emulator.ProfileEmulator}

func TestFWD1_FWD3_FWD16_MessagesGoOnInOrderAndAtOnce(t *testing.T) {
	for _, no := range []emulator.Options{{}, small} {
		bubbleWith(t, no, forwarding, func(b *broker) {
			target := b.create("Target", emulator.QueueOptions{})
			b.sendTexts("a", "b", "c")
			b.sendTexts("d")
			b.wantCounts(0, 0, 0, 0)
			gs := target.receive(9)
			equal(t, "in the target", bodies(gs), "a b c d")
			equalSlices(t, "numbers", seqsOf(gs), 1, 2, 3, 4)
			b.restart()
			equal(t, "in the target after a restart", bodies(b.on("target").receive(9)), "a b c d")
		})
	}
}

func TestFWD3_ForwardIsOneChange(t *testing.T) {
	bubble(t, forwarding, func(b *broker) {
		b.create("target", emulator.QueueOptions{})
		changes, _ := b.j.seen()
		b.sendTexts("a", "b")
		after, _ := b.j.seen()
		equal(t, "changes of the send and the forward", after-changes, 2)
		for _, op := range b.j.since(changes + 1) {
			equal(t, "operation", op.Kind, emulator.OpUpdate)
		}
	})
}

func TestFWD3_FailedForwardIsTriedAgainAndLosesNothing(t *testing.T) {
	o := forwarding
	o.MaxDeliveryCount = 2
	bubble(t, o, func(b *broker) {
		target := b.create("target", emulator.QueueOptions{RequiresDuplicateDetection: true})
		failures := 0
		b.j.onTransfer(target.q.ID(), func() {
			if failures++; failures <= 5 {
				b.failOnce()
			}
		})
		b.send(withID("a"), withID("b"))
		b.wantTransfer(2)
		target.wantCounts(0, 0, 0, 0)
		wait(4 * time.Second)
		b.wantTransfer(2)
		wait(2 * time.Second)
		gs := target.receive(9)
		equal(t, "in the target", bodies(gs), "a b")
		equalSlices(t, "numbers", seqsOf(gs), 1, 2)
		b.wantCounts(0, 0, 0, 0)
		target.ids("a")
		target.wantCounts(2, 0, 0, 0)
	})
}

func TestFWD3_SESS26_FailedForwardLeavesNoSession(t *testing.T) {
	bubble(t, forwarding, func(b *broker) {
		target := b.create("target", sessionful)
		b.j.onTransfer(target.q.ID(), b.failOnce)
		b.send(inSession("s", "a"))
		equal(t, "sessions after a failed forward", target.q.InMemory().Sessions(), 0)
		equal(t, "next session", target.nextID(), "none")
		b.j.onTransfer(0, nil)
		wait(time.Second)
		equal(t, "next session", target.nextID(), "s")
	})
}

func TestFWD3_BodyThatCannotBeReadWaits(t *testing.T) {
	bubbleWith(t, small, emulator.QueueOptions{}, func(b *broker) {
		target := b.create("target", emulator.QueueOptions{})
		b.sendTexts("a", "b")
		b.j.setReads(errDisk, 0)
		b.update(func(o *emulator.QueueOptions) { o.ForwardTo = "target" })
		wait(time.Minute)
		b.wantTransfer(2)
		b.j.setReads(nil, 0)
		wait(time.Second)
		b.wantCounts(0, 0, 0, 0)
		gs := target.receive(5)
		equal(t, "in the target", bodies(gs), "a b")
		equalSlices(t, "delivery counts", countsOf(gs), 0, 0)
	})
}

func TestFWD3_ProcessDiesAroundTheCommitOfAForward(t *testing.T) {
	for _, written := range []bool{true, false} {
		bubble(t, forwarding, func(b *broker) {
			target := b.create("target", emulator.QueueOptions{})
			b.j.onTransfer(target.q.ID(), func() {
				if !written {
					b.j.FailNext(1000, errDisk)
				}
			})
			b.sendTexts("a", "b", "c")
			target.wantCounts(map[bool]int64{true: 3}[written], 0, 0, 0)
			b.stop()
			b.j.FailNext(0, nil)
			b.j.onTransfer(0, nil)
			b.start()
			synctest.Wait()
			gs := b.on("target").receive(9)
			equal(t, "in the target", bodies(gs), "a b c")
			equalSlices(t, "numbers", seqsOf(gs), 1, 2, 3)
			b.wantCounts(0, 0, 0, 0)
		})
	}
}

func TestFWD3_DEC21_BacklogIsForwardedAfterARestart(t *testing.T) {
	bubbleWith(t, small, emulator.QueueOptions{Status: emulator.StatusReceiveDisabled, ForwardTo: "target"}, func(b *broker) {
		b.create("target", emulator.QueueOptions{})
		var want []string
		for i := range 200 {
			want = append(want, fmt.Sprint(i))
		}
		b.sendTexts(want...)
		b.update(func(o *emulator.QueueOptions) { o.ForwardTo, o.Status = "", emulator.StatusActive })
		b.wantCounts(200, 0, 0, 0)
		// The setting is stored, and the process dies before anything is forwarded.
		b.j.Pause()
		go func() {
			o := b.q.Options()
			o.ForwardTo = "target"
			_, _ = b.ns.Entities().UpdateQueue("q", o)
		}()
		synctest.Wait()
		b.j.Resume()
		synctest.Wait()
		b.restart()
		synctest.Wait()
		equalSlices(t, "in the target", mapped(b.on("target").drain(), (*got).body), want...)
	})
}

func TestFWD4_DLQ15_SourceIsForSendersOnly(t *testing.T) {
	bubble(t, forwarding, func(b *broker) {
		b.create("target", emulator.QueueOptions{})
		const receiver, browser = "Cannot create a message receiver on an entity with auto-forwarding enabled.",
			"Cannot create a message browser on an entity with auto-forwarding enabled."
		check := func(what string, err error, text string) {
			t.Helper()
			wantCode(t, what, err, emulator.CodeNotAllowed)
			wantText(t, what, err, text)
		}
		for sub := range emulator.SubQueue(2) {
			_, err := b.q.NewConsumer(sub, emulator.PeekLock, func() {})
			check("receiver", err, receiver)
			check("receiver", b.q.CanReceive(sub), receiver)
			_, err = b.tryPeek(sub, 0, 1, 0, false)
			check("peek", err, browser)
			_, err = b.byNumber(sub, emulator.PeekLock, 1)
			check("receive by number", err, browser)
			check("batch delete", b.q.DeleteBatch(sub, 1, 0, nil, nil, nil), browser)
			if sub == emulator.Main {
				_, err = b.q.Schedule(b.encodeAll(texts("x")), newOutcome())
				check("schedule", err, browser)
				check("cancel", b.cancel(1), browser)
				b.update(func(o *emulator.QueueOptions) { o.ForwardTo, o.ForwardDeadLetteredMessagesTo = "", "target" })
				b.receiver(emulator.Main, emulator.PeekLock) // the parent is not concerned
			}
		}
		b.sendTexts("sends go on")
		b.on("target").sendTexts("to both")
	})
}

func TestFWD4_ReceiverThatIsAttachedAlreadyGetsNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.create("target", emulator.QueueOptions{})
		r := b.receiver(emulator.Main, emulator.PeekLock)
		r.c.Take(nil, 5)
		b.update(func(o *emulator.QueueOptions) { o.ForwardTo = "target" })
		b.sendTexts("a")
		equal(t, "received", len(r.take(5)), 0)
		equal(t, "in the target", bodies(b.on("target").receive(5)), "a")
	})
}

func TestFWD7_SEQ16_TIME5_DC15_PROP2_WhatIsKeptAndWhatIsNew(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		target := b.create("target", emulator.QueueOptions{})
		target.sendTexts("before")
		b.sendTexts("x")
		m := everything()
		m.Header.TTL = time.Hour
		b.send(m)
		b.settle(emulator.Complete, b.one())
		b.settleWith(emulator.Abandon, b.properties("changed", "yes"), b.one())
		wait(time.Minute)
		b.update(func(o *emulator.QueueOptions) { o.ForwardTo = "target" })
		wait(0)
		g := target.receive(9)[1]
		equal(t, "number", g.seq(), 2)
		equal(t, "enqueued number", annotation[int64](g, "x-opt-enqueue-sequence-number"), 2)
		equal(t, "enqueued time", g.enqueued(), now())
		equal(t, "delivery count", g.count(), 0)
		equal(t, "changed property", g.property("changed"), any("yes"))
		equal(t, "expires", g.Properties.AbsoluteExpiryTime.UTC(), now().Add(time.Hour))
		delete(g.ApplicationProperties, "changed")
		g.Header.TTL, g.Properties.AbsoluteExpiryTime, g.Properties.CreationTime = 0, nil, nil
		wantEverything(t, g)
		// Its own number and the first one are told apart along a chain too.
		last := b.create("last", emulator.QueueOptions{})
		last.sendTexts("1", "2", "3")
		target.set(func(o *emulator.QueueOptions) { o.ForwardTo = "last" })
		wait(2 * time.Minute) // until its lock ends
		g = last.peekFrom(emulator.Main, 5, 1)[0]
		equal(t, "number at the end", g.seq(), 5)
		equal(t, "enqueued number at the end", annotation[int64](g, "x-opt-enqueue-sequence-number"), 2)
		b.restart()
		g = b.on("last").peekFrom(emulator.Main, 5, 1)[0]
		equal(t, "enqueued number after a restart", annotation[int64](g, "x-opt-enqueue-sequence-number"), 2)
	})
}

func TestEXP15_FWD7_TimeToLiveCountsAnewAndTheTargetMayShortenIt(t *testing.T) {
	for _, c := range []struct{ source, target, message, want time.Duration }{
		{message: time.Hour, want: time.Hour},
		{source: time.Minute, message: time.Hour, want: time.Minute},
		{target: time.Minute, message: time.Hour, want: time.Minute},
		{source: time.Hour, target: 2 * time.Hour, want: time.Hour},
		{target: time.Minute, want: time.Minute},
	} {
		t.Run(fmt.Sprintf("%v %v %v", c.source, c.target, c.message), func(t *testing.T) {
			o := emulator.QueueOptions{DefaultMessageTimeToLive: c.source, Status: emulator.StatusReceiveDisabled, ForwardTo: "target"}
			bubble(t, o, func(b *broker) {
				target := b.create("target", emulator.QueueOptions{DefaultMessageTimeToLive: c.target})
				b.send(withTTL("a", c.message))
				wait(30 * time.Second)
				b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusActive })
				wait(0)
				g := target.peek()[0]
				equal(t, "time to live", g.Header.TTL, c.want)
				wait(c.want - time.Millisecond)
				target.wantCounts(1, 0, 0, 0)
				wait(time.Millisecond)
				target.wantCounts(0, 0, 0, 0)
			})
		})
	}
}

func TestFWD8_FWD9_DLQR5_FourHopsAndNotAFifth(t *testing.T) {
	bubble(t, emulator.QueueOptions{ForwardTo: "q1"}, func(b *broker) {
		for i := 5; i >= 1; i-- {
			o := emulator.QueueOptions{ForwardTo: fmt.Sprintf("q%d", i+1)}
			if i == 5 {
				o.ForwardTo = ""
			}
			b.create(fmt.Sprintf("q%d", i), o)
		}
		b.sendTexts("five hops")
		b.on("q1").sendTexts("four hops")
		synctest.Wait()
		equalSlices(t, "dead-lettered where it stands", b.on("q4").deadReasons(emulator.DeadLetter), "five hops=MaxTransferHopCountExceeded")
		equal(t, "at the end", bodies(b.on("q5").receive(5)), "four hops")
	})
}

func TestFWD8_HopsAreCountedAcrossRestarts(t *testing.T) {
	bubble(t, emulator.QueueOptions{ForwardTo: "q1"}, func(b *broker) {
		b.create("q1", emulator.QueueOptions{ForwardTo: "q2"})
		b.create("q2", emulator.QueueOptions{Status: emulator.StatusReceiveDisabled, ForwardTo: "q3"})
		b.create("q3", emulator.QueueOptions{ForwardTo: "q4"})
		b.create("q4", emulator.QueueOptions{ForwardTo: "q5"})
		b.create("q5", emulator.QueueOptions{})
		b.sendTexts("a")
		b.restart()
		b.on("q2").set(func(o *emulator.QueueOptions) { o.Status = emulator.StatusActive })
		equalSlices(t, "dead-lettered", b.on("q4").deadReasons(emulator.DeadLetter), "a=MaxTransferHopCountExceeded")
	})
}

func TestFWD10_DLQ10_ForwardOutOfADeadLetterQueue(t *testing.T) {
	o := emulator.QueueOptions{ForwardDeadLetteredMessagesTo: "graves", MaxDeliveryCount: 1, ForwardTo: "q"}
	bubble(t, o, func(b *broker) { // forwards to itself until the hops are used up
		graves := b.create("graves", emulator.QueueOptions{ForwardDeadLetteredMessagesTo: "last"})
		last := b.create("last", emulator.QueueOptions{})
		b.sendTexts("a")
		synctest.Wait()
		g := graves.one()
		equal(t, "reason", g.property(emulator.DeadLetterReason), any("MaxTransferHopCountExceeded"))
		equal(t, "source", annotation[string](g, "x-opt-deadletter-source"), "q")
		equal(t, "delivery count", g.count(), 0)
		graves.settleWith(emulator.DeadLetterOutcome, b.properties(emulator.DeadLetterReason, "mine"), g)
		g = last.one()
		equal(t, "reason", g.property(emulator.DeadLetterReason), any("mine"))
		equal(t, "source", annotation[string](g, "x-opt-deadletter-source"), "graves")
		b.restart()
		g = b.on("last").one()
		equal(t, "source after a restart", annotation[string](g, "x-opt-deadletter-source"), "graves")
		b.wantCounts(0, 0, 0, 0)
	})
}

func TestFWD3_ExpiredMessagesAreNotForwarded(t *testing.T) {
	o := emulator.QueueOptions{ForwardTo: "target", Status: emulator.StatusReceiveDisabled, DeadLetteringOnExpiration: true}
	bubble(t, o, func(b *broker) {
		target := b.create("target", emulator.QueueOptions{})
		b.send(withTTL("expires", time.Minute), text("stays"))
		wait(time.Minute)
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusActive })
		wait(0)
		equal(t, "in the target", bodies(target.peek()), "stays")
		equalSlices(t, "dead-lettered", b.deadReasons(emulator.DeadLetter), "expires=TTLExpiredException")
	})
}
