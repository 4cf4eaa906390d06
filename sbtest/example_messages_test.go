package sbtest_test

import (
	"fmt"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// The queue has messages before the program starts.
func ExampleNamespace_Send() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	bus.Send(t, "orders",
		sbtest.Message{Body: []byte("two coffees"), ApplicationProperties: map[string]any{"table": int32(7)}},
		sbtest.Message{Body: []byte("a cake"), ApplicationProperties: map[string]any{"table": int32(8)}})
	receiver, err := newClient(bus).NewReceiverForQueue("orders", nil)
	peek("orders", receiver, err)
	// Output:
	// orders: two coffees map[table:7]
	// orders: a cake map[table:8]
}

// What has the program sent, and what does it hold?
func ExampleNamespace_Messages() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client := newClient(bus)
	publish(client, "orders",
		&azservicebus.Message{Body: []byte("two coffees")},
		&azservicebus.Message{Body: []byte("a cake")})
	receiver, err := client.NewReceiverForQueue("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := receiver.ReceiveMessages(t.Context(), 1, nil); err != nil {
		t.Fatal(err)
	}
	for _, m := range bus.Messages(t, "orders", sbtest.Browse{States: []sbtest.State{sbtest.Locked}}) {
		fmt.Printf("%s is locked\n", m.Body)
	}
	fmt.Printf("%s waits\n", bus.Message(t, "orders", 2).Body)
	// Output:
	// two coffees is locked
	// a cake waits
}

// A reminder is put off, and another one is called off.
func ExampleNamespace_Reschedule() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "reminders"})
	tomorrow := time.Now().AddDate(0, 0, 1)
	numbers := bus.Send(t, "reminders",
		sbtest.Message{Body: []byte("call"), ScheduledEnqueueTime: tomorrow},
		sbtest.Message{Body: []byte("write"), ScheduledEnqueueTime: tomorrow})
	bus.Reschedule(t, "reminders", numbers[0], tomorrow.Add(time.Hour))
	bus.DeleteMessages(t, "reminders", numbers[1])
	bus.Advance(24*time.Hour + 30*time.Minute)
	fmt.Println(len(bus.Messages(t, "reminders", sbtest.Browse{States: []sbtest.State{sbtest.Active}})), "active")
	bus.Advance(time.Hour)
	receiver, err := newClient(bus).NewReceiverForQueue("reminders", nil)
	peek("reminders", receiver, err)
	// Output:
	// 0 active
	// reminders: call map[]
}
