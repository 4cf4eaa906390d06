package sbtest_test

import (
	"errors"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// Azure throttles the program twice. Does it try again?
func ExampleNamespace_Inject() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client := newClient(bus)
	f := bus.Inject(t, sbtest.Fault{Kind: sbtest.Throttle, Entity: "orders", Count: 2})
	publish(client, "orders", &azservicebus.Message{Body: []byte("two coffees")})
	fmt.Println("refused", f.Hits(), "times, and sent")
	// Output: refused 2 times, and sent
}

// The program loses the lock while it works on a message.
func ExampleNamespace_Inject_lostLock() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client := newClient(bus)
	publish(client, "orders", &azservicebus.Message{Body: []byte("two coffees")})
	receiver, err := client.NewReceiverForQueue("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	bus.Inject(t, sbtest.Fault{Kind: sbtest.LoseLock, Count: 1})
	for range 2 {
		messages, err := receiver.ReceiveMessages(t.Context(), 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = receiver.CompleteMessage(t.Context(), messages[0], nil)
		var failure *azservicebus.Error
		if errors.As(err, &failure) {
			fmt.Println(failure.Code)
		} else {
			fmt.Println("completed at delivery", messages[0].DeliveryCount)
		}
	}
	// Output:
	// locklost
	// completed at delivery 2
}

// The answer to a send is lost, so the SDK sends again: the queue needs duplicate detection.
func ExampleNamespace_Inject_lostAnswer() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"}, sbtest.Queue{Name: "once", RequiresDuplicateDetection: true})
	client := newClient(bus)
	for _, name := range []string{"orders", "once"} {
		sends := []sbtest.Operation{sbtest.Send}
		bus.Inject(t, sbtest.Fault{Kind: sbtest.Drop, Operations: sends, Entity: name, After: true, Count: 1})
		publish(client, name, &azservicebus.Message{MessageID: new("order 1")})
		fmt.Println(name, bus.Counts(t, name).Active)
	}
	// Output:
	// orders 2
	// once 1
}
