package emulator_test

import (
	"errors"
	"testing"
	"testing/synctest"

	"minibus/emulator"
)

// TestBroker_ANamespaceComesWithItsEntities by one change: whichever commit fails, it is there with all of them, or not at all.
func TestBroker_ANamespaceComesWithItsEntities(t *testing.T) {
	list := []emulator.EntityConfig{
		{Path: "q", Queue: &emulator.QueueOptions{ForwardTo: "events"}},
		{Path: "events", Topic: &emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{withRules("audit", sql("all", "1=1"))}}},
		{Path: "last", Queue: &emulator.QueueOptions{RequiresSession: true}},
	}
	for n := range 4 {
		houseBubble(t, emulator.Options{}, nil, func(h *house) {
			h.m.FailAfter(n, errors.New("no room"))
			_, err := h.Create("orders", emulator.NamespaceOptions{Entities: list})
			h.m.FailNext(0, nil)
			if (err != nil) != (n == 0) {
				t.Fatalf("the commit after %d fails: %v", n, err)
			}
			for range 2 { // before and after a restart
				if err != nil {
					equalSlices(t, "namespaces", h.names(), "sbemulatorns")
				} else {
					h.wantEntities("orders", "last", "q", "events", "events/Subscriptions/audit")
				}
				h.restart()
			}
			if err != nil { // the name is free
				if _, err := h.Create("orders", emulator.NamespaceOptions{Entities: list}); err != nil {
					t.Fatal(err)
				}
				return
			}
			b := h.in("orders")
			b.on("q").sendTexts("forwarded")
			synctest.Wait()
			equal(t, "forwarded", bodies(b.on("events/Subscriptions/audit").peek()), "forwarded")
		})
	}
}

// TestBroker_ANamespaceWithARefusedEntityIsNotThere, and nor are the entities before it.
func TestBroker_ANamespaceWithARefusedEntityIsNotThere(t *testing.T) {
	houseBubble(t, emulator.Options{}, nil, func(h *house) {
		commits := h.m.Commits()
		_, err := h.Create("orders", emulator.NamespaceOptions{Entities: []emulator.EntityConfig{
			{Path: "q", Queue: &emulator.QueueOptions{}}, {Path: "last", Queue: &emulator.QueueOptions{ForwardTo: "nowhere"}}}})
		wantCode(t, "create", err, emulator.CodeArgument)
		equal(t, "commits", h.m.Commits(), commits)
		equalSlices(t, "namespaces", h.names(), "sbemulatorns")
	})
}

// wantEntities compares the paths of a namespace: of queues, of topics with their subscriptions.
func (h *house) wantEntities(name string, want ...string) {
	h.t.Helper()
	ns, err := h.Namespace(name)
	if err != nil {
		h.t.Fatal(err)
	}
	var got []string
	for _, q := range ns.Entities().Queues() {
		got = append(got, q.Path())
	}
	for _, topic := range ns.Entities().Topics() {
		got = append(got, topic.Path())
		list, err := ns.Entities().Subscriptions(topic.Path())
		if err != nil {
			h.t.Fatal(err)
		}
		for _, s := range list {
			got = append(got, s.Path())
		}
	}
	equalSlices(h.t, "entities of "+name, got, want...)
}
