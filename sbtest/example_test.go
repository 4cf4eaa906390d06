package sbtest_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// t stands for the test that an example is part of.
var t = &exampleT{}

type exampleT struct {
	testing.TB
	cleanup []func()
}

func (e *exampleT) Helper()                           {}
func (e *exampleT) Cleanup(f func())                  { e.cleanup = append(e.cleanup, f) }
func (e *exampleT) Context() context.Context          { return context.Background() }
func (e *exampleT) Fatal(args ...any)                 { panic(fmt.Sprint(args...)) }
func (e *exampleT) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (e *exampleT) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func TestMain(m *testing.M) {
	code := m.Run()
	slices.Reverse(t.cleanup)
	for _, f := range t.cleanup {
		f()
	}
	os.Exit(code)
}

// newClient returns a client of the server.
func newClient(bus *sbtest.Server) *azservicebus.Client {
	client, err := azservicebus.NewClientFromConnectionString(bus.ConnectionString(), &azservicebus.ClientOptions{
		RetryOptions: azservicebus.RetryOptions{RetryDelay: 10 * time.Millisecond}, // 4 s by default
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(t.Context()) })
	return client
}

// publish sends messages to a queue or topic.
func publish(client *azservicebus.Client, entity string, messages ...*azservicebus.Message) {
	sender, err := client.NewSender(entity, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		if err := sender.SendMessage(t.Context(), m, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// peek prints the messages that are there.
func peek(name string, receiver *azservicebus.Receiver, err error) {
	if err != nil {
		t.Fatal(err)
	}
	messages, err := receiver.PeekMessages(t.Context(), 10, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range messages {
		fmt.Printf("%s: %s %v\n", name, m.Body, m.ApplicationProperties)
	}
}

func Example() {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})

	// From here on it is the SDK of Azure, and could be the program that you test.
	client, err := azservicebus.NewClientFromConnectionString(bus.ConnectionString(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(t.Context())
	sender, err := client.NewSender("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.SendMessage(t.Context(), &azservicebus.Message{Body: []byte("two coffees")}, nil); err != nil {
		t.Fatal(err)
	}
	receiver, err := client.NewReceiverForQueue("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := receiver.ReceiveMessages(t.Context(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("%d: %s\n", *messages[0].SequenceNumber, messages[0].Body)
	// Output: 1: two coffees
}

func ExampleQueue() {
	bus := sbtest.Start(t,
		sbtest.Queue{
			Name: "orders", RequiresDuplicateDetection: true, DuplicateDetectionHistoryTimeWindow: time.Minute,
		},
		sbtest.Queue{Name: "sessions", RequiresSession: true, LockDuration: 5 * time.Second},
		sbtest.Queue{Name: "archive", ForwardTo: "orders"},
	)
	id := "order-1"
	m := &azservicebus.Message{MessageID: &id, Body: []byte("two coffees")}
	publish(newClient(bus), "orders", m, m, m)

	fmt.Println("sent 3, kept", bus.Counts(t, "orders").Active)
	// Output: sent 3, kept 1
}

func ExampleTopic() {
	bus := sbtest.Start(t, sbtest.Topic{Name: "events", Subscriptions: []sbtest.Subscription{
		{Name: "all"},
		{Name: "large", MaxDeliveryCount: 3, Rules: []sbtest.Rule{{SQL: "amount > 1000"}}},
	}})
	client := newClient(bus)
	publish(client, "events",
		&azservicebus.Message{Body: []byte("boat"), ApplicationProperties: map[string]any{"amount": 5000}},
		&azservicebus.Message{Body: []byte("book"), ApplicationProperties: map[string]any{"amount": 20}})

	for _, name := range []string{"all", "large"} {
		receiver, err := client.NewReceiverForSubscription("events", name, nil)
		peek(name, receiver, err)
	}
	// Output:
	// all: boat map[amount:5000]
	// all: book map[amount:20]
	// large: boat map[amount:5000]
}

func ExampleRule() {
	red := sbtest.Correlation{Subject: "paint", Properties: map[string]any{"color": "red"}}
	bus := sbtest.Start(t, sbtest.Topic{Name: "events", Subscriptions: []sbtest.Subscription{
		{Name: "red", Rules: []sbtest.Rule{{Name: "urgent", Correlation: &red, Action: "SET priority = 'high'"}}},
	}})
	client := newClient(bus)
	paint := func(what, color string) *azservicebus.Message {
		properties := map[string]any{"color": color}
		return &azservicebus.Message{Body: []byte(what), Subject: new("paint"), ApplicationProperties: properties}
	}
	publish(client, "events", paint("a wall", "red"), paint("a door", "blue"))

	receiver, err := client.NewReceiverForSubscription("events", "red", nil)
	peek("red", receiver, err)
	// Output: red: a wall map[RuleName:urgent color:red priority:high]
}

func ExampleConfigJSON() {
	text, err := os.ReadFile("testdata/Config.json") // the file that you give to Microsoft's emulator
	if err != nil {
		t.Fatal(err)
	}
	bus := sbtest.Start(t, sbtest.ConfigJSON(string(text)), sbtest.Queue{Name: "more"})
	for _, path := range []string{"orders", "events/Subscriptions/all", "more"} {
		fmt.Println(path, bus.Exists(path))
	}
	// Output:
	// orders true
	// events/Subscriptions/all true
	// more true
}

func ExampleServer_Advance() {
	bus := sbtest.Start(t, sbtest.Queue{
		Name: "orders", DefaultMessageTimeToLive: time.Hour, DeadLetteringOnMessageExpiration: true,
	})
	publish(newClient(bus), "orders", &azservicebus.Message{Body: []byte("two coffees")})

	bus.Advance(59 * time.Minute)
	fmt.Println("dead letters after 59 minutes:", bus.Counts(t, "orders").DeadLetter)
	bus.Advance(time.Minute)
	fmt.Println("dead letters after 60 minutes:", bus.Counts(t, "orders").DeadLetter)
	// Output:
	// dead letters after 59 minutes: 0
	// dead letters after 60 minutes: 1
}
