package sbtest_test

import (
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// An hour passes for the broker while the SDK's connection lives on: schedules fall due, messages expire, and all of
// it has happened when Advance returns (DEC-35).
func TestDEC35_AdvanceLetsTimePass(t *testing.T) {
	bus := sbtest.Start(t,
		sbtest.Queue{Name: "orders", DeadLetteringOnMessageExpiration: true},
		sbtest.Queue{Name: "late", ForwardDeadLetteredMessagesTo: "orders"})
	client, err := azservicebus.NewClientFromConnectionString(bus.ConnectionString(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(t.Context())
	sender, err := client.NewSender("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	due, ttl := time.Now().Add(30*time.Minute), 40*time.Minute
	for _, m := range []*azservicebus.Message{
		{Body: []byte("scheduled"), ScheduledEnqueueTime: &due},
		{Body: []byte("expiring"), TimeToLive: &ttl},
	} {
		if err := sender.SendMessage(t.Context(), m, nil); err != nil {
			t.Fatal(err)
		}
	}
	bus.Advance(time.Hour)
	q, err := bus.Namespace().Entity("orders")
	if err != nil {
		t.Fatal(err)
	}
	if c := q.Counts(); c.Active != 1 || c.Scheduled != 0 || c.DeadLetter != 1 {
		t.Fatalf("after an hour: %+v", c)
	}
	receiver, err := client.NewReceiverForQueue("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := receiver.ReceiveMessages(t.Context(), 1, nil)
	if err != nil || string(got[0].Body) != "scheduled" || got[0].EnqueuedTime.Before(due.Truncate(time.Millisecond)) {
		t.Fatalf("received %v, %v", got, err)
	}
	// The lock ends with the broker's time, not with the connection's.
	bus.Advance(2 * time.Minute)
	if again, err := receiver.ReceiveMessages(t.Context(), 1, nil); err != nil || again[0].DeliveryCount != 2 {
		t.Fatalf("received again %v, %v", again, err)
	}
}

// Chains go all the way: a message that expires is dead-lettered and forwarded before Advance returns.
func TestDEC35_AdvanceWaitsForConsequences(t *testing.T) {
	bus := sbtest.Start(t,
		sbtest.Queue{Name: "first", DefaultMessageTimeToLive: time.Minute, DeadLetteringOnMessageExpiration: true, ForwardDeadLetteredMessagesTo: "second"},
		sbtest.Queue{Name: "second", DefaultMessageTimeToLive: time.Minute, DeadLetteringOnMessageExpiration: true, ForwardDeadLetteredMessagesTo: "third"},
		sbtest.Queue{Name: "third"})
	client, err := azservicebus.NewClientFromConnectionString(bus.ConnectionString(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(t.Context())
	sender, err := client.NewSender("first", nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if err := sender.SendMessage(t.Context(), &azservicebus.Message{Body: []byte("x")}, nil); err != nil {
			t.Fatal(err)
		}
	}
	bus.Advance(150 * time.Second) // a minute in each of the first two; the third will be over after another
	q, err := bus.Namespace().Entity("third")
	if err != nil {
		t.Fatal(err)
	}
	if c := q.Counts(); c.Active != 20 {
		t.Fatalf("at the end of the chain: %+v", c)
	}
}
