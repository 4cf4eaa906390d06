package amqpserver

import "testing"

func TestTXN8_ATopicAndItsSubscriptionsAreOneEntity(t *testing.T) {
	for path, want := range map[string]string{
		"Queue":                       "queue",
		"a/b":                         "a/b",
		"Topic/Subscriptions/S":       "topic",
		"a/topic/SUBSCRIPTIONS/s":     "a/topic",
		"subscriptions/x":             "subscriptions/x",
		"t/subscriptionsx/s":          "t/subscriptionsx/s",
		"/subscriptions/without-name": "/subscriptions/without-name",
	} {
		if got := rootOfPath(path); got != want {
			t.Errorf("root of %q is %q, want %q", path, got, want)
		}
	}
}
