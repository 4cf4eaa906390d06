package emulator_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

func TestERR5_NameTakenByAnyEntity(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		if err := b.ns.EnsureEntities([]emulator.EntityConfig{{Path: "t", Topic: &emulator.TopicOptions{}}}); err != nil {
			t.Fatalf("ensure topic: %v", err)
		}
		for _, path := range []string{"q", "Q", "t", "T"} {
			_, err := b.ns.CreateQueue(path, emulator.QueueOptions{})
			wantCode(t, "create "+path, err, emulator.CodeAlreadyExists)
		}
	})
}

func TestERR4_UnknownEntity(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		topic := emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{{Name: "Sub"}}}
		if err := b.ns.EnsureEntities([]emulator.EntityConfig{{Path: "t", Topic: &topic}}); err != nil {
			t.Fatalf("ensure topic: %v", err)
		}
		for _, c := range []struct {
			path   string
			code   emulator.Code
			exists bool
		}{
			{"nope", emulator.CodeNotFound, false}, {"nope/Subscriptions/x", emulator.CodeNotFound, false},
			{"t", emulator.CodeNotImplemented, true}, {"T/subscriptions/SUB", emulator.CodeNotImplemented, true},
			{"t/Subscriptions/other", emulator.CodeNotFound, true},
		} {
			_, err := b.ns.Queue(c.path)
			wantCode(t, c.path, err, c.code)
			equal(t, c.path+" exists", b.ns.Exists(c.path), c.exists)
			if c.code == emulator.CodeNotFound && !strings.HasPrefix(err.Error(), "The messaging entity '") {
				t.Errorf("text %q", err)
			}
		}
		equal(t, "Q exists", b.ns.Exists("Q"), true)
	})
}

func TestSTAT2_DisabledEntity(t *testing.T) {
	for _, c := range []struct {
		status        emulator.Status
		send, receive bool
	}{
		{emulator.StatusActive, true, true}, {emulator.StatusDisabled, false, false},
		{emulator.StatusSendDisabled, false, true}, {emulator.StatusReceiveDisabled, true, false},
	} {
		t.Run(string(c.status), func(t *testing.T) {
			bubble(t, emulator.QueueOptions{}, func(b *broker) {
				b.sendTexts("a")
				attached := b.receiver(emulator.Main, emulator.PeekLock)
				seq := b.deferOne(text("deferred"))
				b.update(func(o *emulator.QueueOptions) { o.Status = c.status })
				check := func(what string, err error, allowed bool) {
					t.Helper()
					if allowed && err != nil {
						t.Errorf("%s: %v", what, err)
					} else if !allowed {
						wantCode(t, what, err, emulator.CodeEntityDisabled)
					}
				}
				check("attach a sender", b.q.CanSend(), c.send)
				check("send on a link that is open", b.trySend(text("b")), c.send)
				check("attach a receiver", b.q.CanReceive(emulator.Main), c.receive)
				check("attach to the dead-letter queue", b.q.CanReceive(emulator.DeadLetter), c.receive)
				_, err := b.q.NewConsumer(emulator.Main, emulator.PeekLock, func() {})
				check("consume", err, c.receive)
				_, err = b.byNumber(emulator.Main, emulator.PeekLock, seq)
				check("receive by number", err, c.receive)
				equal(t, "taken on a link that is open", len(attached.take(1)) > 0, c.receive)
			})
		})
	}
}

func TestSTAT4_TimersRunOnWhileDisabled(t *testing.T) {
	bubble(t, emulator.QueueOptions{DeadLetteringOnExpiration: true}, func(b *broker) {
		b.sendTexts("locked")
		b.one()
		b.send(withTTL("expires", 2*time.Minute), at("due", soon(2*time.Minute)))
		b.update(func(o *emulator.QueueOptions) { o.Status = emulator.StatusDisabled })
		wait(2 * time.Minute)
		gs := b.peek()
		equal(t, "left", bodies(gs), "locked due")
		equalSlices(t, "delivery counts", countsOf(gs), 1, 0)
		equal(t, "expired", bodies(b.peekFrom(emulator.DeadLetter, 0, 5)), "expires")
	})
}

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
		if err := b.ns.DeleteEntity("Q"); err != nil {
			t.Fatalf("delete: %v", err)
		}
		if len(told) != 1 {
			t.Fatalf("links were told %d times", len(told))
		}
		wantCode(t, "what links are told", told[0], emulator.CodeNotFound)
		equal(t, "exists", b.ns.Exists("q"), false)
		_, err := b.ns.Queue("q")
		wantCode(t, "find", err, emulator.CodeNotFound)
		equal(t, "text", err.Error(), "The messaging entity 'q' could not be found.")
		wantCode(t, "send", b.trySend(text("x")), emulator.CodeNotFound)
		wantCode(t, "settle", b.trySettle(emulator.Complete, nil, g.token()), emulator.CodeNotFound)
		_, err = b.q.Renew(tokensOf([]*got{g}))
		wantCode(t, "renew", err, emulator.CodeNotFound)
		wantCode(t, "cancel", b.cancel(3), emulator.CodeNotFound)
		_, err = b.byNumber(emulator.Main, emulator.PeekLock, 2)
		wantCode(t, "by number", err, emulator.CodeNotFound)
		_, err = b.tryPeek(emulator.Main, 0, 1, 0, false)
		wantCode(t, "peek", err, emulator.CodeNotFound)
		equal(t, "taken on a link that is open", len(r.take(5)), 0)
		wantCode(t, "attach", b.q.CanReceive(emulator.Main), emulator.CodeNotFound)
		wantCode(t, "delete again", b.ns.DeleteEntity("q"), emulator.CodeNotFound)
		changes, _ := b.j.seen()
		wait(time.Hour) // its timers are dead
		after, _ := b.j.seen()
		equal(t, "changes in the journal after the deletion", after, changes)
	})
}

func TestDEL3_SameNameStartsAfresh(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for range 2 {
			b.sendTexts("a", "b", "c")
			b.schedule(at("later", soon(time.Minute)))
			id := b.q.ID()
			if err := b.ns.DeleteEntity("q"); err != nil {
				t.Fatalf("delete: %v", err)
			}
			q, err := b.ns.CreateQueue("q", emulator.QueueOptions{})
			if err != nil {
				t.Fatalf("create again: %v", err)
			}
			b.q = q
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
			return b.q.Peek(emulator.Main, 0, 10, 0, false, func(_ [][]byte, err error) { o <- err })
		})
		wait(time.Minute) // the activation and the end of a lock are being written too
		deleted := newOutcome()
		go func() { deleted <- b.ns.DeleteEntity("q") }()
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
		equal(t, "queues after a restart", len(b.ns.Queues()), 0)
	})
}

func TestDEL1_FailedDeletionLeavesTheQueueAlive(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.sendTexts("a")
		b.schedule(at("later", soon(time.Minute)))
		g := b.one()
		b.j.Pause()
		deleted := newOutcome()
		go func() { deleted <- b.ns.DeleteEntity("q") }()
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
		go func() { deleted <- b.ns.DeleteEntity("q") }()
		synctest.Wait()
		w.take(1) // a loop looks again, for whatever reason
		b.failOnce()
		b.j.Resume()
		if err := <-deleted; err == nil {
			t.Fatal("a deletion that could not be written succeeded")
		}
		b.sendTexts("a")
		if !w.poked() && len(told) == 0 {
			t.Error("the receiver waits for ever: it was neither poked nor told to attach again")
		}
	})
}

func TestDEC7_EnsureCreatesUpdatesAndDeletesNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		list := []emulator.EntityConfig{
			{Path: "q", Queue: &emulator.QueueOptions{LockDuration: 10 * time.Second}},
			{Path: "new", Queue: &emulator.QueueOptions{MaxDeliveryCount: 3}},
			{Path: "t", Topic: &emulator.TopicOptions{}},
		}
		if _, err := b.ns.CreateQueue("other", emulator.QueueOptions{}); err != nil {
			t.Fatalf("create queue: %v", err)
		}
		b.sendTexts("a")
		for i := range 3 {
			before, _ := b.j.seen()
			if err := b.ns.EnsureEntities(list); err != nil {
				t.Fatalf("ensure: %v", err)
			}
			after, _ := b.j.seen()
			if i > 0 {
				equal(t, "changes when all is there already", after-before, 0)
			}
			equal(t, "queues", len(b.ns.Queues()), 3)
			equal(t, "updated setting", b.q.Options().LockDuration, 10*time.Second)
			equal(t, "backlog", bodies(b.peek()), "a")
			b.restart()
		}
		for name, o := range map[string]emulator.QueueOptions{
			"RequiresSession": {RequiresSession: true}, "EnablePartitioning": {EnablePartitioning: true},
			"RequiresDuplicateDetection": {RequiresDuplicateDetection: true},
		} {
			err := b.ns.EnsureEntities([]emulator.EntityConfig{{Path: "q", Queue: &o}})
			wantCode(t, name, err, emulator.CodeArgument)
			if !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "q") {
				t.Errorf("%s: the error %q does not name the setting and the queue", name, err)
			}
			_, err = b.ns.UpdateQueue("q", o)
			wantCode(t, "update of "+name, err, emulator.CodeArgument)
		}
		err := b.ns.EnsureEntities([]emulator.EntityConfig{{Path: "t", Queue: &emulator.QueueOptions{}}})
		wantCode(t, "a queue where a topic is", err, emulator.CodeAlreadyExists)
		err = b.ns.EnsureEntities([]emulator.EntityConfig{{Path: "q", Topic: &emulator.TopicOptions{}}})
		wantCode(t, "a topic where a queue is", err, emulator.CodeAlreadyExists)
	})
}

func TestDEC7_FailedEntityChangesLeaveNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.failOnce()
		if _, err := b.ns.CreateQueue("new", emulator.QueueOptions{}); err == nil {
			t.Error("a creation that could not be written succeeded")
		}
		equal(t, "exists", b.ns.Exists("new"), false)
		b.failOnce()
		if _, err := b.ns.UpdateQueue("q", emulator.QueueOptions{MaxDeliveryCount: 3}); err == nil {
			t.Error("an update that could not be written succeeded")
		}
		equal(t, "setting", b.q.Options().MaxDeliveryCount, 0)
		_, err := b.ns.UpdateQueue("nope", emulator.QueueOptions{})
		wantCode(t, "update of a missing queue", err, emulator.CodeNotFound)
	})
}

func TestSEQ2_UpdateOfTheQueueDoesNotSetItsCounterBack(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.j.Pause()
		done := newOutcome()
		if err := b.q.Send(b.encodeAll(texts("a", "b")), done); err != nil {
			t.Fatalf("send: %v", err)
		}
		updated := newOutcome()
		go func() {
			_, err := b.ns.UpdateQueue("q", emulator.QueueOptions{MaxDeliveryCount: 5})
			updated <- err
		}()
		synctest.Wait()
		b.j.Resume()
		if err := <-updated; err != nil {
			t.Fatalf("update: %v", err)
		}
		b.receiveFrom(emulator.Main, emulator.ReceiveAndDelete, 5)
		b.restart()
		b.sendTexts("c")
		equal(t, "number after a restart", b.one().seq(), 3)
	})
}
