package sbtest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"sync"
	"testing"
	"time"

	"minibus/internal/sas"
	"minibus/sbtest"
)

// TestSentAndSeenMessagesAreWhatTheSDKGets in all fields that a test can set.
func TestSentAndSeenMessagesAreWhatTheSDKGets(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders", RequiresSession: true})
	session, key := "s", "s"
	when := time.UnixMilli(1700000000123).UTC()
	sent := sbtest.Message{Body: []byte("two coffees"), MessageID: "id", SessionID: &session, PartitionKey: &key, Subject: "subject", ContentType: "text/plain", CorrelationID: "c", To: "to",
		ReplyTo: "r", ReplyToSessionID: "rs", TimeToLive: time.Hour,
		ApplicationProperties: map[string]any{"int": 5, "int32": int32(6), "time": when, "uuid": [16]byte{1}, "bytes": []byte{1}, "text": "x", "float": 1.5, "none": nil}}
	number := bus.Send(t, "orders", sent)[0]
	seen := bus.Message(t, "orders", number)
	want := sent
	want.ApplicationProperties = map[string]any{"int": int64(5), "int32": int32(6), "time": when, "uuid": [16]byte{1}, "bytes": []byte{1}, "text": "x", "float": 1.5, "none": nil}
	want.SequenceNumber = number
	want.State = sbtest.Active
	want.EnqueuedTime = seen.EnqueuedTime
	want.ExpiresAt = seen.EnqueuedTime.Add(time.Hour)
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("it is seen as\n%+v, want\n%+v", seen, want)
	}
	r, err := clientOf(t, bus.ConnectionString(), nil).AcceptSessionForQueue(t.Context(), "orders", "s", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.ReceiveMessages(t.Context(), 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := got[0]
	if string(m.Body) != "two coffees" || m.MessageID != "id" || *m.Subject != "subject" || *m.TimeToLive != time.Hour || m.ApplicationProperties["int32"] != int32(6) || !m.ApplicationProperties["time"].(time.Time).Equal(when) {
		t.Errorf("the SDK gets %+v", m)
	}
	if seen := bus.Message(t, "orders", number); seen.State != sbtest.Locked || seen.LockedBy == "" || seen.LockedUntil.IsZero() {
		t.Errorf("while it is locked it is seen as %+v", seen)
	}
}

// watch looks at a queue in all ways until the context ends.
func watch(ctx context.Context, t *testing.T, bus *sbtest.Server, queue string) {
	ask := func(path string) {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, controlURL(t, bus)+path, nil)
		if err != nil {
			t.Error(err)
			return
		}
		answer, err := http.DefaultClient.Do(q)
		if err != nil {
			return // the context has ended
		}
		defer func() { _ = answer.Body.Close() }()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, answer.Status)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
	}
	var all sync.WaitGroup
	for _, path := range []string{"entities/" + queue + "/messages?limit=1000", "entities/" + queue + "/messages?order=newest&text=7", "entities", "entities/" + queue, "history?order=newest", "events?from=1"} {
		all.Go(func() {
			for ctx.Err() == nil {
				ask(path)
			}
		})
	}
	all.Go(func() {
		for ctx.Err() == nil {
			bus.Messages(t, queue)
		}
	})
	all.Wait()
}

// controlURL returns the address of the default namespace in the control API.
func controlURL(t *testing.T, bus *sbtest.Server) string {
	t.Helper()
	c, err := sas.ParseConnection(bus.ConnectionString())
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + c.Host() + "/$minibus/v1/namespaces/$default/"
}

// TestLookingDisturbsNobody: while others look, a queue in use keeps its order, counts no delivery more, and loses no
// lock.
func TestLookingDisturbsNobody(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders", LockDuration: time.Minute})
	client := clientOf(t, bus.ConnectionString(), nil)
	ctx, stop := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { watch(ctx, t, bus, "orders") })
	const messages = 300
	watching.Go(func() {
		sender, err := client.NewSender("orders", nil)
		for i := 0; i < messages && err == nil; i++ {
			err = sender.SendMessage(ctx, body(fmt.Sprint(i)), nil)
		}
		if err != nil {
			t.Error(err)
		}
	})
	r := receiver(t, client, "orders")
	for next := 0; next < messages; {
		got, err := r.ReceiveMessages(ctx, 1, nil) // with more credit the SDK releases messages that come late, and they return behind others
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range got {
			if string(m.Body) != fmt.Sprint(next) || m.DeliveryCount != 1 {
				t.Errorf("message %s comes in the place of %d, delivery %d", m.Body, next, m.DeliveryCount)
			}
			if err := r.RenewMessageLock(ctx, m, nil); err != nil {
				t.Errorf("renew the lock of %s: %v", m.Body, err)
			}
			if err := r.CompleteMessage(ctx, m, nil); err != nil {
				t.Errorf("complete %s: %v", m.Body, err)
			}
			next++
		}
	}
	stop()
	watching.Wait()
	if left := bus.Messages(t, "orders"); len(left) > 0 {
		t.Errorf("%d messages are left", len(left))
	}
}
