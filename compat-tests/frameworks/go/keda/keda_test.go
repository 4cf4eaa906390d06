// Package keda asks KEDA's scaler for Service Bus what KEDA asks it: how many messages wait, and whether a deployment of none is to start.
// It has a module of its own, so that KEDA's dependencies do not become those of Minibus.
//
// The package scalers is KEDA's own, of which an overlay of compat-tests/frameworks/go shows the two files that make up this scaler. The whole
// package has the clients of seventy other services.
package keda

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/kedacore/keda/v2/pkg/scalers/scalersconfig"

	"minibus/frameworks/keda/scalers"
)

// connect makes a client that sends to the entities that the triggers watch.
func connect(t *testing.T) *azservicebus.Client {
	t.Helper()
	client, err := azservicebus.NewClientFromConnectionString(os.Getenv("SERVICEBUS_CONNECTION_STRING"), nil)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	return client
}

// send puts messages into a queue or a topic.
func send(t *testing.T, client *azservicebus.Client, entity string, count int) {
	t.Helper()
	sender, err := client.NewSender(entity, nil)
	if err != nil {
		t.Fatalf("make a sender: %v", err)
	}
	for range count {
		if err := sender.SendMessage(t.Context(), &azservicebus.Message{Body: []byte("x")}, nil); err != nil {
			t.Fatalf("send to %s: %v", entity, err)
		}
	}
}

// trigger is the metadata of a trigger of a ScaledObject.
type trigger map[string]string

// scaler makes the scaler of a trigger. The connection comes from a variable of the deployment, as connectionFromEnv says.
func scaler(t *testing.T, metadata trigger) (scalers.Scaler, error) {
	t.Helper()
	metadata["connectionFromEnv"] = "SERVICEBUS_CONNECTION_STRING"
	s, err := scalers.NewAzureServiceBusScaler(&scalersconfig.ScalerConfig{
		ScalableObjectName: "shop", ScalableObjectNamespace: "default", ScalableObjectType: "ScaledObject",
		GlobalHTTPTimeout: 10 * time.Second, TriggerType: "azure-servicebus", TriggerMetadata: metadata,
		ResolvedEnv: map[string]string{"SERVICEBUS_CONNECTION_STRING": os.Getenv("SERVICEBUS_CONNECTION_STRING")},
	})
	if err == nil {
		t.Cleanup(func() { _ = s.Close(context.Background()) })
	}
	return s, err
}

// TestTriggers asks for what each kind of trigger shows. The queues have 3, 1 and no active messages, and one dead letter that must not count;
// the subscriptions have 2 each.
func TestTriggers(t *testing.T) {
	client := connect(t)
	send(t, client, "work-1", 4)
	send(t, client, "work-2", 1)
	send(t, client, "orders", 2)
	receiver, err := client.NewReceiverForQueue("work-1", nil)
	if err != nil {
		t.Fatalf("make a receiver: %v", err)
	}
	messages, err := receiver.ReceiveMessages(t.Context(), 1, nil)
	if err != nil || len(messages) != 1 {
		t.Fatalf("receive: %d messages, %v", len(messages), err)
	}
	if err := receiver.DeadLetterMessage(t.Context(), messages[0], nil); err != nil {
		t.Fatalf("dead-letter: %v", err)
	}
	for name, tt := range map[string]struct {
		metadata trigger
		metric   string
		count    int64
		active   bool
	}{
		"a queue":            {trigger{"queueName": "work-1", "messageCount": "2"}, "s0-azure-servicebus-work-1", 3, true},
		"an empty queue":     {trigger{"queueName": "idle"}, "s0-azure-servicebus-idle", 0, false},
		"above activation":   {trigger{"queueName": "work-1", "activationMessageCount": "2"}, "s0-azure-servicebus-work-1", 3, true},
		"below activation":   {trigger{"queueName": "work-1", "activationMessageCount": "3"}, "s0-azure-servicebus-work-1", 3, false},
		"a subscription":     {trigger{"topicName": "orders", "subscriptionName": "billing"}, "s0-azure-servicebus-orders", 2, true},
		"queues, sum":        {trigger{"queueName": "work-.*", "useRegex": "true"}, "s0-azure-servicebus-queue-regex", 4, true},
		"queues, max":        {trigger{"queueName": "work-.*", "useRegex": "true", "operation": "max"}, "s0-azure-servicebus-queue-regex", 3, true},
		"queues, avg":        {trigger{"queueName": "work-.*", "useRegex": "true", "operation": "avg"}, "s0-azure-servicebus-queue-regex", 2, true},
		"no queue matches":   {trigger{"queueName": "none.*", "useRegex": "true"}, "s0-azure-servicebus-queue-regex", 0, false},
		"subscriptions, sum": {trigger{"topicName": "orders", "subscriptionName": ".*ing", "useRegex": "true"}, "s0-azure-servicebus-topic-regex", 4, true},
		"subscriptions, max": {
			trigger{"topicName": "orders", "subscriptionName": ".*ing", "useRegex": "true", "operation": "max"}, "s0-azure-servicebus-topic-regex", 2, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := scaler(t, tt.metadata)
			if err != nil {
				t.Fatalf("make the scaler: %v", err)
			}
			spec := s.GetMetricSpecForScaling(t.Context())
			if len(spec) != 1 || spec[0].External.Metric.Name != tt.metric {
				t.Errorf("the metric is %+v, want %s", spec, tt.metric)
			}
			values, active, err := s.GetMetricsAndActivity(t.Context(), tt.metric)
			if err != nil || len(values) != 1 {
				t.Fatalf("%d values, %v", len(values), err)
			}
			if got := values[0].Value.Value(); got != tt.count || active != tt.active {
				t.Errorf("%d messages, active %v, want %d, %v", got, active, tt.count, tt.active)
			}
		})
	}
}

// A trigger that names a missing queue fails, which KEDA shows in the status of the ScaledObject.
func TestAMissingQueue(t *testing.T) {
	s, err := scaler(t, trigger{"queueName": "missing"})
	if err != nil {
		t.Fatalf("make the scaler: %v", err)
	}
	if _, active, err := s.GetMetricsAndActivity(t.Context(), "s0-azure-servicebus-missing"); err == nil || active || !strings.Contains(err.Error(), "missing") {
		t.Errorf("active %v, %v, want an error that names the queue", active, err)
	}
}
