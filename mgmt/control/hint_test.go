package control_test

import (
	"strings"
	"testing"

	"minibus/emulator"
	"minibus/mgmt/control"
)

// TestControlAPISaysHowToWriteTheSubscription that a path means, and how to write its slashes.
func TestControlAPISaysHowToWriteTheSubscription(t *testing.T) {
	a := controlAPI(t)
	if _, err := a.bus.ns.Entities().CreateTopic("events", emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{{Name: "large"}}}); err != nil {
		t.Fatal(err)
	}
	const hint = "The path of the subscription is events/Subscriptions/large, in a URL with each slash as %2F."
	wants(t, a.as("root", "GET", inDefault+"events%2Flarge", ""), 404, hint)
	wants(t, a.as("root", "GET", inDefault+"events%2Flarge%2F$DeadLetterQueue/messages", ""), 404, hint)
	wants(t, a.as("root", "GET", inDefault+"events%2FSubscriptions%2Flarge", ""), 200)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/default", ""), 404, "Do you mean $default?")
}

// TestControlAPIGuessesTheEntity that a path means which names none.
func TestControlAPIGuessesTheEntity(t *testing.T) {
	a := controlAPI(t)
	if _, err := a.bus.ns.Entities().CreateTopic("events", emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{{Name: "large"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.bus.ns.Entities().CreateQueue("Parcels", emulator.QueueOptions{}); err != nil {
		t.Fatal(err)
	}
	for path, guess := range map[string]string{
		"parcles": "Did you mean parcels?", "parcles%2F$DeadLetterQueue/why": "Did you mean parcels?", "evnts/why": "Did you mean events?",
		"events%2FSubscriptions%2Flrge/messages": "Did you mean events/Subscriptions/large?", "events%2Flrge": "Did you mean events/Subscriptions/large?",
	} {
		wants(t, a.as("root", "GET", inDefault+path, ""), 404, guess)
	}
	wants(t, a.as("root", "POST", control.Prefix+"namespaces/$default/faults", `{"kind": "throttle", "entity": "parcles"}`), 404, "Did you mean parcels?")
	wants(t, a.as("root", "PATCH", inDefault+"parcles", `{}`), 404, "Did you mean parcels?")
	if answer := a.as("root", "GET", inDefault+"unlike", ""); strings.Contains(answer.Body.String(), "Did you mean") {
		t.Errorf("a path that is like none: %s", answer.Body)
	}
}
