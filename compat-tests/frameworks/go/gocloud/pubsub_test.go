// Package gocloud is a program that uses the Go Cloud Development Kit with Service Bus as its users do. It has a module of its own, so
// that the framework's dependencies do not become those of Minibus.
package gocloud

import (
	"context"
	"maps"
	"testing"
	"time"

	"gocloud.dev/pubsub"
	_ "gocloud.dev/pubsub/azuresb"
)

// TestURLs sends and receives through the URLs of the framework. SERVICEBUS_CONNECTION_STRING is all that tells it where Minibus is.
func TestURLs(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	topic, err := pubsub.OpenTopic(ctx, "azuresb://orders")
	if err != nil {
		t.Fatalf("open topic: %v", err)
	}
	defer shutdown(t, "topic", topic.Shutdown)
	subscription, err := pubsub.OpenSubscription(ctx, "azuresb://orders?subscription=billing")
	if err != nil {
		t.Fatalf("open subscription: %v", err)
	}
	defer shutdown(t, "subscription", subscription.Shutdown)

	sent := &pubsub.Message{Body: []byte("tea"), Metadata: map[string]string{"shop": "Leith", "empty": ""}}
	if err := topic.Send(ctx, sent); err != nil {
		t.Fatalf("send: %v", err)
	}
	first := receive(t, ctx, subscription, sent)
	if !first.Nackable() {
		t.Fatal("a message can't be given back")
	}
	first.Nack()
	second := receive(t, ctx, subscription, sent)
	if second.LoggableID != first.LoggableID {
		t.Errorf("after Nack came message %q, want %q again", second.LoggableID, first.LoggableID)
	}
	second.Ack()
}

// receive receives one message, which must be the one that was sent.
func receive(t *testing.T, ctx context.Context, subscription *pubsub.Subscription, want *pubsub.Message) *pubsub.Message {
	t.Helper()
	got, err := subscription.Receive(ctx)
	if err != nil {
		t.Fatalf("receive: %v", err)
	}
	if string(got.Body) != string(want.Body) || !maps.Equal(got.Metadata, want.Metadata) {
		t.Errorf("received %q with %v, want %q with %v", got.Body, got.Metadata, want.Body, want.Metadata)
	}
	return got
}

func shutdown(t *testing.T, what string, close func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := close(ctx); err != nil {
		t.Errorf("shut the %s down: %v", what, err)
	}
}
