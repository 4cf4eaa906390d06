package sbtest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// TestResubmitMoveAndPurge with the SDK on the other side.
func TestResubmitMoveAndPurge(t *testing.T) {
	bus := sbtest.Start(t)
	ns := bus.NewNamespace(t, sbtest.Queue{Name: "orders"}, sbtest.Queue{Name: "archive"})
	client := clientOf(t, ns.ConnectionString(), nil)
	r := receiver(t, client, "orders")
	for _, text := range []string{"bad", "worse"} {
		send(t, client, "orders", body(text))
		reason := "poison"
		if err := r.DeadLetterMessage(t.Context(), one(t, r, 10*time.Second), &azservicebus.DeadLetterOptions{Reason: &reason}); err != nil {
			t.Fatal(err)
		}
	}
	if n := ns.Resubmit(t, "orders", sbtest.Select{Reason: "poison", Text: "BAD"}, sbtest.Edit{Strip: true, Properties: map[string]any{"tries": int64(2)}, Body: []byte("good")}); n != 1 {
		t.Errorf("%d resubmitted", n)
	}
	m := one(t, r, 10*time.Second)
	if string(m.Body) != "good" || m.DeliveryCount != 1 || m.DeadLetterReason != nil || m.ApplicationProperties["tries"] != int64(2) || m.ApplicationProperties["DeadLetterReason"] != nil {
		t.Errorf("received %s, delivery %d, %v", m.Body, m.DeliveryCount, m.ApplicationProperties)
	}
	if err := r.CompleteMessage(t.Context(), m, nil); err != nil {
		t.Fatal(err)
	}
	if n := ns.Move(t, "orders/$DeadLetterQueue", "archive", sbtest.Select{}, sbtest.Edit{Subject: "old"}); n != 1 {
		t.Errorf("%d moved", n)
	}
	if m := one(t, receiver(t, client, "archive"), 10*time.Second); string(m.Body) != "worse" || *m.DeadLetterReason != "poison" || *m.Subject != "old" {
		t.Errorf("in the archive: %s %v", m.Body, m.ApplicationProperties)
	}
	due := time.Now().Add(time.Hour)
	send(t, client, "orders", &azservicebus.Message{Body: []byte("later"), ScheduledEnqueueTime: &due})
	send(t, client, "orders", body("now"))
	if n := ns.Purge(t, "orders", sbtest.Select{States: []sbtest.State{sbtest.Scheduled}}); n != 1 {
		t.Errorf("%d purged", n)
	}
	wantCounts(t, ns, "orders", sbtest.Counts{Active: 1})
}

// TestABrokenSessionIsLostToItsHolder and free for another client. Its state can be read and written beside it.
func TestABrokenSessionIsLostToItsHolder(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders", RequiresSession: true})
	client, other := clientOf(t, bus.ConnectionString(), nil), clientOf(t, bus.ConnectionString(), nil)
	send(t, client, "orders", &azservicebus.Message{Body: []byte("hello"), SessionID: new("s")})
	held, err := client.AcceptSessionForQueue(t.Context(), "orders", "s", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := held.ReceiveMessages(t.Context(), 1, nil); err != nil {
		t.Fatal(err)
	}
	if err := held.SetSessionState(t.Context(), []byte("step 1"), nil); err != nil {
		t.Fatal(err)
	}
	s := bus.Session(t, "orders", "s")
	if string(s.State()) != "step 1" {
		t.Errorf("the state is %q", s.State())
	}
	s.SetState([]byte("step 2"))
	if state, err := held.GetSessionState(t.Context(), nil); err != nil || string(state) != "step 2" {
		t.Errorf("the holder reads %q, %v", state, err)
	}
	list := bus.Sessions(t, "orders")
	if len(list) != 1 || !list[0].Held || list[0].Holder == "" || list[0].Locked != 1 || list[0].StateBytes != 6 {
		t.Errorf("sessions: %+v", list)
	}
	s.Break()
	again, err := other.AcceptSessionForQueue(t.Context(), "orders", "s", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := held.RenewSessionLock(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "session") { // the SDK has tried to lock it again
		t.Errorf("the holder renews: %v", err)
	}
	if ms, err := again.ReceiveMessages(t.Context(), 1, nil); err != nil || ms[0].DeliveryCount != 2 {
		t.Errorf("after the break: %v, %v", ms, err)
	}
	s.SetState(nil)
	if state, err := again.GetSessionState(context.Background(), nil); err != nil || state != nil {
		t.Errorf("a state that was cleared: %q, %v", state, err)
	}
}
