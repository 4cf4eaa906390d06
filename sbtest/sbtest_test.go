package sbtest_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// connect returns a client that reaches the server in memory.
func connect(t *testing.T, bus *sbtest.Server) *azservicebus.Client {
	t.Helper()
	client, err := azservicebus.NewClientFromConnectionString(bus.ConnectionString(), &azservicebus.ClientOptions{
		NewWebSocketConn: sbtest.InMemory[azservicebus.NewWebSocketConnArgs](bus),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	return client
}

// connectTCP returns a client that reaches the server through its port.
func connectTCP(t *testing.T, bus *sbtest.Server) *azservicebus.Client {
	t.Helper()
	client, err := azservicebus.NewClientFromConnectionString(bus.ConnectionString(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	return client
}

func send(t *testing.T, client *azservicebus.Client, queue string, m *azservicebus.Message) {
	t.Helper()
	sender, err := client.NewSender(queue, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.SendMessage(context.Background(), m, nil); err != nil {
		t.Fatal(err)
	}
	_ = sender.Close(context.Background())
}

func receiver(t *testing.T, client *azservicebus.Client, queue string) *azservicebus.Receiver {
	t.Helper()
	r, err := client.NewReceiverForQueue(queue, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// one receives a message within the time.
func one(t *testing.T, r *azservicebus.Receiver, within time.Duration) *azservicebus.ReceivedMessage {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	messages, err := r.ReceiveMessages(ctx, 1, nil)
	if err != nil || len(messages) == 0 {
		t.Fatalf("%d messages, %v", len(messages), err)
	}
	return messages[0]
}

func TestOverTCP(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client := connectTCP(t, bus)
	send(t, client, "orders", &azservicebus.Message{Body: []byte("hello")})
	r := receiver(t, client, "orders")
	m := one(t, r, 10*time.Second)
	if string(m.Body) != "hello" || *m.SequenceNumber != 1 {
		t.Errorf("got %q, number %d", m.Body, *m.SequenceNumber)
	}
	if err := r.CompleteMessage(context.Background(), m, nil); err != nil {
		t.Error(err)
	}
}

func TestDefaultEntities(t *testing.T) {
	bus := sbtest.Start(t, sbtest.WithoutNetwork())
	if !bus.Exists("queue.1") || !bus.Exists("topic.1") {
		t.Error("Microsoft's default entities are missing")
	}
}

func TestConfigJSON(t *testing.T) {
	bus := sbtest.Start(t, sbtest.WithoutNetwork(), sbtest.Queue{Name: "a"},
		sbtest.ConfigJSON(`{"UserConfig": {"Namespaces": [{"Name": "mine", "Queues": [{"Name": "b"}]}]}}`))
	if bus.Name() != "mine" || !bus.Exists("a") || !bus.Exists("b") || bus.Exists("queue.1") {
		t.Errorf("namespace %s", bus.Name())
	}
}

func TestTwoServersAreStrangers(t *testing.T) {
	first := sbtest.Start(t, sbtest.Queue{Name: "q"})
	second := sbtest.Start(t, sbtest.Queue{Name: "q"})
	if first.ConnectionString() == second.ConnectionString() {
		t.Fatal("both have the same address")
	}
	send(t, connect(t, first), "q", &azservicebus.Message{Body: []byte("x")})
	for i, s := range []*sbtest.Server{first, second} {
		if got := s.Counts(t, "q").Active; got != int64(1-i) {
			t.Errorf("server %d has %d messages", i, got)
		}
	}
}

// In a bubble a minute passes at once: the lock of a message expires while its receiver does nothing.
func TestLOCK10_LockExpiresInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.Queue{Name: "orders", LockDuration: time.Minute})
		client := connect(t, bus)
		send(t, client, "orders", &azservicebus.Message{Body: []byte("x")})
		r := receiver(t, client, "orders")
		if first := one(t, r, time.Second); first.DeliveryCount != 0 && first.DeliveryCount != 1 {
			t.Errorf("first delivery has count %d", first.DeliveryCount)
		}
		start := time.Now()
		second := one(t, r, 2*time.Minute)
		if waited := time.Since(start); waited < 59*time.Second || waited > 61*time.Second {
			t.Errorf("delivered again after %v", waited)
		}
		if err := r.CompleteMessage(context.Background(), second, nil); err != nil {
			t.Error(err)
		}
		_ = client.Close(context.Background())
	})
}

func TestSCHED9_ScheduleFallsDueInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
		client := connect(t, bus)
		due := time.Now().Add(24 * time.Hour)
		send(t, client, "orders", &azservicebus.Message{Body: []byte("x"), ScheduledEnqueueTime: &due})
		time.Sleep(24*time.Hour - time.Second)
		r := receiver(t, client, "orders")
		m := one(t, r, time.Minute)
		if m.EnqueuedTime.Before(due) {
			t.Errorf("enqueued at %v, due at %v", m.EnqueuedTime, due)
		}
		_ = client.Close(context.Background())
	})
}

// The time of day jumps while the time of the bubble goes on.
func TestDEC35_AProgramGoesOnWhenTheMachineSleptAndItsClockWasSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var jumped atomic.Int64
		wall := func() time.Time { return time.Now().Add(time.Duration(jumped.Load())) }
		bus := sbtest.Start(t, sbtest.WithClock(wall),
			sbtest.Queue{Name: "orders"})
		client := connect(t, bus)
		r := receiver(t, client, "orders")
		due := wall().Add(30 * time.Minute)
		send(t, client, "orders", &azservicebus.Message{Body: []byte("scheduled"), ScheduledEnqueueTime: &due})
		send(t, client, "orders", &azservicebus.Message{Body: []byte("locked")})
		one(t, r, time.Minute)
		jumped.Add(int64(8 * time.Hour)) // a sleep
		for _, want := range []string{"locked", "scheduled"} {
			m := one(t, r, 2*time.Second)
			if string(m.Body) != want {
				t.Errorf("received %q after the sleep, want %q", m.Body, want)
			}
			if err := r.CompleteMessage(context.Background(), m, nil); err != nil {
				t.Error(err)
			}
		}
		jumped.Add(-int64(time.Hour)) // the clock is set back
		for range 3 {
			send(t, client, "orders", &azservicebus.Message{Body: []byte("x")})
			m := one(t, r, 2*time.Second)
			time.Sleep(50 * time.Second) // the lock lasts a minute
			if err := r.CompleteMessage(context.Background(), m, nil); err != nil {
				t.Error(err)
			}
			time.Sleep(5 * time.Minute) // heartbeats only
		}
		_ = client.Close(context.Background())
	})
}
