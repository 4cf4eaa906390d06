package sbtest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// seen is what a client sees of a message.
func seen(m *azservicebus.ReceivedMessage) string {
	return fmt.Sprintf("%d %s %s %v %d %v", *m.SequenceNumber, m.Body, m.MessageID, m.EnqueuedTime.UnixMilli(), m.DeliveryCount, m.State)
}

// peeked peeks all messages that a receiver can see, from the first on.
func peekAll(t *testing.T, r *azservicebus.Receiver) (all []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	list, err := r.PeekMessages(ctx, 50, &azservicebus.PeekMessagesOptions{FromSequenceNumber: new(int64(0))})
	if err != nil {
		t.Fatalf("peek: %v", err)
	}
	for _, m := range list {
		all = append(all, seen(m))
	}
	return all
}

// snapshotQueues have something of every kind.
var snapshotQueues = []sbtest.Entities{
	sbtest.Queue{Name: "orders", RequiresDuplicateDetection: true, LockDuration: time.Minute},
	sbtest.Queue{Name: "sessions", RequiresSession: true},
}

// TestSnapshotGivesAConnectedClientTheSame messages, numbers and states of sessions, again and again. Schedules fire,
// duplicates are recognised and numbers go on.
func TestSnapshotGivesAConnectedClientTheSame(t *testing.T) {
	bus := sbtest.Start(t)
	ns := bus.NewNamespace(t, snapshotQueues...)
	client := clientOf(t, ns.ConnectionString(), nil)
	withID := func(id string) *azservicebus.Message { return &azservicebus.Message{Body: []byte(id), MessageID: &id} }
	ns.Freeze(t)
	due := ns.Now().Add(time.Hour)
	for _, m := range []*azservicebus.Message{withID("one"), withID("two"), withID("three"), body("without an id")} {
		send(t, client, "orders", m)
	}
	send(t, client, "orders", &azservicebus.Message{Body: []byte("scheduled"), ScheduledEnqueueTime: &due})
	send(t, client, "sessions", &azservicebus.Message{Body: []byte("in a session"), SessionID: new("s")})
	r := receiver(t, client, "orders")
	first, second, third := next(t, r), next(t, r), next(t, r)
	if err := errors.Join(r.AbandonMessage(t.Context(), first, nil), r.DeferMessage(t.Context(), second, nil), r.DeadLetterMessage(t.Context(), third, nil)); err != nil {
		t.Fatal(err)
	}
	setState := func(text string) {
		t.Helper()
		s, err := client.AcceptSessionForQueue(t.Context(), "sessions", "s", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.SetSessionState(t.Context(), []byte(text), nil), s.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	setState("three items")
	want := peekAll(t, r)
	held := next(t, r) // the lock is not saved
	ns.Snapshot(t, "seeded")
	for round := range 3 {
		_ = r.CompleteMessage(t.Context(), held, nil)
		send(t, client, "orders", withID(fmt.Sprint("of round ", round)))
		setState("other")
		ns.Advance(2 * time.Hour)
		ns.Restore(t, "seeded")
		if have := peekAll(t, r); fmt.Sprint(have) != fmt.Sprint(want) {
			t.Errorf("round %d: peeked %q, want %q", round, have, want)
		}
		s, err := client.AcceptSessionForQueue(t.Context(), "sessions", "s", nil)
		if err != nil {
			t.Fatal(err)
		}
		if state, err := s.GetSessionState(t.Context(), nil); string(state) != "three items" || err != nil {
			t.Errorf("round %d: the state is %q, %v", round, state, err)
		}
		_ = s.Close(t.Context())
		held = next(t, r)
		if string(held.Body) != "one" || held.DeliveryCount != 2 {
			t.Errorf("round %d: received %s, the %d. time", round, held.Body, held.DeliveryCount)
		}
		send(t, client, "orders", withID("one")) // a duplicate
		send(t, client, "orders", withID("new"))
		counts := ns.Counts(t, "orders")
		if counts.Scheduled != 1 || counts.DeadLetter != 1 || counts.Deferred != 1 || counts.Active != 4 {
			t.Errorf("round %d: counts are %+v", round, counts)
		}
		ns.Advance(time.Hour)
		if c := ns.Counts(t, "orders"); c.Scheduled != 0 || c.Active != 5 {
			t.Errorf("round %d: an hour later counts are %+v", round, c)
		}
		last := peekAll(t, r)
		if len(last) < 2 || last[len(last)-2][:1] != "6" || last[len(last)-1][:1] != "7" {
			t.Errorf("round %d: numbers go on with %q", round, last)
		}
	}
}

// TestSnapshotOfTheServer is one of each namespace; one that was made later stays as it is.
func TestSnapshotOfTheServer(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	one := bus.NewNamespace(t, sbtest.Queue{Name: "orders"})
	send(t, connectTCP(t, bus), "orders", body("x"))
	bus.Snapshot(t, "s")
	later := bus.NewNamespace(t, sbtest.Queue{Name: "orders"})
	for _, connection := range []string{bus.ConnectionString(), one.ConnectionString(), later.ConnectionString()} {
		send(t, clientOf(t, connection, nil), "orders", body("y"))
	}
	bus.Restore(t, "s")
	wantCounts(t, bus, "orders", sbtest.Counts{Active: 1})
	wantCounts(t, one, "orders", sbtest.Counts{})
	wantCounts(t, later, "orders", sbtest.Counts{Active: 1})
}
