package sbtest_test

import (
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// program is a worker that completes good orders and dead-letters the others.
func program(client *azservicebus.Client, queue string) {
	receiver, err := client.NewReceiverForQueue(queue, nil)
	for err == nil {
		var messages []*azservicebus.ReceivedMessage
		if messages, err = receiver.ReceiveMessages(t.Context(), 10, nil); err != nil {
			return
		}
		for _, m := range messages {
			if string(m.Body) == "two coffees" {
				err = receiver.CompleteMessage(t.Context(), m, nil)
			} else {
				why := &azservicebus.DeadLetterOptions{Reason: new("unknown article")}
				err = receiver.DeadLetterMessage(t.Context(), m, why)
			}
		}
	}
}

// Where did the message go?
func ExampleNamespace_History() {
	kitchen := sbtest.Subscription{Name: "kitchen", ForwardTo: "work"}
	bus := sbtest.Start(t,
		sbtest.Topic{Name: "orders", Subscriptions: []sbtest.Subscription{kitchen}},
		sbtest.Queue{Name: "work"})
	client := newClient(bus)
	go program(client, "work")
	publish(client, "orders", &azservicebus.Message{MessageID: new("order-7"), Body: []byte("a caek")})
	bus.WaitFor(t, sbtest.Exactly("work", sbtest.CountedDeadLetter, 1))

	for _, e := range bus.History(t, "order-7") {
		fmt.Printf("%s: %s\n", e.Entity, e.Kind)
	}
	// Output:
	// orders: sent
	// orders/Subscriptions/kitchen: copied
	// orders/Subscriptions/kitchen: forwarded
	// work: forwarded here
	// work: delivered
	// work: dead-lettered
}

// A message without an id of its own is named by its number.
func ExampleNamespace_HistoryOf() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client := newClient(bus)
	go program(client, "orders")
	publish(client, "orders", &azservicebus.Message{Body: []byte("two coffees")})
	bus.WaitFor(t, sbtest.Idle("orders"))
	for _, e := range bus.HistoryOf(t, "orders", 1) {
		fmt.Println(e.Kind)
	}
	// Output:
	// sent
	// delivered
	// completed
}

// Which orders failed, and why?
func ExampleNamespace_Events() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client := newClient(bus)
	go program(client, "orders")
	publish(client, "orders",
		&azservicebus.Message{Body: []byte("two coffees")},
		&azservicebus.Message{Body: []byte("a caek")})
	bus.WaitFor(t, sbtest.Idle("orders"))
	dead := sbtest.EventFilter{Entity: "orders", Kinds: []sbtest.EventKind{sbtest.EventDeadLettered}}
	for _, e := range bus.Events(t, dead) {
		fmt.Println(e.SequenceNumber, e.Text)
	}
	// Output: 2 unknown article
}

// The test goes on when the program has processed all orders.
func ExampleIdle() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client := newClient(bus)
	publish(client, "orders",
		&azservicebus.Message{Body: []byte("two coffees")},
		&azservicebus.Message{Body: []byte("a caek")})
	go program(client, "orders")
	bus.WaitFor(t, sbtest.Idle("orders"))
	for _, m := range bus.DeadLetters(t, "orders") {
		fmt.Printf("%s: %s\n", m.Body, m.DeadLetterReason)
	}
	// Output: a caek: unknown article
}

// The test goes on when one order is completed and one is a dead letter.
func ExampleNamespace_WaitFor() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client := newClient(bus)
	go program(client, "orders")
	publish(client, "orders",
		&azservicebus.Message{Body: []byte("two coffees")},
		&azservicebus.Message{Body: []byte("a caek")})
	completed := sbtest.EventFilter{Entity: "orders", Kinds: []sbtest.EventKind{sbtest.EventCompleted}}
	bus.WaitFor(t,
		sbtest.Exactly("orders", sbtest.CountedDeadLetter, 1),
		sbtest.Happened(1, completed),
		sbtest.Within(time.Minute))
	// Output:
}
