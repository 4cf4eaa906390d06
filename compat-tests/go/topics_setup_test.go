package compat

import (
	"context"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// topicName is the topic of these tests, unless a test needs others.
const topicName = "prices"

// serveTopic runs a server with the topic and these subscriptions, and with the queues.
func serveTopic(t *testing.T, subscriptions []harness.Subscription, queues ...harness.Queue) *bench {
	t.Helper()
	return serveEntities(t, allLasting(queues), []harness.Topic{prices(subscriptions)})
}

func topicConfig(t *testing.T, subscriptions []harness.Subscription, queues ...harness.Queue) string {
	t.Helper()
	return harness.WriteTopology(t, allLasting(queues), []harness.Topic{prices(subscriptions)})
}

// prices is the topic with these subscriptions.
func prices(subscriptions []harness.Subscription) harness.Topic {
	topic := harness.Topic{Name: topicName, TimeToLive: noLimit}
	for _, s := range subscriptions {
		s.Queue = lasting(s.Queue)
		topic.Subscriptions = append(topic.Subscriptions, s)
	}
	return topic
}

// subscription returns a subscription with these rules, or with the default rule.
func subscription(name string, rules ...harness.Rule) harness.Subscription {
	return harness.Subscription{Queue: harness.Queue{Name: name}, Rules: rules}
}

// fromSub opens a receiver of a subscription of the topic.
func (b *bench) fromSub(name string) *azservicebus.Receiver {
	b.Helper()
	return b.receiverOf(topicName, name, nil)
}

// deadFromSub opens a receiver of a subscription's dead-letter queue.
func (b *bench) deadFromSub(name string) *azservicebus.Receiver {
	b.Helper()
	return b.receiverOf(topicName, name, &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter})
}

func (b *bench) receiverOf(topic, name string, o *azservicebus.ReceiverOptions) *azservicebus.Receiver {
	b.Helper()
	receiver, err := b.client.NewReceiverForSubscription(b.name(topic), name, o)
	b.must("create receiver of "+name, err)
	return receiver
}

// acceptSub takes a session of a subscription by its id.
func (b *bench) acceptSub(name, session string) *azservicebus.SessionReceiver {
	b.Helper()
	receiver, err := b.client.AcceptSessionForSubscription(b.ctx, b.name(topicName), name, session, nil)
	b.must("accept session "+session, err)
	b.Cleanup(func() { receiver.Close(context.Background()) })
	return receiver
}

// with returns a message with application properties, given as keys and values in turn.
func with(body string, properties ...any) *azservicebus.Message {
	m := message(body)
	m.ApplicationProperties = make(map[string]any)
	for i := 0; i < len(properties); i += 2 {
		m.ApplicationProperties[properties[i].(string)] = properties[i+1]
	}
	return m
}

// labelled returns the message with a subject.
func labelled(subject string, m *azservicebus.Message) *azservicebus.Message {
	m.Subject = &subject
	return m
}

// wantFrom receives exactly these messages from a subscription and completes them. It compares body, number, and the topic's number.
func (b *bench) wantFrom(name string, want ...stamps) []*azservicebus.ReceivedMessage {
	b.Helper()
	receiver := b.fromSub(name)
	messages := b.receive(receiver, len(want))
	for i, m := range messages {
		want[i].count = 1
		b.check(m, want[i])
		b.must("complete", receiver.CompleteMessage(b.ctx, m, nil))
	}
	b.wantEmpty(receiver)
	b.must("close receiver", receiver.Close(b.ctx))
	return messages
}

// wantProperty compares an application property.
func (b *bench) wantProperty(m *azservicebus.ReceivedMessage, name string, want any) {
	b.Helper()
	got := m.ApplicationProperties[name]
	if b.saw("property %s of %q is %v (%T)", name, m.Body, got, got); got != want {
		b.Errorf("property %s of %q is %v (%T), want %v (%T)", name, m.Body, got, got, want, want)
	}
}
