package sbtest_test

import (
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

func ExampleNamespace_Resubmit() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client := newClient(bus)
	publish(client, "orders", &azservicebus.Message{Body: []byte("two cofees")})

	// The program that you test gives up on a message.
	receiver, err := client.NewReceiverForQueue("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := receiver.ReceiveMessages(t.Context(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	why := &azservicebus.DeadLetterOptions{Reason: new("unknown article")}
	if err := receiver.DeadLetterMessage(t.Context(), messages[0], why); err != nil {
		t.Fatal(err)
	}

	// It gets the message again, mended.
	mended := sbtest.Edit{Strip: true, Body: []byte("two coffees")}
	n := bus.Resubmit(t, "orders", sbtest.Select{Reason: "unknown article"}, mended)
	fmt.Println(n, "resubmitted")
	peek("orders", receiver, nil)
	// Output:
	// 1 resubmitted
	// orders: two coffees map[]
}

func ExampleNamespace_Session() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders", RequiresSession: true})
	client := newClient(bus)
	publish(client, "orders", &azservicebus.Message{Body: []byte("two coffees"), SessionID: new("table 7")})
	receiver, err := client.AcceptSessionForQueue(t.Context(), "orders", "table 7", nil)
	if err != nil {
		t.Fatal(err)
	}

	// What does the program do when it loses the session to another one?
	bus.Session(t, "orders", "table 7").Break()
	if _, err := newClient(bus).AcceptSessionForQueue(t.Context(), "orders", "table 7", nil); err != nil {
		t.Fatal(err)
	}
	if err := receiver.RenewSessionLock(t.Context(), nil); err != nil {
		fmt.Println("lost")
	}
	// Output: lost
}
