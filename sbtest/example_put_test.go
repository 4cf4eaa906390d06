package sbtest_test

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

func ExampleNamespace_PutRule() {
	const large = "events/Subscriptions/large"
	bus := sbtest.Start(t, sbtest.Topic{Name: "events", Subscriptions: []sbtest.Subscription{
		{Name: "large", Rules: []sbtest.Rule{{SQL: "amount > 1000"}}},
	}})
	client := newClient(bus)
	amount := map[string]any{"amount": 500}
	publish(client, "events", &azservicebus.Message{Body: []byte("not large"), ApplicationProperties: amount})

	// The limit is lowered while the program runs.
	bus.PutRule(t, large, sbtest.Rule{SQL: "amount >= 500"})
	publish(client, "events", &azservicebus.Message{Body: []byte("large"), ApplicationProperties: amount})

	fmt.Println(bus.Counts(t, large).Active, "message")
	// Output: 1 message
}

func ExampleNamespace_Put() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client := newClient(bus)
	publish(client, "orders", &azservicebus.Message{Body: []byte("two coffees")})

	// The queue is changed under the program, and another one comes to forward to it.
	bus.Put(t, sbtest.Queue{Name: "orders", MaxDeliveryCount: 1}, sbtest.Queue{Name: "web", ForwardTo: "orders"})
	receiver, err := client.NewReceiverForQueue("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := receiver.ReceiveMessages(t.Context(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := receiver.AbandonMessage(t.Context(), messages[0], nil); err != nil {
		t.Fatal(err)
	}
	fmt.Println(bus.Counts(t, "orders").DeadLetter, "dead letter")
	// Output: 1 dead letter
}

func ExampleNamespace_DeleteRule() {
	bus := sbtest.Start(t, sbtest.Topic{Name: "events", Subscriptions: []sbtest.Subscription{{Name: "all"}}})
	client := newClient(bus)

	// A subscription without rules takes nothing.
	bus.DeleteRule(t, "events/Subscriptions/all", "$Default")
	publish(client, "events", &azservicebus.Message{Body: []byte("two coffees")})

	// The program goes on when the subscription is gone.
	bus.Delete(t, "events/Subscriptions/all")
	publish(client, "events", &azservicebus.Message{Body: []byte("two coffees")})
	fmt.Println(bus.Exists("events/Subscriptions/all"))
	// Output: false
}
