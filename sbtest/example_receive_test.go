package sbtest_test

import (
	"fmt"

	"minibus/sbtest"
)

// Another program holds the only order, and gives up on it.
func ExampleNamespace_Receive() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"}, sbtest.Queue{Name: "mails"})
	bus.Send(t, "orders", sbtest.Message{Body: []byte("two coffees")})
	held := bus.Receive(t, "orders", 10)
	fmt.Printf("%d held, %d left\n", len(held), len(bus.Receive(t, "orders", 10)))
	held[0].Renew()
	held[0].Abandon()

	// Next time it finds it spoilt.
	again := bus.Receive(t, "orders", 1)[0]
	fmt.Printf("%s, after %d failed delivery\n", again.Body, again.DeliveryCount)
	again.DeadLetter("spoilt", "too cold")
	bus.Receive(t, "orders/$DeadLetterQueue", 1)[0].Complete()

	bus.Send(t, "mails", sbtest.Message{Body: []byte("sorry")})
	bus.Receive(t, "mails", 1)[0].Defer()
	fmt.Println(len(bus.Messages(t, "mails", sbtest.Browse{States: []sbtest.State{sbtest.Deferred}})), "deferred")
	// Output:
	// 1 held, 0 left
	// two coffees, after 1 failed delivery
	// 1 deferred
}
