package sbtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// TestResetLeavesClientsConnected: a sender and a receiver of the SDK of Azure work on after a reset, without an
// error, on an empty queue whose numbers begin anew.
func TestResetLeavesClientsConnected(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	ns := bus.NewNamespace(t, sbtest.Queue{Name: "orders"})
	client := clientOf(t, ns.ConnectionString(), nil)
	sender, err := client.NewSender("orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	put := func(text string) {
		t.Helper()
		if err := sender.SendMessage(t.Context(), body(text), nil); err != nil {
			t.Fatalf("send: %v", err)
		}
	}
	put("first")
	put("second")
	send(t, connectTCP(t, bus), "orders", body("of another namespace"))
	r := receiver(t, client, "orders")
	one(t, r, 10*time.Second)
	ns.Advance(time.Hour)
	for round := range 3 {
		ns.Reset(t)
		wantCounts(t, ns, "orders", sbtest.Counts{})
		put("after the reset")
		m := next(t, r)
		if string(m.Body) != "after the reset" || *m.SequenceNumber != 1 || time.Until(*m.EnqueuedTime) > time.Minute {
			t.Errorf("round %d: received %s with the number %d of %v", round, m.Body, *m.SequenceNumber, m.EnqueuedTime)
		}
		if err := r.CompleteMessage(t.Context(), m, nil); err != nil {
			t.Errorf("round %d: complete: %v", round, err)
		}
	}
	wantCounts(t, bus, "orders", sbtest.Counts{Active: 1})
	bus.Reset(t)
	wantCounts(t, bus, "orders", sbtest.Counts{})
}

// next receives a message. When its link was detached the SDK may return none, without an error, and attaches it again
// at the next call.
func next(t *testing.T, r *azservicebus.Receiver) *azservicebus.ReceivedMessage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		list, err := r.ReceiveMessages(ctx, 1, nil)
		if err != nil {
			t.Fatalf("receive: %v", err)
		}
		if len(list) > 0 {
			return list[0]
		}
	}
}

// TestResetWhileAReceiverWaits: it gets what is sent afterwards.
func TestResetWhileAReceiverWaits(t *testing.T) {
	bus := sbtest.Start(t)
	ns := bus.NewNamespace(t, sbtest.Queue{Name: "orders"})
	client := clientOf(t, ns.ConnectionString(), nil)
	r := receiver(t, client, "orders")
	got := make(chan string)
	go func() {
		for t.Context().Err() == nil {
			list, err := r.ReceiveMessages(t.Context(), 1, nil)
			for _, m := range list {
				got <- string(m.Body)
			}
			if err != nil && t.Context().Err() == nil {
				t.Errorf("receive: %v", err)
				return
			}
		}
	}()
	for range 3 { // by the second round the receiver waits
		for _, text := range []string{"before", "after"} {
			send(t, client, "orders", body(text))
			select {
			case m := <-got:
				if m != text {
					t.Errorf("received %s, want %s", m, text)
				}
			case <-time.After(20 * time.Second):
				t.Fatalf("%s did not arrive", text)
			}
			ns.Reset(t)
		}
	}
}
