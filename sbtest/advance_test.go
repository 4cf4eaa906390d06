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
	client := connectTCP(t, bus)
	due, ttl := time.Now().Add(30*time.Minute), 40*time.Minute
	send(t, client, "orders", &azservicebus.Message{Body: []byte("scheduled"), ScheduledEnqueueTime: &due})
	send(t, client, "orders", &azservicebus.Message{Body: []byte("expiring"), TimeToLive: &ttl})
	bus.Advance(time.Hour)
	wantCounts(t, bus, "orders", sbtest.Counts{Active: 1, DeadLetter: 1})
	receiver := receiver(t, client, "orders")
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
	client := connectTCP(t, bus)
	for range 20 {
		send(t, client, "first", &azservicebus.Message{Body: []byte("x")})
	}
	bus.Advance(150 * time.Second) // a minute in each of the first two; the third will be over after another
	wantCounts(t, bus, "third", sbtest.Counts{Active: 20})
}
