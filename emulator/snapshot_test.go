package emulator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/emulator"
)

// seeded is a house with a namespace "orders" that has something of every kind.
func seeded(t *testing.T, f func(h *house, b *broker)) {
	t.Helper()
	list := []emulator.EntityConfig{
		{Path: "q", Queue: &emulator.QueueOptions{RequiresDuplicateDetection: true, DefaultMessageTimeToLive: 2 * time.Hour}},
		{Path: "events", Topic: &emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{
			{Name: "all"}, {Name: "marked", Rules: []emulator.RuleOptions{{Name: "r", SQL: "1=1", Action: "SET mark = 7"}}}}}},
		{Path: "sessions", Queue: &emulator.QueueOptions{RequiresSession: true}},
		{Path: "parts", Queue: &emulator.QueueOptions{EnablePartitioning: true}},
	}
	houseBubble(t, emulator.Options{}, []string{"others"}, func(h *house) {
		ns, err := h.Create("orders", emulator.NamespaceOptions{})
		if err == nil {
			err = ns.Configuration().Ensure(list)
		}
		if err != nil {
			t.Fatal(err)
		}
		b := h.in("orders")
		b.ids("one", "two", "dead")
		gs := b.receive(3)
		b.settle(emulator.Abandon, gs[0])
		b.settle(emulator.Defer, gs[1])
		b.settle(emulator.DeadLetterOutcome, gs[2])
		wait(time.Minute)
		b.send(text("without an id"), at("scheduled", now().Add(time.Hour)))
		b.on("events").sendTexts("event")
		s := b.on("sessions")
		s.send(inSession("s", "a"), inSession("t", "b"))
		s.withState("state", "s", "empty")
		b.on("parts").sendTexts("x", "y", "z")
		f(h, b)
	})
}

// disturb changes everything in the namespace.
func (b *broker) disturb() {
	b.t.Helper()
	b.ids("later")
	b.settle(emulator.Complete, b.receive(1)...)
	b.settle(emulator.Complete, b.receiveFrom(emulator.DeadLetter, emulator.PeekLock, 1)...)
	b.on("sessions").withState("other", "s", "u")
	b.on("sessions").send(inSession("s", "c"))
	b.on("events").sendTexts("another")
	b.create("new", emulator.QueueOptions{}).sendTexts("x")
	if err := b.ns.Entities().Delete("parts"); err != nil {
		b.t.Fatal(err)
	}
	b.receive(1)
}

// TestSnapshot_GivesTheSameState: messages, numbers, states of sessions and remembered ids are as they were, more than once and after a restart.
func TestSnapshot_GivesTheSameState(t *testing.T) {
	seeded(t, func(h *house, b *broker) {
		want, peeked := h.content("orders"), b.peeked(emulator.Main)+b.on("events/Subscriptions/marked").peeked(emulator.Main)
		b.receive(9) // locks are not saved
		r := save(t, b.ns, "Seeded")
		equal(t, "entities", r.Entities, 6)
		equal(t, "messages", r.Messages, int64(strings.Count(want, "message {")))
		h.in("others").sendTexts("not concerned")
		for i := range 3 {
			b.disturb()
			b = h.putBack("orders", "seeded")
			what := fmt.Sprint("after restore ", i)
			h.wantContent(what, "orders", want)
			equal(t, what, b.peeked(emulator.Main)+b.on("events/Subscriptions/marked").peeked(emulator.Main), peeked)
			if i == 1 {
				h.restart()
				b = h.in("orders")
				h.wantContent("after a restart", "orders", want)
			}
		}
		b.ids("one") // which is remembered
		b.send(text("next"))
		gs := b.receive(9)
		equal(t, "the next number", gs[len(gs)-1].seq(), 6)
		equal(t, "duplicates", bodies(gs), "one without an id next")
		equal(t, "count of an abandoned message", gs[0].count(), 1)
		equal(t, "state", b.on("sessions").stateOf("s"), "state")
		equal(t, "others", bodies(h.in("others").receive(3)), "not concerned")
	})
}

// TestSnapshot_MadeMessageIDsStayAndAreNotRepeated: the id of a message whose sender gave none is the same after a restore, and no later message has one that was
// made between the snapshot and the restore.
func TestSnapshot_MadeMessageIDsStayAndAreNotRepeated(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"orders"}, func(h *house) {
		b := h.in("orders")
		id := func(b *broker) (all []string) {
			for _, g := range b.peek() {
				all = append(all, fmt.Sprint(g.Properties.MessageID))
			}
			return all
		}
		b.sendTexts("a")
		first := id(b)
		save(t, b.ns, "s")
		seen := map[string]bool{}
		for range 3 {
			b.sendTexts("b")
			for _, x := range id(b)[1:] {
				if seen[x] {
					t.Errorf("the id %s was made twice", x)
				}
				seen[x] = true
			}
			b = h.putBack("orders", "s")
			equalSlices(t, "ids", id(b), first...)
			h.restart()
			b = h.in("orders")
			equalSlices(t, "ids after a restart", id(b), first...)
		}
	})
}

// TestSnapshot_TheClockGoesOnFromThere: what was due in an hour is due in an hour again, and what was frozen is frozen.
func TestSnapshot_TheClockGoesOnFromThere(t *testing.T) {
	seeded(t, func(h *house, b *broker) {
		saved := b.ns.Now()
		save(t, b.ns, "running")
		for _, restart := range []bool{false, true} {
			b.advance(30 * time.Minute)
			wait(3 * time.Hour)
			b = h.putBack("orders", "running")
			equal(t, "now", b.ns.Now(), saved)
			b.wantCounts(3, 1, 1, 1)
			wait(59 * time.Minute)
			if restart {
				h.restart()
				b = h.in("orders")
			}
			b.wantCounts(3, 1, 1, 1)
			wait(time.Minute)
			b.wantCounts(4, 1, 0, 1)
			wait(2 * time.Hour)
			b.wantCounts(1, 1, 0, 1)
		}
		b = h.putBack("orders", "running")
		b.steer("freeze", b.ns.Clock().Freeze)
		frozen := b.ns.Now()
		save(t, b.ns, "frozen")
		b.advance(time.Hour)
		b.steer("resume", b.ns.Clock().Resume)
		wait(time.Hour)
		b = h.putBack("orders", "frozen")
		wait(time.Hour)
		equal(t, "frozen at", b.ns.Now(), frozen)
		equal(t, "frozen", b.ns.Clock().Read().Frozen, true)
	})
}

// TestSnapshot_ClientsAttachAgain to what is there again, and learn that the rest is gone. What they held is available.
func TestSnapshot_ClientsAttachAgain(t *testing.T) {
	seeded(t, func(h *house, b *broker) {
		save(t, b.ns, "s")
		later := b.create("later", emulator.QueueOptions{})
		told := make(map[string]error)
		defer b.q.Watch(emulator.Main, func(err error) { told["q"] = err })()
		defer later.q.Watch(emulator.Main, func(err error) { told["later"] = err })()
		old, g := b.on("q"), b.one()
		w := b.begin()
		w.send(b, text("in a transaction"))
		b = h.putBack("orders", "s")
		wantCode(t, "told of what is there again", told["q"], emulator.CodeDetached)
		wantCode(t, "told of what is gone", told["later"], emulator.CodeNotFound)
		wantCode(t, "send on the old link", old.trySend(text("x")), emulator.CodeDetached)
		wantCode(t, "settle", old.trySettle(emulator.Complete, nil, g.token()), emulator.CodeDetached)
		if err := w.tryCommit(); err == nil {
			t.Error("a transaction that was open is committed")
		}
		equal(t, "available", bodies(b.receive(9)), "one without an id")
	})
}

// TestSnapshot_ThatFailsChangesNothing: neither one that can't be saved nor one that can't be restored.
func TestSnapshot_ThatFailsChangesNothing(t *testing.T) {
	seeded(t, func(h *house, b *broker) {
		want := h.content("orders")
		h.m.FailNext(1, errDisk)
		if _, err := b.ns.Snapshots().Save(context.Background(), "s", false); !errors.Is(err, errDisk) {
			t.Errorf("save: %v", err)
		}
		synctest.Wait()
		wantCode(t, "restore what was not saved", second(b.ns.Snapshots().Restore(context.Background(), "s")), emulator.CodeNotFound)
		save(t, b.ns, "s")
		wantCode(t, "save again", second(b.ns.Snapshots().Save(context.Background(), "S", false)), emulator.CodeAlreadyExists)
		for pass := range 2 {
			h.m.FailAfter(pass, errDisk)
			if _, err := b.ns.Snapshots().Restore(context.Background(), "s"); !errors.Is(err, errDisk) {
				t.Errorf("restore: %v", err)
			}
			wait(time.Second)
			h.wantContent("after a restore that failed", "orders", want)
		}
		b.sendTexts("later")
		for i := range 2 {
			if _, err := b.ns.Snapshots().Save(context.Background(), "s", true); err != nil {
				t.Fatal(err)
			}
			equal(t, fmt.Sprint("snapshots ", i), len(b.ns.Snapshots().List()), 1)
		}
		b.disturb()
		b = h.putBack("orders", "s")
		equal(t, "replaced", bodies(b.peek()), "one two without an id scheduled later")
		if err := b.ns.Snapshots().Delete("s"); err != nil {
			t.Fatal(err)
		}
		wantCode(t, "delete again", b.ns.Snapshots().Delete("s"), emulator.CodeNotFound)
		for _, name := range []string{"", "-a", "a b", "a/b", "ä", strings.Repeat("a", 51)} {
			wantCode(t, "save "+name, second(b.ns.Snapshots().Save(context.Background(), name, false)), emulator.CodeArgument)
		}
	})
}

// TestSnapshot_OfADeletedNamespace goes with it.
func TestSnapshot_OfADeletedNamespace(t *testing.T) {
	seeded(t, func(h *house, b *broker) {
		save(t, b.ns, "s")
		b.disturb()
		b = h.putBack("orders", "s")
		if err := h.Delete("orders"); err != nil {
			t.Fatal(err)
		}
		for what, err := range map[string]error{
			"save": second(b.ns.Snapshots().Save(context.Background(), "t", false)), "restore": second(b.ns.Snapshots().Restore(context.Background(), "s")), "delete": b.ns.Snapshots().Delete("s"),
		} {
			wantCode(t, what, err, emulator.CodeNotFound)
		}
		b = h.create("orders", emulator.NamespaceOptions{})
		equal(t, "snapshots of another namespace of that name", len(b.ns.Snapshots().List()), 0)
		h.restart()
	})
}

func second[T any](_ T, err error) error { return err }

// TestSnapshot_WhileClientsSend: each snapshot has a beginning of what was sent, and what was acknowledged before it was asked for.
func TestSnapshot_WhileClientsSend(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"orders"}, func(h *house) {
		b := h.in("orders")
		sent := make(chan int, 1)
		stop := make(chan struct{})
		go func() {
			n := 0
			for ; ; n++ {
				select {
				case <-stop:
					sent <- n
					return
				default:
				}
				b.send([]*goamqp.Message{text(fmt.Sprint(n))}...)
				time.Sleep(time.Millisecond)
			}
		}()
		var least []int64
		for i := range 5 {
			time.Sleep(20 * time.Millisecond)
			least = append(least, b.q.Counts().Active)
			save(t, b.ns, fmt.Sprint(i))
		}
		close(stop)
		<-sent
		for i := range 5 {
			gs := h.putBack("orders", fmt.Sprint(i)).peek()
			if int64(len(gs)) < least[i] {
				t.Errorf("snapshot %d has %d messages, %d were acknowledged", i, len(gs), least[i])
			}
			for n, g := range gs {
				equal(t, "message", g.body(), fmt.Sprint(n))
			}
		}
	})
}

// TestSnapshot_WhoAskedForItGoes: what was saved or restored so far is removed, and all is as it was.
func TestSnapshot_WhoAskedForItGoes(t *testing.T) {
	seeded(t, func(h *house, b *broker) {
		save(t, b.ns, "s")
		b.sendTexts("later")
		want := h.content("orders")
		for what, f := range map[string]func(context.Context) error{
			"save":    func(ctx context.Context) error { return second(b.ns.Snapshots().Save(ctx, "t", false)) },
			"replace": func(ctx context.Context) error { return second(b.ns.Snapshots().Save(ctx, "s", true)) },
			"restore": func(ctx context.Context) error { return second(b.ns.Snapshots().Restore(ctx, "s")) },
		} {
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			h.m.Pause()
			go func() { ended <- f(ctx) }()
			wait(time.Second)
			cancel()
			h.m.Resume()
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", what, err)
			}
			h.wantContent("after the end of a "+what, "orders", want)
			equal(t, "snapshots after the end of a "+what, len(b.ns.Snapshots().List()), 1)
		}
		b = h.putBack("orders", "s")
		equal(t, "restored", bodies(b.peek()), "one two without an id scheduled")
	})
}
