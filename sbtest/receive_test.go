package sbtest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// TestHeldMessages are locked for the SDK on the other side, and what a test settles the SDK sees.
func TestHeldMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.Queue{Name: "orders", LockDuration: time.Minute})
		r := receiver(t, connect(t, bus), "orders")
		bus.Send(t, "orders", sbtest.Message{Body: []byte("1"), MessageID: "first"}, sbtest.Message{Body: []byte("2")}, sbtest.Message{Body: []byte("3")}, sbtest.Message{Body: []byte("4")})
		held := bus.Receive(t, "orders", 10)
		if len(held) != 4 || string(held[0].Body) != "1" || held[0].State != sbtest.Locked || !held[0].LockedUntil.Equal(time.Now().Add(time.Minute)) {
			t.Fatalf("received %+v", held)
		}
		wantNone(t, r)
		held[0].Complete()
		held[1].DeadLetter("spoilt", "too cold")
		held[2].Defer()
		time.Sleep(50 * time.Second)
		if until := held[3].Renew(); !until.Equal(time.Now().Add(time.Minute)) {
			t.Errorf("the lock lasts until %v", until)
		}
		time.Sleep(50 * time.Second)
		wantCounts(t, bus, "orders", sbtest.Counts{Active: 2, Deferred: 1, DeadLetter: 1}) // a deferred one counts as active (CNT-3)
		held[3].Abandon()
		if m := one(t, r, time.Second); string(m.Body) != "4" || m.DeliveryCount != 2 {
			t.Errorf("the SDK gets %s, delivered %d times", m.Body, m.DeliveryCount)
		}
		if dead := bus.Receive(t, "orders/$DeadLetterQueue", 1); len(dead) != 1 || dead[0].DeadLetterReason != "spoilt" || dead[0].ApplicationProperties["DeadLetterErrorDescription"] != "too cold" {
			t.Errorf("dead letters: %+v", dead)
		}
		history := bus.History(t, "first")
		if last := history[len(history)-1]; last.Kind != sbtest.EventCompleted || last.Container != "sbtest" {
			t.Errorf("the history of the first ends with %+v", last)
		}
	})
}

// wantNone fails if the SDK receives anything.
func wantNone(t *testing.T, r *azservicebus.Receiver) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if got, err := r.ReceiveMessages(ctx, 1, nil); len(got) > 0 {
		t.Errorf("received %s: %v", got[0].Body, err)
	}
}
