package mgmt

import (
	"testing"

	"minibus/emulator"
	"minibus/mgmt/control"
)

// TestControlAPISaysHowToWriteTheSubscription that a path means, and how to write its slashes.
func TestControlAPISaysHowToWriteTheSubscription(t *testing.T) {
	a := controlAPI(t)
	if _, err := a.bus.ns.CreateTopic("events", emulator.TopicOptions{Subscriptions: []emulator.SubscriptionOptions{{Name: "large"}}}); err != nil {
		t.Fatal(err)
	}
	const hint = "The path of the subscription is events/Subscriptions/large, in a URL with each slash as %2F."
	wants(t, a.as("root", "GET", inDefault+"events%2Flarge", ""), 404, hint)
	wants(t, a.as("root", "GET", inDefault+"events%2Flarge%2F$DeadLetterQueue/messages", ""), 404, hint)
	wants(t, a.as("root", "GET", inDefault+"events%2FSubscriptions%2Flarge", ""), 200)
	wants(t, a.as("root", "GET", control.Prefix+"namespaces/default", ""), 404, "Do you mean $default?")
}
