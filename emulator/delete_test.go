package emulator_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

func TestDEL1_DeleteRemovesEverything(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.deadLetterOne(text("dead"))
		b.deferOne(text("deferred"))
		b.schedule(at("later", soon(time.Minute)))
		b.sendTexts("locked", "active")
		g := b.one()
		r := b.receiver(emulator.Main, emulator.PeekLock)
		var told []error
		b.q.Watch(emulator.Main, func(err error) { told = append(told, err) })
		if err := b.ns.Entities().Delete("Q"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		if len(told) != 1 {
			t.Fatalf("links were told %d times", len(told))
		}
		wantCode(t, "what links are told", told[0], emulator.CodeNotFound)
		equal(t, "exists", b.ns.Exists("q"), false)
		_, err := b.ns.Entity("q")
		wantCode(t, "find", err, emulator.CodeNotFound)
		equal(t, "text", err.Error(), "The messaging entity 'q' could not be found.")
		wantCode(t, "send", b.trySend(text("x")), emulator.CodeNotFound)
		wantCode(t, "settle", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeNotFound)
		_, err = b.q.Renew(tokensOf([]*got{g}), nil)
		wantCode(t, "renew", err, emulator.CodeNotFound)
		wantCode(t, "cancel", b.cancel(3), emulator.CodeNotFound)
		_, err = b.byNumber(emulator.Main, emulator.PeekLock, 2)
		wantCode(t, "by number", err, emulator.CodeNotFound)
		_, err = b.tryPeek(emulator.Main, 0, 1, 0, false)
		wantCode(t, "peek", err, emulator.CodeNotFound)
		equal(t, "taken on a link that is open", len(r.take(5)), 0)
		wantCode(t, "attach", b.q.CanReceive(emulator.Main), emulator.CodeNotFound)
		wantCode(t, "delete again", b.ns.Entities().Delete("q"), emulator.CodeNotFound)
		changes, _ := b.j.seen()
		wait(time.Hour) // its timers are dead
		after, _ := b.j.seen()
		equal(t, "changes in the journal after the deletion", after, changes)
	})
}

func TestDEL2_OneLineOfTheLogSaysThatLinksEndWithTheirEntity(t *testing.T) {
	var lines bytes.Buffer
	options := emulator.Options{Logger: slog.New(slog.NewTextHandler(&lines, nil))}
	topicBubbleWith(t, options, emulator.TopicOptions{}, named("a", "b"), func(b *broker) {
		quiet := b.create("quiet", emulator.QueueOptions{})
		for _, q := range []*emulator.Entity{b.q, b.sub("a").q, b.sub("b").q, b.sub("b").q} {
			defer q.Watch(emulator.Main, func(error) {})()
		}
		for _, q := range []*emulator.Entity{quiet.q, b.q} {
			if err := b.ns.Entities().Delete(q.Path()); err != nil {
				t.Fatal(err)
			}
		}
		const want = `msg="the links of a deleted entity were closed"`
		if got := lines.String(); strings.Count(got, "links") != 2 || !strings.Contains(got, want) || !strings.Contains(got, "entity=t links=4\n") {
			t.Errorf("the log has\n%s", got)
		}
	})
}

func TestDEL1_DEL2_WhoBeginsToWatchTooLateIsToldAtOnce(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		if err := b.ns.Entities().Delete("q"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		var told []error
		defer b.q.Watch(emulator.Main, func(err error) { told = append(told, err) })()
		if len(told) != 1 {
			t.Fatalf("told %d times", len(told))
		}
		wantCode(t, "told", told[0], emulator.CodeNotFound)
	})
}

func TestDEL3_SameNameStartsAfresh(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for range 2 {
			b.sendTexts("a", "b", "c")
			b.schedule(at("later", soon(time.Minute)))
			id := b.q.ID()
			if err := b.ns.Entities().Delete("q"); err != nil {
				t.Fatalf("delete: %v", err)
			}
			q, err := b.ns.Entities().CreateQueue("q", emulator.QueueOptions{})
			if err != nil {
				t.Fatalf("create again: %v", err)
			}
			b.q = q.Entity
			if q.ID() == id {
				t.Error("the new queue has the old one's id")
			}
			wait(time.Hour)
			b.wantCounts(0, 0, 0, 0)
			b.sendTexts("fresh")
			equalSlices(t, "numbers", seqsOf(b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 5)), 1)
			b.restart()
			b.wantCounts(0, 0, 0, 0)
		}
		b.sendTexts("x")
		equal(t, "number after a restart", b.one().seq(), 2)
	})
}

func TestDEL1_LateResultsOfADeletedQueue(t *testing.T) {
	bubbleWith(t, emulator.Options{BodyBudget: 1}, emulator.QueueOptions{}, func(b *broker) {
		b.send(text("settled"), text("returned"), withTTL("read", time.Second), text("peeked"))
		b.schedule(at("due", soon(time.Minute)), at("cancelled", soon(time.Hour)))
		g := b.one()
		r := b.receiver(emulator.Main, emulator.ReceiveAndDelete)
		returned := r.pull(1)
		synctest.Wait()
		b.j.Pause()
		var results []outcome
		pending := func(f func(o outcome) error) {
			o := newOutcome()
			if err := f(o); err != nil {
				t.Fatalf("start an operation: %v", err)
			}
			results = append(results, o)
		}
		reading := b.receiver(emulator.Main, emulator.PeekLock).pull(1)
		pending(func(o outcome) error { return b.q.Send(b.encodeAll(texts("late")), o) })
		pending(func(o outcome) error {
			return b.q.Settle(tokensOf([]*got{g}), emulator.Settlement{Outcome: emulator.Abandon}, o)
		})
		pending(func(o outcome) error { return b.q.CancelScheduled([]int64{6}, o) })
		pending(func(o outcome) error {
			return b.q.Peek(emulator.Peek{Max: 10}, func(_ []*emulator.Delivery, err error) { o <- err })
		})
		wait(time.Minute) // the activation and the end of a lock are being written too
		deleted := newOutcome()
		go func() { deleted <- b.ns.Entities().Delete("q") }()
		synctest.Wait()
		changes, _ := b.j.seen()
		r.c.Return(returned)
		b.j.setReads(errDisk, 0)
		b.j.Resume()
		if err := <-deleted; err != nil {
			t.Fatalf("delete: %v", err)
		}
		for i, o := range results {
			if err := <-o; err != nil {
				t.Errorf("operation %d that was accepted before the deletion: %v", i, err)
			}
		}
		b.written(reading) // ready or gone, but not stuck
		wait(time.Hour)
		after, _ := b.j.seen()
		equal(t, "changes appended behind the deletion", after, changes)
		b.stop()
		b.j.Memory = b.j.Reopen()
		b.open()
		equal(t, "queues after a restart", len(b.ns.Entities().Queues()), 0)
	})
}

func TestDEL1_ReturnToADeletedQueueWritesNothing(t *testing.T) {
	for _, mode := range []emulator.ReceiveMode{emulator.PeekLock, emulator.ReceiveAndDelete} {
		bubble(t, emulator.QueueOptions{}, func(b *broker) {
			b.send(withTTL("a", time.Second))
			r := b.receiver(emulator.Main, mode)
			ds := r.pull(1)
			wait(2 * time.Second)
			if err := b.ns.Entities().Delete("q"); err != nil {
				t.Fatalf("delete: %v", err)
			}
			changes, _ := b.j.seen()
			r.c.Return(ds)
			r.c.Close()
			wait(time.Hour)
			after, _ := b.j.seen()
			equal(t, "changes in the journal after the deletion", after, changes)
		})
	}
}

func TestDEL1_FailedDeletionLeavesTheQueueAlive(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		b.schedule(at("later", soon(time.Minute)))
		g := b.one()
		b.j.Pause()
		deleted := newOutcome()
		go func() { deleted <- b.ns.Entities().Delete("q") }()
		wait(2 * time.Minute) // deadlines pass while the deletion is being written
		wantCode(t, "complete meanwhile", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeNotFound)
		b.failOnce()
		b.j.Resume()
		if err := <-deleted; err == nil {
			t.Fatal("a deletion that could not be written succeeded")
		}
		wait(2 * time.Second)
		gs := b.receive(5)
		equal(t, "the lock ended and the schedule was activated all the same", bodies(gs), "a later")
		equalSlices(t, "delivery counts", countsOf(gs), 1, 0)
		b.sendTexts("b")
		equal(t, "next number", b.one().seq(), 4)
	})
}

func TestDEL1_FailedDeletionWakesWaitingReceivers(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		w := b.waiting("w", emulator.PeekLock, 1)
		var told []error
		b.q.Watch(emulator.Main, func(err error) { told = append(told, err) })
		b.j.Pause()
		deleted := newOutcome()
		go func() { deleted <- b.ns.Entities().Delete("q") }()
		synctest.Wait()
		w.take(1) // a loop looks again, for whatever reason
		b.failOnce()
		b.j.Resume()
		if err := <-deleted; err == nil {
			t.Fatal("a deletion that could not be written succeeded")
		}
		synctest.Wait()
		b.sendTexts("a")
		if !w.poked() && len(told) == 0 {
			t.Error("the receiver waits for ever: it was neither poked nor told to attach again")
		}
	})
}
