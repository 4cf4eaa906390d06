package emulator_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

func TestBroker_DeletingTakesANamespaceAndLeavesTheOthers(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"orders", "stocks"}, func(h *house) {
		orders, stocks := h.in("orders"), h.in("stocks")
		var told []error
		for _, b := range []*broker{orders, stocks} {
			b.sendTexts("a", "b")
			b.send(at("scheduled", now().Add(time.Hour)), withTTL("expires", time.Hour))
			b.q.Watch(emulator.Main, func(err error) { told = append(told, err) })
		}
		held, other := orders.one(), stocks.one()
		topic, err := orders.ns.Entities().CreateTopic("t", emulator.TopicOptions{Subscriptions: named("s")})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Delete("Orders"); err != nil {
			t.Fatal(err)
		}
		equal(t, "gone", isGone(orders.ns), true)
		equal(t, "the other one gone", isGone(stocks.ns), false)
		equal(t, "told", len(told), 1)
		wantCode(t, "what a link was told", told[0], emulator.CodeNotFound)
		equalSlices(t, "namespaces", h.names(), "sbemulatorns", "stocks")
		_, err = h.Find("orders.localhost", 0)
		wantCode(t, "find", err, emulator.CodeNotFound)

		// Those who have it still can do nothing with it.
		wantCode(t, "send", orders.trySend(text("x")), emulator.CodeNotFound)
		wantCode(t, "settle", orders.trySettle(emulator.Complete, nil, held.token()), emulator.CodeNotFound)
		_, err = orders.ns.Entities().CreateQueue("new", emulator.QueueOptions{})
		wantCode(t, "create a queue", err, emulator.CodeNotFound)
		_, err = orders.ns.Entities().CreateSubscription("t", emulator.SubscriptionOptions{Name: "s2"})
		wantCode(t, "create a subscription", err, emulator.CodeNotFound)
		wantCode(t, "configure", orders.ns.Configuration().Ensure([]emulator.EntityConfig{{Path: "new", Queue: &emulator.QueueOptions{}}}), emulator.CodeNotFound)
		_, err = orders.ns.Entity("q")
		wantCode(t, "find a queue", err, emulator.CodeNotFound)
		wantCode(t, "send to a topic", topic.CanSend(), emulator.CodeNotFound)
		wantCode(t, "update", h.Update("orders", emulator.NamespaceOptions{}), emulator.CodeNotFound)
		wantCode(t, "delete again", h.Delete("orders"), emulator.CodeNotFound)

		stocks.settle(emulator.Complete, other)
		wait(2 * time.Hour)
		equal(t, "in the other one", bodies(stocks.drain()), "b scheduled")
		messages, _ := h.m.Stored()
		equal(t, "stored messages", messages, 0)

		// The name is free, its numbers begin anew, and its id is another.
		again := h.create("orders", emulator.NamespaceOptions{})
		again.sendTexts("new")
		equalSlices(t, "numbers", seqsOf(again.peek()), int64(1))
		equal(t, "namespace of the new queue", emulator.NamespaceOf(again.q.ID()), 4)
		h.restart()
		equal(t, "after a restart", bodies(h.in("orders").peek()), "new")
	})
}

func TestBroker_AnIdIsNeverUsedAgain(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"orders"}, func(h *house) {
		if err := h.Delete("orders"); err != nil {
			t.Fatal(err)
		}
		h.restart()
		equal(t, "namespace of a new queue", emulator.NamespaceOf(h.create("stocks", emulator.NamespaceOptions{}).q.ID()), 3)
	})
}

func TestBroker_TheDefaultNamespaceStays(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"orders"}, func(h *house) {
		wantCode(t, "delete", h.Delete("SbEmulatorNs"), emulator.CodeNotAllowed)
		wantCode(t, "delete what is not there", h.Delete("stocks"), emulator.CodeNotFound)
		equalSlices(t, "namespaces", h.names(), "orders", "sbemulatorns")
	})
}

func TestBroker_OfTwoDeletionsOneFindsNothing(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"orders"}, func(h *house) {
		ns := h.in("orders").ns
		h.m.Pause()
		first, second, update := newOutcome(), newOutcome(), newOutcome()
		go func() { first <- h.Delete("orders") }()
		synctest.Wait()
		go func() { second <- h.Delete("orders") }()
		go func() { update <- h.Update("orders", emulator.NamespaceOptions{}) }()
		equal(t, "gone before the commit", isGone(ns), false)
		_, err := h.Create("orders", emulator.NamespaceOptions{})
		wantCode(t, "create meanwhile", err, emulator.CodeAlreadyExists)
		h.m.Resume()
		equal(t, "first", <-first, nil)
		wantCode(t, "second", <-second, emulator.CodeNotFound)
		wantCode(t, "update", <-update, emulator.CodeNotFound)
	})
}

func TestBroker_ADeletionThatFailsLeavesEverything(t *testing.T) {
	houseBubble(t, emulator.Options{}, []string{"orders"}, func(h *house) {
		b := h.in("orders")
		topic, err := b.ns.Entities().CreateTopic("t", emulator.TopicOptions{Subscriptions: named("s")})
		if err != nil {
			t.Fatal(err)
		}
		b.create("source", emulator.QueueOptions{ForwardTo: "q"})
		b.sendTexts("a", "b")
		b.send(at("scheduled", now().Add(time.Minute)), withTTL("expires", 2*time.Minute))
		held := b.one()
		r := b.receiver(emulator.Main, emulator.ReceiveAndDelete)
		taken := r.pull(1)
		synctest.Wait()
		var told []error
		b.q.Watch(emulator.Main, func(err error) { told = append(told, err) })

		h.m.FailNext(1, errDisk)
		equal(t, "delete", h.Delete("orders"), errDisk)
		synctest.Wait()
		equal(t, "gone", isGone(b.ns), false)
		wantCode(t, "what links are told", errors.Join(told...), emulator.CodeDetached)
		taken[0].Return()
		synctest.Wait()
		equal(t, "given back, and what was there", bodies(b.peek()), "a b scheduled expires")
		b.settle(emulator.Complete, held)
		b.on("source").sendTexts("forwarded")
		sent := *b
		sent.q = topic.Entity
		sent.sendTexts("copy")
		equal(t, "in the subscription", bodies(b.on("t/Subscriptions/s").drain()), "copy")
		wait(time.Hour)
		equal(t, "an hour later", bodies(b.drain()), "b forwarded scheduled")
		for _, fault := range b.ns.Verify() {
			t.Error(fault)
		}
		if err := h.Delete("orders"); err != nil {
			t.Errorf("another try: %v", err)
		}
	})
}

// TestBroker_NothingIsWrittenForANamespaceThatIsGone deletes one in the middle of what a broker does by itself. A change that came
// afterwards would fail, and be told in the log.
func TestBroker_NothingIsWrittenForANamespaceThatIsGone(t *testing.T) {
	var lines strings.Builder
	o := emulator.Options{Logger: slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	houseBubble(t, o, []string{"orders"}, func(h *house) {
		b := h.in("orders")
		source := b.create("source", emulator.QueueOptions{ForwardTo: "q"})
		topic, err := b.ns.Entities().CreateTopic("t", emulator.TopicOptions{Subscriptions: named("a", "b")})
		if err != nil {
			t.Fatal(err)
		}
		publisher := *b
		publisher.q = topic.Entity
		publisher.sendTexts("copy", "copy that is completed")
		copies := [2]*got{b.on("t/Subscriptions/a").receive(2)[1], b.on("t/Subscriptions/b").receive(2)[1]}
		b.sendTexts("given back", "given back too", "stays")
		taken := b.receiver(emulator.Main, emulator.ReceiveAndDelete).pull(1)
		b.send(at("scheduled", now().Add(time.Minute)), withTTL("expires", time.Minute))
		h.m.Pause()
		taken = append(taken, b.receiver(emulator.Main, emulator.ReceiveAndDelete).pull(1)...)
		for _, x := range []*broker{source, &publisher} { // forwarded, and copied, when the commits go on
			if err := x.q.Send(b.encodeAll(texts("under way")), newOutcome()); err != nil {
				t.Fatal(err)
			}
		}
		for i, name := range []string{"a", "b"} { // the body goes with the one that is completed last
			one := []emulator.LockToken{copies[i].token()}
			if err := b.on("t/Subscriptions/"+name).q.Settle(one, emulator.Settlement{Outcome: emulator.Complete}, newOutcome()); err != nil {
				t.Fatal(err)
			}
		}
		done := newOutcome()
		go func() { done <- h.Delete("orders") }()
		synctest.Wait()
		for _, d := range taken {
			d.Return()
		}
		h.m.Resume()
		equal(t, "delete", <-done, nil)
		wait(time.Hour)
		messages, stored := h.m.Stored()
		equal(t, "stored messages", messages, 0)
		equal(t, "stored bodies", stored, 0)
		equal(t, "told in the log", lines.String(), "")
		all, own := b.q.InMemory().Bodies()
		equal(t, "bytes in memory", all+own, 0)
	})
}
