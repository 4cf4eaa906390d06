package sbtest_test

import (
	"fmt"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	goamqp "github.com/Azure/go-amqp"

	"minibus/sbtest"
)

// Each test has a namespace, so tests that run in parallel can use the same names.
func ExampleServer_NewNamespace() {
	bus := sbtest.Start(t)
	for _, order := range []string{"two coffees", "a cake"} {
		ns := bus.NewNamespace(t, sbtest.Queue{Name: "orders"})
		client, err := azservicebus.NewClientFromConnectionString(ns.ConnectionString(), nil)
		if err != nil {
			t.Fatal(err)
		}
		publish(client, "orders", &azservicebus.Message{Body: []byte(order)})
		receiver, err := client.NewReceiverForQueue("orders", nil)
		peek("orders", receiver, err)
	}
	// Output:
	// orders: two coffees map[]
	// orders: a cake map[]
}

// What is in the queue while a debugger holds the test?
func ExampleNamespace_ExplorerURL() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	request, err := http.NewRequest(http.MethodGet, bus.ExplorerURL(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "text/html") // as a browser does
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	fmt.Println(answer.Header.Get("Content-Type"))
	// Output: text/html; charset=utf-8
}

// An AMQP client without an SDK talks to the server in memory.
func ExampleNamespace_Dial() {
	bus := sbtest.Start(t, sbtest.WithoutNetwork(), sbtest.Queue{Name: "orders"})
	conn, err := bus.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client, err := goamqp.NewConn(t.Context(), conn, &goamqp.ConnOptions{SASLType: goamqp.SASLTypeAnonymous()})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	fmt.Println(bus.Name(), bus.Connections()[0].Transport)
	// Output: sbemulatorns memory
}

// A sale ends at midnight, and the clock goes on after the test's look at it.
func ExampleServer_SetTime() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "reminders"})
	client := newClient(bus)
	bus.Freeze(t)
	midnight := bus.Now().AddDate(0, 0, 1).Truncate(24 * time.Hour)
	publish(client, "reminders", &azservicebus.Message{Body: []byte("it is over"), ScheduledEnqueueTime: &midnight})
	bus.SetTime(t, midnight)
	bus.Resume(t)
	receiver, err := client.NewReceiverForQueue("reminders", nil)
	peek("reminders", receiver, err)
	// Output: reminders: it is over map[]
}

// The queue is empty for the next case.
func ExampleNamespace_Purge() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client := newClient(bus)
	tomorrow := time.Now().AddDate(0, 0, 1)
	publish(client, "orders", &azservicebus.Message{}, &azservicebus.Message{ScheduledEnqueueTime: &tomorrow})
	fmt.Println(bus.Purge(t, "orders", sbtest.Select{States: []sbtest.State{sbtest.Active, sbtest.Scheduled}}))
	// Output: 2
}

// Orders from abroad go to another queue.
func ExampleNamespace_Move() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"}, sbtest.Queue{Name: "abroad"})
	client := newClient(bus)
	abroad := map[string]any{"country": "PT"}
	publish(client, "orders",
		&azservicebus.Message{Body: []byte("two coffees"), ApplicationProperties: abroad},
		&azservicebus.Message{Body: []byte("a cake")})
	checked := sbtest.Edit{Properties: map[string]any{"checked": true}}
	n := bus.Move(t, "orders", "abroad", sbtest.Select{SQL: "country IS NOT NULL"}, checked)
	fmt.Println(n, "moved")
	receiver, err := client.NewReceiverForQueue("abroad", nil)
	peek("abroad", receiver, err)
	// Output:
	// 1 moved
	// abroad: two coffees map[checked:true country:PT]
}

// Which sessions wait, and what do they remember?
func ExampleNamespace_Sessions() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders", RequiresSession: true})
	publish(newClient(bus), "orders", &azservicebus.Message{SessionID: new("table 7")})
	bus.Session(t, "orders", "table 7").SetState([]byte("served"))
	for _, s := range bus.Sessions(t, "orders") {
		fmt.Printf("%s: %d message, %s\n", s.ID, s.Active, bus.Session(t, "orders", s.ID).State())
	}
	// Output: table 7: 1 message, served
}

// The program has one sender.
func ExampleNamespace_Connections() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	publish(newClient(bus), "orders", &azservicebus.Message{})
	for _, l := range bus.Connections()[0].Links {
		if l.Address == "orders" {
			fmt.Println(l.Role, l.Deliveries)
		}
	}
	// Output: sender 1
}

// Why can the program not send?
func ExampleNamespace_Refusals() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	sender, err := newClient(bus).NewSender("ordres", nil)
	if err == nil {
		err = sender.SendMessage(t.Context(), &azservicebus.Message{}, nil)
	}
	fmt.Println("failed:", err != nil)
	fmt.Println(bus.Refusals()[0].Condition, bus.Refusals()[0].Entity)
	// Output:
	// failed: true
	// amqp:not-found ordres
}

// All namespaces are as new, for the next of the tests that share the server.
func ExampleServer_Reset() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	publish(newClient(bus), "orders", &azservicebus.Message{})
	bus.Reset(t)
	fmt.Println(bus.Counts(t, "orders").Active)
	// Output: 0
}
