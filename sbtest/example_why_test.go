package sbtest_test

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// Why does the program not get the large order?
func ExampleNamespace_Why() {
	bus := sbtest.Start(t, sbtest.Topic{Name: "orders", Subscriptions: []sbtest.Subscription{
		{Name: "large", Rules: []sbtest.Rule{{Name: "large", SQL: "amount > 1000"}}},
	}})
	client := newClient(bus)
	publish(client, "orders", &azservicebus.Message{ApplicationProperties: map[string]any{"amount": "5000"}}) // a text

	for _, f := range bus.Why(t, "orders/Subscriptions/large").Findings {
		fmt.Println(f.Code, f.Blocks)
	}
	// Output:
	// rules-match-nothing true
	// no-receiver true
	// empty true
}

// The program receives, so it has a link with credit. What does it do when Azure restarts?
func ExampleNamespace_CloseConnection() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client := newClient(bus)
	sender, err := client.NewSender("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.SendMessage(t.Context(), &azservicebus.Message{}, nil); err != nil {
		t.Fatal(err)
	}
	before := bus.Connections()[0]
	bus.CloseConnection(t, before.ID)
	if err := sender.SendMessage(t.Context(), &azservicebus.Message{}, nil); err != nil {
		t.Fatal(err)
	}
	all := bus.Connections()
	last := all[len(all)-1] // the one before may still be ending
	fmt.Println(last.Product, last.Transport, last.ID == before.ID)
	// Output: MSGolangClient tcp false
}

// The sender goes on after its link was detached.
func ExampleNamespace_DetachLink() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client := newClient(bus)
	sender, err := client.NewSender("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.SendMessage(t.Context(), &azservicebus.Message{}, nil); err != nil {
		t.Fatal(err)
	}
	for _, l := range bus.Connections()[0].Links {
		if l.Role == "sender" && l.Address == "orders" {
			bus.DetachLink(t, bus.Connections()[0].ID, l.ID)
		}
	}
	fmt.Println(sender.SendMessage(t.Context(), &azservicebus.Message{}, nil))
	// Output: <nil>
}
