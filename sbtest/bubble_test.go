package sbtest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// TestReminder is what docs/go.md shows: the obvious code in a bubble.
func TestReminder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.Queue{Name: "reminders"})
		client, err := azservicebus.NewClientFromConnectionString(bus.ConnectionString(), &azservicebus.ClientOptions{
			NewWebSocketConn: sbtest.InMemory[azservicebus.NewWebSocketConnArgs](bus),
		})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close(t.Context())
		soon := time.Now().Add(5 * time.Minute)
		bus.Send(t, "reminders", sbtest.Message{Body: []byte("it begins"), ScheduledEnqueueTime: soon})
		receiver, err := client.NewReceiverForQueue("reminders", nil)
		if err != nil {
			t.Fatal(err)
		}
		messages, err := receiver.ReceiveMessages(t.Context(), 1, nil) // waits for five minutes, which take no time
		if err != nil || len(messages) != 1 || time.Now().Before(soon) {
			t.Errorf("received %v at %v: %v", messages, time.Now(), err)
		}
	})
}

// TestBubble_AClientThatDialsTheNetworkFails, and does not wait for ever, or reach another Minibus at the usual port.
func TestBubble_AClientThatDialsTheNetworkFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
		client, err := azservicebus.NewClientFromConnectionString(bus.ConnectionString(), nil)
		if err != nil {
			t.Fatal(err)
		}
		sender, err := client.NewSender("orders", nil)
		if err == nil {
			err = sender.SendMessage(t.Context(), &azservicebus.Message{}, nil)
		}
		if err == nil {
			t.Error("it has sent a message")
		}
		t.Log(err)
	})
}
