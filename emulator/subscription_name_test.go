package emulator_test

import (
	"testing"

	"minibus/emulator"
)

// A queue of such a name could not be told from the subscription.
func TestNoEntityIsCalledAsASubscription(t *testing.T) {
	bubble(t, emulator.QueueOptions{}, func(b *broker) {
		for _, path := range []string{"t/Subscriptions/s", "T/subscriptions/S", "a/b/subscriptions/s", "t/Subscriptions/s/RULES", "t/Subscriptions/s/Rules/r"} {
			_, err := b.ns.Entities().CreateQueue(path, emulator.QueueOptions{})
			wantCode(t, "queue "+path, err, emulator.CodeArgument)
			_, err = b.ns.Entities().CreateTopic(path, emulator.TopicOptions{})
			wantCode(t, "topic "+path, err, emulator.CodeArgument)
			err = b.ns.Configuration().Ensure([]emulator.EntityConfig{{Path: path, Queue: &emulator.QueueOptions{}}})
			wantCode(t, "configuration "+path, err, emulator.CodeArgument)
		}
		for _, path := range []string{"subscriptions/s", "t/subscriptions", "mysubscriptions/s", "t/subscriptions1/s", "t/Subscriptions/s/x"} {
			if _, err := b.ns.Entities().CreateQueue(path, emulator.QueueOptions{}); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	})
}

// A subscription of such a name would be at the path of a queue, or of another topic's subscription.
func TestNoSubscriptionHasASlashInItsName(t *testing.T) {
	topicBubble(t, emulator.TopicOptions{}, nil, func(b *broker) {
		for _, name := range []string{"a/b", "/", "x/Subscriptions/y"} {
			_, err := b.ns.Entities().CreateSubscription("t", emulator.SubscriptionOptions{Name: name})
			wantCode(t, name, err, emulator.CodeArgument)
		}
	})
}
