package emulator_test

import (
	"errors"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// resetBubble is a house with a namespace that has a queue "q", a topic "events" with a subscription, and the list of both.
func resetBubble(t *testing.T, f func(h *house, b *broker, list []emulator.EntityConfig)) {
	t.Helper()
	list := []emulator.EntityConfig{
		{Path: "q", Queue: &emulator.QueueOptions{ForwardDeadLetteredMessagesTo: "events", RequiresDuplicateDetection: true}},
		{Path: "events", Topic: &emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{
			{Name: "large", Rules: []emulator.RuleOptions{{Name: "amount", SQL: "amount > 1000"}}}}}},
	}
	houseBubble(t, emulator.Options{}, nil, func(h *house) {
		ns, err := h.Create("orders", emulator.NamespaceOptions{Entities: list})
		if err == nil {
			err = ns.Configuration().Ensure(list)
		}
		if err != nil {
			t.Fatal(err)
		}
		f(h, h.in("orders"), list)
	})
}

func (b *broker) reset(list []emulator.EntityConfig) {
	b.t.Helper()
	if err := b.ns.Reset(list); err != nil {
		b.t.Fatalf("reset: %v", err)
	}
	b.q = b.on("q").q
}

// wantFresh fails unless the namespace is as it was created.
func (b *broker) wantFresh() {
	b.t.Helper()
	all, _ := b.ns.Entities().Page(emulator.KindQueue, 0, 10)
	topics, _ := b.ns.Entities().Page(emulator.KindTopic, 0, 10)
	equalSlices(b.t, "queues", mapped(all, (*emulator.Entity).Path), "q")
	equalSlices(b.t, "topics", mapped(topics, (*emulator.Entity).Path), "events")
	b.wantCounts(0, 0, 0, 0)
	b.ids("id")
	g := b.one()
	equal(b.t, "first number", g.seq(), 1)
	equal(b.t, "settings", b.q.Options().ForwardDeadLetteredMessagesTo, "events")
	s, err := b.on("events/Subscriptions/large").q.Subscription()
	if err != nil {
		b.t.Fatal(err)
	}
	equal(b.t, "rule", s.Options().Rules[0].SQL, "amount > 1000")
	equal(b.t, "created", b.q.Times().Created, now().UnixMilli())
	b.settle(emulator.Complete, g)
}

// TestReset_ANamespaceIsAsItWasCreated: what was made later is gone, what was changed or deleted is back, and all is empty, also after a restart.
func TestReset_ANamespaceIsAsItWasCreated(t *testing.T) {
	resetBubble(t, func(h *house, b *broker, list []emulator.EntityConfig) {
		b.ids("id")
		b.one()
		b.ids("locked", "x", "dead")
		b.create("later", emulator.QueueOptions{}).sendTexts("x")
		b.update(func(o *emulator.QueueOptions) { o.ForwardDeadLetteredMessagesTo = "later" })
		if err := b.ns.Entities().Delete("events"); err != nil {
			t.Fatal(err)
		}
		b.advance(time.Hour)
		b.send(at("scheduled", now().Add(9*time.Hour)))
		wait(time.Minute)
		b.reset(list)
		equal(t, "ahead of the machine's clock", b.ns.Clock().Read().Ahead, 0)
		b.wantFresh()
		b.reset(b.ns.Options().Entities)
		h.restart()
		b = h.in("orders")
		equal(t, "ahead of the machine's clock", b.ns.Clock().Read().Ahead, 0)
		b.wantFresh()
	})
}

// TestReset_LeavesNothingInTheJournal of what was there.
func TestReset_LeavesNothingInTheJournal(t *testing.T) {
	bubble(t, emulator.QueueOptions{RequiresSession: true, RequiresDuplicateDetection: true}, func(b *broker) {
		b.send(inSession("s", "x"))
		if err := b.accept("s").setState([]byte("state")); err != nil {
			t.Fatal(err)
		}
		b.reset([]emulator.EntityConfig{{Path: "q", Queue: &emulator.QueueOptions{}}})
		b.sendTexts("new")
		b.verify(true)
		b.restart()
		equal(t, "after a restart", bodies(b.receive(3)), "new")
	})
}

// TestReset_ClientsAttachAgain to what is there again, and learn that the rest is gone. What was under way is refused, not lost in between.
func TestReset_ClientsAttachAgain(t *testing.T) {
	resetBubble(t, func(_ *house, b *broker, list []emulator.EntityConfig) {
		b.sendTexts("x")
		later := b.create("later", emulator.QueueOptions{})
		told := make(map[string]error)
		defer b.q.Watch(emulator.Main, func(err error) { told["q"] = err })()
		defer later.q.Watch(emulator.Main, func(err error) { told["later"] = err })()
		old := b.on("q")
		g := old.one()
		b.reset(list)
		wantCode(t, "told of what is there again", told["q"], emulator.CodeDetached)
		wantCode(t, "told of what is gone", told["later"], emulator.CodeNotFound)
		wantCode(t, "send on the old link", old.trySend(text("x")), emulator.CodeDetached)
		_, err := old.q.Renew(tokensOf([]*got{g}), nil)
		wantCode(t, "renew an old lock", err, emulator.CodeDetached)
		b.wantFresh()
	})
}

// TestReset_ThatIsRefusedOrFailsChangesNothing.
func TestReset_ThatIsRefusedOrFailsChangesNothing(t *testing.T) {
	resetBubble(t, func(h *house, b *broker, list []emulator.EntityConfig) {
		b.sendTexts("a", "b")
		b.advance(time.Hour)
		wantCode(t, "reset to what can't be", b.ns.Reset([]emulator.EntityConfig{{Path: "q", Queue: &emulator.QueueOptions{ForwardTo: "missing"}}}), emulator.CodeArgument)
		b.sendTexts("c")
		h.m.FailNext(1, errDisk)
		if err := b.ns.Reset(list); !errors.Is(err, errDisk) {
			t.Errorf("error %v", err)
		}
		wait(time.Second)
		equal(t, "ahead of the machine's clock", b.ns.Clock().Read().Ahead, time.Hour)
		b.sendTexts("d")
		gs := b.receive(5)
		equal(t, "received", bodies(gs), "a b c d")
		equal(t, "the last number", gs[3].seq(), 4)
		h.restart()
		b = h.in("orders")
		equal(t, "after a restart", bodies(b.receive(5)), "a b c d")
		if err := h.Delete("orders"); err != nil {
			t.Fatal(err)
		}
		wantCode(t, "reset what is deleted", b.ns.Reset(list), emulator.CodeNotFound)
	})
}

// TestReset_WhileClientsSend: each send is answered, and what was acknowledged after the reset is there.
func TestReset_WhileClientsSend(t *testing.T) {
	resetBubble(t, func(_ *house, b *broker, list []emulator.EntityConfig) {
		done := make(chan int)
		go func() {
			kept := 0
			for range 200 {
				q, err := b.ns.Entity("q")
				if err != nil {
					t.Errorf("the queue is missing: %v", err)
					break
				}
				x := &broker{t: b.t, j: b.j, ns: b.ns, q: q}
				sent := newOutcome()
				err = q.Send(x.encodeAll([]*goamqp.Message{text("x")}), sent)
				if err == nil {
					err = <-sent
				}
				if err == nil {
					kept++
				}
				time.Sleep(time.Millisecond)
			}
			done <- kept
		}()
		for range 5 {
			time.Sleep(20 * time.Millisecond)
			if err := b.ns.Reset(list); err != nil {
				t.Error(err)
			}
		}
		kept := <-done
		b.q = b.on("q").q
		if n := b.q.Counts().Active; n == 0 || n >= int64(kept) {
			t.Errorf("%d messages are there, %d were acknowledged in all", n, kept)
		}
		b.verify(false)
	})
}

// TestALifeBeginsAfterTheReset while the events from before stay in the record.
func TestALifeBeginsAfterTheReset(t *testing.T) {
	list := []emulator.EntityConfig{{Path: "q", Queue: &emulator.QueueOptions{}}}
	houseBubble(t, recorded(), []string{"orders"}, func(h *house) {
		b := h.in("orders")
		m := text("x")
		m.Properties = properties("id")
		b.advance(time.Hour)
		b.send(m)
		equal(t, "life before", len(b.life("id")), 1)
		b.reset(list)
		equal(t, "life after the reset", len(b.life("id")), 0)
		b.send(m)
		equalSlices(t, "life", b.life("id"), "sent q 1")
		n := 0
		events, _ := b.ns.History().Events(0, emulator.EventFilter{MessageID: "id"})
		for range events {
			n++
		}
		equal(t, "events in the record", n, 2)
	})
}
