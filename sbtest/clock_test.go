package sbtest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// TestDEC35_AnHourBringsAllThatIsDueInOrder to the SDK of Azure: a frozen clock brings nothing, and an hour fires the
// schedule, ends the locks of a message and of a session, forgets an id and deletes what is idle.
func TestDEC35_AnHourBringsAllThatIsDueInOrder(t *testing.T) {
	bus := sbtest.Start(t)
	ns := bus.NewNamespace(t, sbtest.Queue{Name: "orders", LockDuration: 5 * time.Minute, DeadLetteringOnMessageExpiration: true},
		sbtest.Queue{Name: "idle", AutoDeleteOnIdle: 50 * time.Minute},
		sbtest.Queue{Name: "sessions", RequiresSession: true, LockDuration: 5 * time.Minute},
		sbtest.Queue{Name: "once", RequiresDuplicateDetection: true, DuplicateDetectionHistoryTimeWindow: 30 * time.Minute})
	client := clientOf(t, ns.ConnectionString(), nil)
	ns.Freeze(t)
	start := ns.Now()
	x := newDue(t, client, ns, start)
	x.wantNothing()
	ns.Advance(time.Hour)
	x.wantLocksLost()
	wantCounts(t, ns, "orders", sbtest.Counts{Active: 3, DeadLetter: 1})
	if ns.Exists("idle") {
		t.Error("the idle queue is still there")
	}
	send(t, client, "once", x.withID)
	wantCounts(t, ns, "once", sbtest.Counts{Active: 2})
	receiver := receiver(t, client, "orders")
	for i, want := range []string{"locked", "early", "late"} {
		m := one(t, receiver, 10*time.Second)
		if at := m.EnqueuedTime.Sub(start); string(m.Body) != want || at.Round(time.Second) != time.Duration(i)*20*time.Minute {
			t.Errorf("%s was enqueued after %v, want %s", m.Body, at, want)
		}
	}
	dead, err := client.NewReceiverForQueue("orders", &azservicebus.ReceiverOptions{SubQueue: azservicebus.SubQueueDeadLetter})
	if err != nil {
		t.Fatal(err)
	}
	if m := one(t, dead, 10*time.Second); string(m.Body) != "expiring" {
		t.Errorf("%s is dead", m.Body)
	}
}

// dueThings are a message and a session that are locked, two scheduled messages, one that expires, and one that has an
// id.
type dueThings struct {
	*testing.T
	client   *azservicebus.Client
	ns       *sbtest.Namespace
	receiver *azservicebus.Receiver
	locked   *azservicebus.ReceivedMessage
	withID   *azservicebus.Message
}

func newDue(t *testing.T, client *azservicebus.Client, ns *sbtest.Namespace, start time.Time) *dueThings {
	t.Helper()
	x := &dueThings{T: t, client: client, ns: ns}
	send(t, client, "orders", body("locked"))
	x.receiver = receiver(t, client, "orders")
	x.locked = one(t, x.receiver, 10*time.Second)
	late, early, ttl, id := start.Add(40*time.Minute), start.Add(20*time.Minute), 30*time.Minute, "one"
	send(t, client, "orders", &azservicebus.Message{Body: []byte("late"), ScheduledEnqueueTime: &late})
	send(t, client, "orders", &azservicebus.Message{Body: []byte("early"), ScheduledEnqueueTime: &early})
	send(t, client, "orders", &azservicebus.Message{Body: []byte("expiring"), TimeToLive: &ttl})
	x.withID = &azservicebus.Message{MessageID: &id}
	send(t, client, "once", x.withID)
	if _, err := client.AcceptSessionForQueue(t.Context(), "sessions", "s", nil); err != nil {
		t.Fatal(err)
	}
	return x
}

// wantNothing fails if anything happened.
func (x *dueThings) wantNothing() {
	x.Helper()
	wantCounts(x.T, x.ns, "orders", sbtest.Counts{Active: 2, Scheduled: 2})
	send(x.T, x.client, "once", x.withID)
	wantCounts(x.T, x.ns, "once", sbtest.Counts{Active: 1})
	if other, err := x.client.AcceptSessionForQueue(x.Context(), "sessions", "s", nil); err == nil {
		x.Errorf("the session is free: %v", other.SessionID())
	}
}

func (x *dueThings) wantLocksLost() {
	x.Helper()
	ctx, cancel := context.WithTimeout(x.Context(), 30*time.Second)
	defer cancel()
	err := x.receiver.CompleteMessage(ctx, x.locked, nil)
	if coded := (*azservicebus.Error)(nil); !errors.As(err, &coded) || coded.Code != azservicebus.CodeLockLost {
		x.Errorf("complete the message: %v, want the code of a lost lock", err)
	}
	if _, err := x.client.AcceptSessionForQueue(ctx, "sessions", "s", nil); err != nil {
		x.Errorf("the session is not free: %v", err)
	}
}

// TestDEC35_AClockOfATestIsNotSetBack, and stands, and goes on, in all namespaces of a server.
func TestDEC35_AClockOfATestIsNotSetBack(t *testing.T) {
	bus := sbtest.Start(t, sbtest.WithoutNetwork())
	ns := bus.NewNamespace(t, sbtest.Queue{Name: "q"})
	bus.Freeze(t)
	later := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	bus.SetTime(t, later)
	for _, one := range []*sbtest.Namespace{ns, bus.Namespace} {
		if r := one.Domain().Clock().Read(); !r.Frozen || !r.Now.Equal(later) {
			t.Errorf("%s has the clock %+v", one.Name(), r)
		}
	}
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		ns.SetTime(r, later.Add(-time.Minute))
	}()
	<-done
	if !strings.Contains(r.fatal, "it never goes back") {
		t.Errorf("failed with %q", r.fatal)
	}
	ns.Resume(t)
	frozen := []bool{ns.Domain().Clock().Read().Frozen, bus.Domain().Clock().Read().Frozen}
	bus.Resume(t)
	if frozen = append(frozen, bus.Domain().Clock().Read().Frozen); !slices.Equal(frozen, []bool{false, true, false}) {
		t.Errorf("frozen: %v", frozen)
	}
}
