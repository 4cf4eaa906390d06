package sbtest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// wantCounts compares the numbers of a queue of a server or namespace, without its size.
func wantCounts(t *testing.T, in interface {
	Counts(t testing.TB, entity string) sbtest.Counts
}, queue string, want sbtest.Counts) {
	t.Helper()
	got := in.Counts(t, queue)
	empty := got.Active+got.DeadLetter+got.Scheduled+got.Transfer+got.TransferDeadLetter == 0
	if (got.SizeBytes == 0) != empty {
		t.Errorf("%s: %d bytes with %+v", queue, got.SizeBytes, got)
	}
	got.SizeBytes = 0
	if got != want {
		t.Errorf("%s: %+v, want %+v", queue, got, want)
	}
}

// The numbers follow each operation of the SDK at once (CNT-1, CNT-3, CNT-4, CNT-7).
func TestCNT1_CNT3_CNT4_CNT7_CountsFollowTheSDK(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
		client := connect(t, bus)
		for _, body := range []string{"1", "2", "3", "4"} {
			send(t, client, "orders", &azservicebus.Message{Body: []byte(body)})
		}
		due := time.Now().Add(time.Hour)
		send(t, client, "orders", &azservicebus.Message{Body: []byte("later"), ScheduledEnqueueTime: &due})
		wantCounts(t, bus, "orders", sbtest.Counts{Active: 4, Scheduled: 1})
		r := receiver(t, client, "orders")
		settle := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		settle(r.DeadLetterMessage(ctx, one(t, r, time.Second), nil))
		wantCounts(t, bus, "orders", sbtest.Counts{Active: 3, DeadLetter: 1, Scheduled: 1})
		settle(r.DeferMessage(ctx, one(t, r, time.Second), nil))
		wantCounts(t, bus, "orders", sbtest.Counts{Active: 3, Deferred: 1, DeadLetter: 1, Scheduled: 1})
		settle(r.CompleteMessage(ctx, one(t, r, time.Second), nil))
		wantCounts(t, bus, "orders", sbtest.Counts{Active: 2, Deferred: 1, DeadLetter: 1, Scheduled: 1})
		one(t, r, time.Second) // locked ones count
		wantCounts(t, bus, "orders", sbtest.Counts{Active: 2, Deferred: 1, DeadLetter: 1, Scheduled: 1})
		bus.Advance(time.Hour)
		wantCounts(t, bus, "orders", sbtest.Counts{Active: 3, Deferred: 1, DeadLetter: 1})
	})
}

// A forwarded message counts in the queue that has it (CNT-6).
func TestCNT6_FWD3_CountsOfForwardedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.Queue{Name: "target"},
			sbtest.Queue{Name: "source", ForwardTo: "target"})
		client := connect(t, bus)
		send(t, client, "source", &azservicebus.Message{Body: []byte("x")})
		synctest.Wait()
		wantCounts(t, bus, "source", sbtest.Counts{})
		wantCounts(t, bus, "target", sbtest.Counts{Active: 1})
	})
}
