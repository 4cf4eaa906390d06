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
		if err := b.ns.Configuration().Ensure([]emulator.EntityConfig{{Path: "t", Topic: &emulator.TopicOptions{}}}); err != nil {
			t.Fatalf("ensure topic: %v", err)
		}
		for _, path := range []string{"q", "Q", "t", "T"} {
			_, err := b.ns.Entities().CreateQueue(path, emulator.QueueOptions{})
			wantCode(t, "create "+path, err, emulator.CodeAlreadyExists)
		}
	})
}

func TestERR4_UnknownEntity(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		topic := emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{{Name: "Sub"}}}
		if err := b.ns.Configuration().Ensure([]emulator.EntityConfig{{Path: "t", Topic: &topic}}); err != nil {
			t.Fatalf("ensure topic: %v", err)
		}
		for _, c := range []struct {
			path, name string
			exists     bool
		}{
			{"nope", "nope", false}, {"nope/Subscriptions/x", "nope/Subscriptions/x", false}, {"q/Subscriptions/x", "q/Subscriptions/x", false},
			{"T/Subscriptions/Other", "sbemulatorns:Topic:t|Other", true}, {"t/subscriptions/", "sbemulatorns:Topic:t|", true},
		} {
			_, err := b.ns.Entity(c.path)
			wantCode(t, c.path, err, emulator.CodeNotFound)
			equal(t, c.path+" exists", b.ns.Exists(c.path), c.exists)
			equal(t, "text", err.Error(), "The messaging entity '"+c.name+"' could not be found.")
		}
		for path, kind := range map[string]emulator.EntityKind{
			"Q": emulator.KindQueue, "T": emulator.KindTopic, "T/subscriptions/SUB": emulator.KindSubscription,
		} {
			q, err := b.ns.Entity(path)
			if err != nil || q.Kind() != kind || !b.ns.Exists(path) {
				t.Errorf("%s: %v, %v, exists %v", path, q, err, b.ns.Exists(path))
			}
		}
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

func TestDEC7_EnsureCreatesUpdatesAndDeletesNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		list := []emulator.EntityConfig{
			{Path: "q", Queue: &emulator.QueueOptions{LockDuration: 10 * time.Second}},
			{Path: "new", Queue: &emulator.QueueOptions{MaxDeliveryCount: 3}},
			{Path: "t", Topic: &emulator.TopicOptions{}},
		}
		if _, err := b.ns.Entities().CreateQueue("other", emulator.QueueOptions{}); err != nil {
			t.Fatalf("create queue: %v", err)
		}
		b.sendTexts("a")
		for i := range 3 {
			before, _ := b.j.seen()
			if err := b.ns.Configuration().Ensure(list); err != nil {
				t.Fatalf("ensure: %v", err)
			}
			after, _ := b.j.seen()
			if i > 0 {
				equal(t, "changes when all is there already", after-before, 0)
			}
			equal(t, "queues", len(b.ns.Entities().Queues()), 3)
			equal(t, "updated setting", b.q.Options().LockDuration, 10*time.Second)
			equal(t, "backlog", bodies(b.peek()), "a")
			b.restart()
		}
		for name, o := range map[string]emulator.QueueOptions{
			"RequiresSession": {RequiresSession: true}, "EnablePartitioning": {EnablePartitioning: true},
			"RequiresDuplicateDetection": {RequiresDuplicateDetection: true},
		} {
			err := b.ns.Configuration().Ensure([]emulator.EntityConfig{{Path: "q", Queue: &o}})
			wantCode(t, name, err, emulator.CodeArgument)
			if !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "q") {
				t.Errorf("%s: the error %q does not name the setting and the queue", name, err)
			}
			_, err = b.ns.Entities().UpdateQueue("q", o)
			wantCode(t, "update of "+name, err, emulator.CodeArgument)
		}
		err := b.ns.Configuration().Ensure([]emulator.EntityConfig{{Path: "t", Queue: &emulator.QueueOptions{}}})
		wantCode(t, "a queue where a topic is", err, emulator.CodeAlreadyExists)
		err = b.ns.Configuration().Ensure([]emulator.EntityConfig{{Path: "q", Topic: &emulator.TopicOptions{}}})
		wantCode(t, "a topic where a queue is", err, emulator.CodeAlreadyExists)
	})
}

func TestDEC7_FailedEntityChangesLeaveNothing(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		b.failOnce()
		if _, err := b.ns.Entities().CreateQueue("new", emulator.QueueOptions{}); err == nil {
			t.Error("a creation that could not be written succeeded")
		}
		equal(t, "exists", b.ns.Exists("new"), false)
		b.failOnce()
		if _, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{MaxDeliveryCount: 3}); err == nil {
			t.Error("an update that could not be written succeeded")
		}
		equal(t, "setting", b.q.Options().MaxDeliveryCount, 0)
		_, err := b.ns.Entities().UpdateQueue("nope", emulator.QueueOptions{})
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
			_, err := b.ns.Entities().UpdateQueue("q", emulator.QueueOptions{MaxDeliveryCount: 5})
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
