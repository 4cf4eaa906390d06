package sbtest_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// The client and the server talk in memory.
func ExampleInMemory() {
	bus := sbtest.Start(t, sbtest.WithoutNetwork(), sbtest.Queue{Name: "orders"})
	client, err := azservicebus.NewClientFromConnectionString(bus.ConnectionString(), &azservicebus.ClientOptions{
		NewWebSocketConn: sbtest.InMemory[azservicebus.NewWebSocketConnArgs](bus),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(t.Context())
	publish(client, "orders", &azservicebus.Message{Body: []byte("two coffees")})

	receiver, err := client.NewReceiverForQueue("orders", nil)
	peek("orders", receiver, err)
	// Output: orders: two coffees map[]
}

func ExampleWithLimits() {
	bus := sbtest.Start(t, sbtest.WithLimits(sbtest.Standard), sbtest.Queue{Name: "orders"})
	client, err := azservicebus.NewClientFromConnectionString(bus.ConnectionString(), &azservicebus.ClientOptions{
		RetryOptions: azservicebus.RetryOptions{MaxRetries: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(t.Context())
	sender, err := client.NewSender("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 200)
	err = sender.SendMessage(t.Context(), &azservicebus.Message{MessageID: &long}, nil)
	fmt.Println(strings.Contains(err.Error(), "The MessageId of the message has more than 128 characters"))
	// Output: true
}

func ExampleWithTokens() {
	bus := sbtest.Start(t, sbtest.WithTokens(), sbtest.Queue{Name: "orders"})
	wrongKey := strings.Replace(bus.ConnectionString(), "SharedAccessKey=", "SharedAccessKey=not", 1)
	client, err := azservicebus.NewClientFromConnectionString(wrongKey, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(t.Context())
	sender, err := client.NewSender("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	err = sender.SendMessage(t.Context(), &azservicebus.Message{}, nil)
	fmt.Println(strings.Contains(err.Error(), "InvalidSignature"))
	// Output: true
}

func ExampleWithClock() {
	newYear := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"}, sbtest.WithClock(func() time.Time { return newYear }))
	client := newClient(bus)
	publish(client, "orders", &azservicebus.Message{Body: []byte("two coffees")})

	receiver, err := client.NewReceiverForQueue("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := receiver.ReceiveMessages(t.Context(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(messages[0].EnqueuedTime.UTC())
	// Output: 2030-01-01 00:00:00 +0000 UTC
}

func ExampleNamespace_Advance() {
	bus := sbtest.Start(t)
	shop := bus.NewNamespace(t, sbtest.Queue{Name: "orders"})
	billing := bus.NewNamespace(t, sbtest.Queue{Name: "orders"})
	inAnHour := time.Now().Add(time.Hour)
	for name, ns := range map[string]*sbtest.Namespace{"shop": shop, "billing": billing} {
		client, err := azservicebus.NewClientFromConnectionString(ns.ConnectionString(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close(t.Context())
		publish(client, "orders", &azservicebus.Message{Body: []byte("for " + name), ScheduledEnqueueTime: &inAnHour})
	}
	shop.Advance(2 * time.Hour)

	for name, ns := range map[string]*sbtest.Namespace{"shop": shop, "billing": billing} {
		counts := ns.Counts(t, "orders")
		fmt.Println(name, "has", counts.Active, "active,", counts.Scheduled, "scheduled")
	}
	// Unordered output:
	// shop has 1 active, 0 scheduled
	// billing has 0 active, 1 scheduled
}

func ExampleWithLazyExpiry() {
	bus := sbtest.Start(t, sbtest.WithLazyExpiry(), sbtest.Queue{Name: "orders", DefaultMessageTimeToLive: time.Minute})
	client := newClient(bus)
	publish(client, "orders", &azservicebus.Message{Body: []byte("two coffees")})
	bus.Advance(time.Hour)

	receiver, err := client.NewReceiverForQueue("orders", nil)
	peek("expired and still there", receiver, err)
	// Output: expired and still there: two coffees map[]
}

func ExampleWithGoneEntities() {
	bus := sbtest.Start(t, sbtest.WithGoneEntities())
	_, endpoint, _ := strings.Cut(bus.ConnectionString(), "Endpoint=sb://")
	host, _, _ := strings.Cut(endpoint, ";")
	url := "http://" + strings.TrimSuffix(host, "/") + "/missing/messages"
	resp, err := http.Post(url, "text/plain", strings.NewReader("two coffees"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status)
	// Output: 410 Gone
}

func ExampleWithLogger() {
	var log buffer // a bytes.Buffer with a mutex
	bus := sbtest.Start(t, sbtest.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	sender, err := newClient(bus).NewSender("missing", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = sender.SendMessage(t.Context(), &azservicebus.Message{}, nil)
	fmt.Println(strings.Contains(log.String(), "missing"))
	// Output: true
}

func ExampleWithTrace() {
	var trace buffer // a bytes.Buffer with a mutex
	bus := sbtest.Start(t, sbtest.WithTrace(&trace), sbtest.Queue{Name: "orders"})
	publish(newClient(bus), "orders", &azservicebus.Message{Body: []byte("two coffees")})
	fmt.Println(strings.Contains(trace.String(), "transfer"), strings.Contains(trace.String(), "coffees"))
	// Output: true false
}

func ExampleNamespace_Freeze() {
	bus := sbtest.Start(t)
	ns := bus.NewNamespace(t, sbtest.Queue{Name: "invoices"})
	client, err := azservicebus.NewClientFromConnectionString(ns.ConnectionString(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ns.Freeze(t) // from here on only the test lets time pass
	nextWeek := ns.Now().AddDate(0, 0, 7)
	publish(client, "invoices", &azservicebus.Message{Body: []byte("the invoice"), ScheduledEnqueueTime: &nextWeek})

	ns.SetTime(t, nextWeek.Add(-time.Millisecond))
	fmt.Println("scheduled a millisecond before:", ns.Counts(t, "invoices").Scheduled)
	ns.SetTime(t, nextWeek)
	fmt.Println("active a week later:", ns.Counts(t, "invoices").Active)
	// Output:
	// scheduled a millisecond before: 1
	// active a week later: 1
}

func ExampleNamespace_Reset() {
	bus := sbtest.Start(t)
	ns := bus.NewNamespace(t, sbtest.Queue{Name: "orders"})
	client, err := azservicebus.NewClientFromConnectionString(ns.ConnectionString(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range []string{"two coffees", "a cake"} {
		ns.Reset(t) // each case begins with an empty queue, and the client lives on
		publish(client, "orders", &azservicebus.Message{Body: []byte(order)})
		for _, m := range ns.Messages(t, "orders") {
			fmt.Printf("%d: %s\n", m.SequenceNumber, m.Body)
		}
	}
	// Output:
	// 1: two coffees
	// 1: a cake
}
