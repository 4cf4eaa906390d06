package emulator_test

import (
	"testing"

	"minibus/emulator"
)

// Those who keep something of an entity hear of its end, whatever it is, and see by then what is there instead.
func TestBroker_TellsOfWhatIsDeleted(t *testing.T) {
	var told []string
	o := emulator.Options{Deleted: func(ns *emulator.Namespace) {
		left := ns.Name()
		for _, path := range []string{"q", "events"} {
			if _, ok := ns.Kind(path); ok {
				left += " " + path
			}
		}
		told = append(told, left)
	}}
	list := []emulator.EntityConfig{
		{Path: "q", Queue: &emulator.QueueOptions{}},
		{Path: "events", Topic: &emulator.TopicOptions{Subscriptions: named("large")}},
	}
	houseBubble(t, o, []string{"orders"}, func(h *house) {
		ns := h.in("orders").ns
		step := func(what string, err error, want ...string) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			equalSlices(t, what, told, want...)
			told = nil
		}
		step("an empty beginning", ns.Reset(list), "orders q events")
		step("a reset", ns.Reset(list), "orders q events")
		step("a subscription", ns.Entities().Delete("events/Subscriptions/large"), "orders q events")
		step("a topic", ns.Entities().Delete("events"), "orders q")
		_, err := ns.Configuration().Apply(list[1:], true)
		step("a configuration that deletes", err, "orders events")
		step("nothing", ns.Configuration().Ensure(list))
		step("a namespace", h.Delete("orders"), "orders", "orders")
	})
}
