package sbtest_test

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

func ExampleServer_Snapshot() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client := newClient(bus)

	// Seed once.
	publish(client, "orders",
		&azservicebus.Message{Body: []byte("two coffees")},
		&azservicebus.Message{Body: []byte("a tea")})
	bus.Snapshot(t, "seeded")

	receiver, err := client.NewReceiverForQueue("orders", &azservicebus.ReceiverOptions{
		ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []string{"first", "second"} {
		// Each test begins with the same messages, whatever the one before left. The client stays connected.
		bus.Restore(t, "seeded")
		for n := 0; n < 2; {
			messages, err := receiver.ReceiveMessages(t.Context(), 2, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range messages {
				fmt.Printf("%s test: %s, number %d\n", test, m.Body, *m.SequenceNumber)
			}
			n += len(messages)
		}
	}
	// Output:
	// first test: two coffees, number 1
	// first test: a tea, number 2
	// second test: two coffees, number 1
	// second test: a tea, number 2
}
