package sbtest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// TestTheHistoryOfAMessage follows one that the SDK publishes, dead-letters and completes.
func TestTheHistoryOfAMessage(t *testing.T) {
	bus := sbtest.Start(t)
	ns := bus.NewNamespace(t, sbtest.Topic{Name: "events", Subscriptions: []sbtest.Subscription{{Name: "audit"}}})
	client := clientOf(t, ns.ConnectionString(), nil)
	id, reason := "order-7", "spoilt"
	send(t, client, "events", &azservicebus.Message{MessageID: &id})
	r, err := client.NewReceiverForSubscription("events", "audit", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.DeadLetterMessage(t.Context(), one(t, r, 10*time.Second), &azservicebus.DeadLetterOptions{Reason: &reason}); err != nil {
		t.Fatal(err)
	}
	const want = "sent, copied, delivered, dead-lettered"
	if got := kinds(ns.History(t, id)); got != want {
		t.Errorf("the history is %s, want %s", got, want)
	}
	if text := fmt.Sprint(ns.History(t, id)[0]); !strings.HasPrefix(text, "sent to events as number 1 by link ") {
		t.Errorf("an event prints %q", text)
	}
	for _, path := range []string{"events/Subscriptions/audit", "EVENTS/subscriptions/audit"} {
		if got := kinds(ns.HistoryOf(t, path, 1)); got != want {
			t.Errorf("the history of number 1 of %s is %s, want %s", path, got, want)
		}
	}
	dead := ns.Events(t, sbtest.EventFilter{Entity: "events/Subscriptions/audit", Kinds: []sbtest.EventKind{sbtest.EventDeadLettered}, Since: time.Now().Add(-time.Hour), Before: time.Now().Add(time.Hour)})
	if len(dead) != 1 || dead[0].Text != reason {
		t.Errorf("the events are %v", dead)
	}
	if other := bus.History(t, id); len(other) != 0 {
		t.Errorf("the default namespace has %v", other)
	}
	if later := ns.Events(t, sbtest.EventFilter{From: dead[0].Number + 1}); len(later) != 0 {
		t.Errorf("later there is %v", later)
	}
}

func kinds(events []sbtest.Event) string {
	var all []string
	for _, e := range events {
		all = append(all, e.Kind.String())
	}
	return strings.Join(all, ", ")
}

// TestWaitForAProgram that receives with the SDK.
func TestWaitForAProgram(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	client := clientOf(t, bus.ConnectionString(), nil)
	r := receiver(t, client, "orders")
	for _, text := range []string{"1", "2", "3"} {
		send(t, client, "orders", body(text))
	}
	bus.WaitFor(t, sbtest.Exactly("orders", sbtest.CountedActive, 3))
	failed := make(chan error, 1)
	go func() {
		for range 3 {
			messages, err := r.ReceiveMessages(t.Context(), 1, nil)
			if err == nil {
				err = r.CompleteMessage(t.Context(), messages[0], nil)
			}
			if err != nil {
				failed <- err
				return
			}
		}
		failed <- nil
	}()
	bus.WaitFor(t, sbtest.Happened(3, sbtest.EventFilter{Entity: "orders", Kinds: []sbtest.EventKind{sbtest.EventCompleted}}), sbtest.Within(time.Minute))
	bus.WaitFor(t, sbtest.Idle("orders"))
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

// TestWaitInVain says what it waited for, how it stands, and why.
func TestWaitInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
		settled := sbtest.EventFilter{Entity: "orders", Client: "worker", Kinds: []sbtest.EventKind{sbtest.EventCompleted, sbtest.EventDeadLettered}}
		wait := func(conditions ...sbtest.Condition) func(testing.TB) {
			return func(t testing.TB) { bus.WaitFor(t, conditions...) }
		}
		for text, call := range map[string]func(testing.TB){
			"waited 10s in vain until orders is idle and orders has 1 dead letter or more: it has no messages\norders: 0 messages available": wait(
				sbtest.Idle("orders"), sbtest.AtLeast("orders", sbtest.CountedDeadLetter, 1)),
			"waited 1s in vain until 3 of: completed or dead-lettered in orders by worker happened: it has no messages": wait(
				sbtest.Within(time.Second), sbtest.Happened(3, settled)),
			"not of orders and others":             wait(sbtest.Idle("orders"), sbtest.Idle("others")),
			"no condition says what for":           wait(sbtest.Within(time.Second)),
			"wait until  is idle: name the entity": wait(sbtest.Idle("")),
			"found 2 conditions of events":         wait(sbtest.Happened(1, settled), sbtest.Happened(2, settled)),
			"wait until nothing is idle: The messaging entity 'nothing' could not be found": func(t testing.TB) { bus.WaitFor(t, sbtest.Idle("nothing")) },
			"call HistoryOf":                      func(t testing.TB) { bus.History(t, "") },
			"Found number 0 of \"q\"":             func(t testing.TB) { bus.HistoryOf(t, "q", 0) },
			"messages: give one selection, not 2": func(t testing.TB) { bus.Messages(t, "orders", sbtest.Browse{}, sbtest.Browse{}) },
		} {
			r := &recorder{TB: t}
			done := make(chan struct{})
			go func() {
				defer close(done)
				call(r)
			}()
			<-done
			if !strings.Contains(r.fatal, text) {
				t.Errorf("it says %q, want %q in it", r.fatal, text)
			}
		}
	})
}
