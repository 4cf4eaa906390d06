package sbtest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

func TestOrders(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client, err := azservicebus.NewClientFromConnectionString(bus.ConnectionString(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(t.Context())
	sender, err := client.NewSender("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	go takeOrders(t.Context(), client)

	order := &azservicebus.Message{MessageID: new("order-7"), Body: []byte("one coffee")}
	if err := sender.SendMessage(t.Context(), order, nil); err != nil {
		t.Fatal(err)
	}
	bus.WaitFor(t, sbtest.Idle("orders"))
	if letters := bus.DeadLetters(t, "orders"); len(letters) != 1 || letters[0].DeadLetterReason != "no price" {
		t.Errorf("the dead letters are %v", letters)
	}

	soon := bus.Now().Add(time.Hour)
	reminder := &azservicebus.Message{MessageID: new("reminder"), Body: []byte("2 euros"), ScheduledEnqueueTime: &soon}
	if err := sender.SendMessage(t.Context(), reminder, nil); err != nil {
		t.Fatal(err)
	}
	bus.Advance(time.Hour)
	bus.WaitFor(t, sbtest.Idle("orders"))
	if history := bus.History(t, "reminder"); history[len(history)-1].Kind != sbtest.EventCompleted {
		t.Errorf("the reminder was not completed: %v", history)
	}
}

// takeOrders is the program under test.
func takeOrders(ctx context.Context, client *azservicebus.Client) {
	receiver, err := client.NewReceiverForQueue("orders", nil)
	for err == nil {
		var messages []*azservicebus.ReceivedMessage
		messages, err = receiver.ReceiveMessages(ctx, 1, nil)
		for _, m := range messages {
			if strings.Contains(string(m.Body), "euros") {
				err = receiver.CompleteMessage(ctx, m, nil)
			} else {
				why := &azservicebus.DeadLetterOptions{Reason: new("no price")}
				err = receiver.DeadLetterMessage(ctx, m, why)
			}
		}
	}
}
