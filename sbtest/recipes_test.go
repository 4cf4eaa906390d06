package sbtest_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// worker is the program under test. It completes orders, and gives back what it can't read.
func worker(ctx context.Context, connectionString string) error {
	client, err := azservicebus.NewClientFromConnectionString(connectionString, nil)
	if err != nil {
		return err
	}
	defer client.Close(context.Background())
	receiver, err := client.NewReceiverForQueue("orders", nil)
	for err == nil {
		var messages []*azservicebus.ReceivedMessage
		messages, err = receiver.ReceiveMessages(ctx, 10, nil)
		for _, m := range messages {
			if json.Valid(m.Body) {
				err = receiver.CompleteMessage(ctx, m, nil)
			} else {
				err = receiver.AbandonMessage(ctx, m, nil)
			}
		}
	}
	return err
}

// order sends messages as a customer does.
func order(t *testing.T, connectionString string, messages ...*azservicebus.Message) {
	t.Helper()
	client, err := azservicebus.NewClientFromConnectionString(connectionString, &azservicebus.ClientOptions{
		RetryOptions: azservicebus.RetryOptions{RetryDelay: 10 * time.Millisecond}, // 4 s by default
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(t.Context())
	sender, err := client.NewSender("orders", nil)
	for _, m := range messages {
		if err == nil {
			err = sender.SendMessage(t.Context(), m, nil)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheWorkerTriesThreeTimes(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders", MaxDeliveryCount: 3})
	go worker(t.Context(), bus.ConnectionString())
	order(t, bus.ConnectionString(), &azservicebus.Message{MessageID: new("order-7"), Body: []byte("{")})

	bus.WaitFor(t, sbtest.Exactly("orders", sbtest.CountedDeadLetter, 1))
	dead := bus.Events(t, sbtest.EventFilter{Entity: "orders", Kinds: []sbtest.EventKind{sbtest.EventDeadLettered}})
	if n := dead[0].DeliveryCount; n != 3 {
		t.Errorf("the worker tried the order %d times: %v", n, bus.History(t, "order-7"))
	}
}

func TestTheCustomerTriesAgainWhenAzureIsBusy(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	busy := bus.Inject(t, sbtest.Fault{Kind: sbtest.Throttle, Operations: []sbtest.Operation{sbtest.Send}, Entity: "orders", Count: 2})

	order(t, bus.ConnectionString(), &azservicebus.Message{Body: []byte("{}")})
	if busy.Hits() != 2 {
		t.Errorf("%d sends were refused", busy.Hits())
	}
	bus.WaitFor(t, sbtest.Exactly("orders", sbtest.CountedActive, 1))
}

func TestTheInvoiceComesNextWeek(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	bus.Freeze(t) // from here on only the test lets time pass
	nextWeek := bus.Now().AddDate(0, 0, 7)
	order(t, bus.ConnectionString(), &azservicebus.Message{Body: []byte("{}"), ScheduledEnqueueTime: &nextWeek})

	bus.SetTime(t, nextWeek.Add(-time.Millisecond))
	bus.WaitFor(t, sbtest.Exactly("orders", sbtest.CountedActive, 0), sbtest.Exactly("orders", sbtest.CountedScheduled, 1))
	bus.SetTime(t, nextWeek)
	bus.WaitFor(t, sbtest.Exactly("orders", sbtest.CountedActive, 1))
}

func TestInParallel(t *testing.T) {
	bus := sbtest.Start(t)
	for _, body := range []string{`{"id": 1}`, `{"id": 2}`, `{"id": 3}`} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			ns := bus.NewNamespace(t, sbtest.Queue{Name: "orders"}) // with a clock of its own, too
			go worker(t.Context(), ns.ConnectionString())
			order(t, ns.ConnectionString(), &azservicebus.Message{Body: []byte(body)})
			completed := sbtest.EventFilter{Kinds: []sbtest.EventKind{sbtest.EventCompleted}}
			ns.WaitFor(t, sbtest.Idle("orders"), sbtest.Happened(1, completed))
			if n := len(ns.Events(t, completed)); n != 1 {
				t.Errorf("the worker completed %d orders", n)
			}
		})
	}
}

func TestAPoisonMessageIsMended(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders", MaxDeliveryCount: 1})
	go worker(t.Context(), bus.ConnectionString())
	order(t, bus.ConnectionString(), &azservicebus.Message{MessageID: new("order-7"), Body: []byte("{")})
	bus.WaitFor(t, sbtest.Exactly("orders", sbtest.CountedDeadLetter, 1))
	for _, e := range bus.History(t, "order-7") {
		t.Log(e) // sent, delivered, abandoned, moved to the dead-letter queue because of MaxDeliveryCountExceeded
	}

	bus.Resubmit(t, "orders", sbtest.Select{Reason: "MaxDeliveryCountExceeded"}, sbtest.Edit{Strip: true, Body: []byte("{}")})
	bus.WaitFor(t, sbtest.Idle("orders"), sbtest.Exactly("orders", sbtest.CountedDeadLetter, 0))
}

func TestWhyNothingArrives(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders", LockDuration: time.Minute})
	order(t, bus.ConnectionString(), &azservicebus.Message{Body: []byte("{}")})

	// A test that waits in vain prints why: sbtest.Server.WaitFor does so by itself.
	if d := bus.Why(t, "orders"); !d.Has("no-receiver") {
		t.Errorf("nothing arrives, and not because nobody receives: %s", d)
	}
	if refused := bus.Refusals(); len(refused) > 0 {
		t.Errorf("a client was refused: %s: %s", refused[0].Condition, refused[0].Text)
	}
}

func TestWithOrdersFromTheStart(t *testing.T) {
	bus := sbtest.Start(t, sbtest.ConfigJSON(`{"UserConfig": {"Namespaces": [{"Name": "shop", "Queues": [{"Name": "orders"}]}]}}`))
	for _, body := range []string{`{"id": 1}`, `{"id": 2}`} {
		order(t, bus.ConnectionString(), &azservicebus.Message{Body: []byte(body)})
	}
	bus.WaitFor(t, sbtest.Exactly("orders", sbtest.CountedActive, 2))
	go worker(t.Context(), bus.ConnectionString())
	bus.WaitFor(t, sbtest.Idle("orders"))
}

func TestAnOrderWhoseLockIsLostComesAgain(t *testing.T) {
	t.Parallel()
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders", LockDuration: 5 * time.Second})
	bus.Inject(t, sbtest.Fault{Kind: sbtest.LoseLock, Entity: "orders", Count: 1})
	order(t, bus.ConnectionString(), &azservicebus.Message{MessageID: new("order-7"), Body: []byte("{}")})
	go tireless(t.Context(), bus.ConnectionString())

	completed := sbtest.EventFilter{Kinds: []sbtest.EventKind{sbtest.EventCompleted}}
	bus.WaitFor(t, sbtest.Happened(1, completed), sbtest.Within(time.Minute))
	for _, e := range bus.History(t, "order-7") {
		t.Log(e) // sent, delivered, the lock ended, delivered, completed
	}
}

// tireless is a worker that begins again after an error.
func tireless(ctx context.Context, connectionString string) {
	for ctx.Err() == nil {
		_ = worker(ctx, connectionString)
	}
}

func TestTheWorkerGoesOnWhenItsConnectionBreaks(t *testing.T) {
	bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
	go worker(t.Context(), bus.ConnectionString())
	order(t, bus.ConnectionString(), &azservicebus.Message{Body: []byte("{}")})
	bus.WaitFor(t, sbtest.Idle("orders"))

	for _, c := range bus.Connections() {
		bus.CloseConnection(t, c.ID) // as Azure does before it restarts
	}
	order(t, bus.ConnectionString(), &azservicebus.Message{Body: []byte("{}")})
	completed := sbtest.EventFilter{Kinds: []sbtest.EventKind{sbtest.EventCompleted}}
	bus.WaitFor(t, sbtest.Happened(2, completed), sbtest.Within(time.Minute))
}
