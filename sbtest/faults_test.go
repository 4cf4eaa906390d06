package sbtest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// faulty runs f in a bubble with a queue "orders" and a sender of the SDK, of a client that tries again at most three
// times.
func faulty(t *testing.T, q sbtest.Queue, f func(x *faultyTest)) {
	t.Helper()
	q.Name = "orders"
	whyBubble(t, func(t *testing.T, bus *sbtest.Server, client *azservicebus.Client) {
		sender, err := client.NewSender("orders", nil)
		if err != nil {
			t.Fatal(err)
		}
		f(&faultyTest{t, bus, client, sender})
	}, q)
}

type faultyTest struct {
	*testing.T
	bus    *sbtest.Server
	client *azservicebus.Client
	sender *azservicebus.Sender
}

func (x *faultyTest) trySend(text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	return x.sender.SendMessage(ctx, body(text), nil)
}

func (x *faultyTest) send(text string) {
	x.Helper()
	if err := x.trySend(text); err != nil {
		x.Fatalf("send: %v", err)
	}
}

func (x *faultyTest) wantHits(f *sbtest.Injected, want int) {
	x.Helper()
	if n := f.Hits(); n != want {
		x.Errorf("%s hit %d times, want %d", f, n, want)
	}
}

// wantCode fails unless an error of the SDK has a code.
func (x *faultyTest) wantCode(err error, want azservicebus.Code) {
	x.Helper()
	if coded := (*azservicebus.Error)(nil); !errors.As(err, &coded) || coded.Code != want {
		x.Errorf("the SDK says %v, want the code %q", err, want)
	}
}

// The SDK waits and tries again when it is throttled, and succeeds.
func TestFaults_TheSDKTriesAgainWhenItIsThrottled(t *testing.T) {
	faulty(t, sbtest.Queue{}, func(x *faultyTest) {
		x.send("first") // so that the link is there
		f := x.bus.Inject(x, sbtest.Fault{Kind: sbtest.Throttle, Entity: "orders", Count: 2})
		begin := time.Now()
		x.send("second")
		x.wantHits(f, 2)
		if waited := time.Since(begin); waited < time.Second {
			x.Errorf("the SDK waited only %v", waited)
		}
		wantCounts(x.T, x.bus, "orders", sbtest.Counts{Active: 2})

		always := x.bus.Inject(x, sbtest.Fault{Kind: sbtest.Throttle, Entity: "orders"})
		if err := x.trySend("third"); err == nil || !strings.Contains(err.Error(), "com.microsoft:server-busy") || !strings.Contains(err.Error(), "being throttled. Error code : 50009") {
			x.Errorf("throttled for good: %v", err)
		}
		x.wantHits(always, 4) // three times again
		always.Remove()
		x.send("third")
		wantCounts(x.T, x.bus, "orders", sbtest.Counts{Active: 3})
	})
}

// The SDK tries again to attach and to schedule, over another link, when it is throttled.
func TestFaults_TheSDKIsThrottledElsewhere(t *testing.T) {
	faulty(t, sbtest.Queue{}, func(x *faultyTest) {
		f := x.bus.Inject(x, sbtest.Fault{Kind: sbtest.Throttle, Count: 3,
			Operations: []sbtest.Operation{sbtest.AttachSender, sbtest.AttachReceiver, sbtest.Authenticate}})
		x.send("first")
		x.wantHits(f, 3)
		one(x.T, receiver(x.T, x.client, "orders"), time.Minute)
		f = x.bus.Inject(x, sbtest.Fault{Kind: sbtest.Throttle, Count: 1})
		if _, err := x.sender.ScheduleMessages(context.Background(), []*azservicebus.Message{body("later")}, time.Now().Add(time.Hour), nil); err != nil {
			x.Errorf("schedule: %v", err)
		}
		x.wantHits(f, 1)
	})
}

// A sender recovers from a link that is detached and from connections that are cut or closed. The message is stored
// once.
func TestFaults_TheSDKRecovers(t *testing.T) {
	for name, f := range map[string]sbtest.Fault{
		"detach": {Kind: sbtest.Detach}, "drop": {Kind: sbtest.Drop}, "close": {Kind: sbtest.Close}, "close for a reason": {Kind: sbtest.Close, Condition: "internal-error"},
	} {
		t.Run(name, func(t *testing.T) {
			faulty(t, sbtest.Queue{}, func(x *faultyTest) {
				x.send("first")
				f.Count, f.Operations = 1, []sbtest.Operation{sbtest.Send}
				sent := x.bus.Inject(x, f)
				x.send("second")
				x.wantHits(sent, 1)
				wantCounts(x.T, x.bus, "orders", sbtest.Counts{Active: 2})

				r := receiver(x.T, x.client, "orders")
				f.Operations = []sbtest.Operation{sbtest.Receive}
				received := x.bus.Inject(x, f)
				m := x.next(r)
				x.wantHits(received, 1)
				if m.DeliveryCount != 1 {
					x.Errorf("delivery count %d", m.DeliveryCount)
				}
				f.Operations = []sbtest.Operation{sbtest.Now}
				now := x.bus.Inject(x, f)
				synctest.Wait()
				x.wantHits(now, 1)
				x.send("third")
			})
		})
	}
}

// next receives a message as a program does that goes on after an error of the link.
func (x *faultyTest) next(r *azservicebus.Receiver) *azservicebus.ReceivedMessage {
	x.Helper()
	for range 10 {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		messages, err := r.ReceiveMessages(ctx, 1, nil)
		cancel()
		if len(messages) > 0 {
			return messages[0]
		}
		x.Logf("receive: %v", err)
	}
	x.Fatal("nothing is received")
	return nil
}

// The answer to a send is lost, and the SDK sends the message again: without duplicate detection it is there twice.
func TestFaults_TheSDKSendsTwiceWhenTheAnswerIsLost(t *testing.T) {
	for _, kind := range []sbtest.FaultKind{sbtest.Detach, sbtest.Drop, sbtest.Close} {
		for detection, want := range map[bool]int64{false: 2, true: 1} {
			faulty(t, sbtest.Queue{RequiresDuplicateDetection: detection}, func(x *faultyTest) {
				f := x.bus.Inject(x, sbtest.Fault{Kind: kind, Operations: []sbtest.Operation{sbtest.Send}, After: true, Count: 1})
				id := "1"
				if err := x.sender.SendMessage(context.Background(), &azservicebus.Message{MessageID: &id}, nil); err != nil {
					x.Fatal(err)
				}
				x.wantHits(f, 1)
				wantCounts(x.T, x.bus, "orders", sbtest.Counts{Active: want})
			})
		}
	}
}

// The answer to a completion is lost with the connection: the program gets an error, and the message is gone all the
// same.
func TestFaults_TheAnswerToACompletionIsLost(t *testing.T) {
	faulty(t, sbtest.Queue{}, func(x *faultyTest) {
		x.send("1")
		r := receiver(x.T, x.client, "orders")
		m := one(x.T, r, time.Minute)
		x.bus.Inject(x, sbtest.Fault{Kind: sbtest.Drop, Operations: []sbtest.Operation{sbtest.Settle}, After: true, Count: 1})
		if err := r.CompleteMessage(context.Background(), m, nil); err == nil {
			x.Error("the SDK says that the message was completed")
		}
		wantCounts(x.T, x.bus, "orders", sbtest.Counts{})
	})
}

// A lock that is lost is the SDK's error for that, and the message comes again.
func TestFaults_ALostLockIsThatOfTheSDK(t *testing.T) {
	faulty(t, sbtest.Queue{}, func(x *faultyTest) {
		x.send("1")
		r := receiver(x.T, x.client, "orders")
		f := x.bus.Inject(x, sbtest.Fault{Kind: sbtest.LoseLock, Count: 2})
		ctx := context.Background()
		x.wantCode(r.CompleteMessage(ctx, one(x.T, r, time.Minute), nil), azservicebus.CodeLockLost)
		again := one(x.T, r, time.Minute)
		x.wantCode(r.RenewMessageLock(ctx, again, nil), azservicebus.CodeLockLost)
		last := one(x.T, r, time.Minute)
		if last.DeliveryCount != 3 {
			x.Errorf("delivery count %d, want 3", last.DeliveryCount)
		}
		if err := r.CompleteMessage(ctx, last, nil); err != nil {
			x.Errorf("complete: %v", err)
		}
		x.wantHits(f, 2)
		wantCounts(x.T, x.bus, "orders", sbtest.Counts{})
		var hit []string
		for _, e := range x.bus.HistoryOf(x, "orders", 1) {
			if e.Kind == sbtest.EventFault {
				text, _, _ := strings.Cut(e.String(), " by ")
				hit = append(hit, text)
			}
		}
		want := []string{"fault 1 (loseLock) hit settle, number 1 of orders", "fault 1 (loseLock) hit renew, number 1 of orders"}
		if !slices.Equal(hit, want) {
			x.Errorf("the history has the faults %q, want %q", hit, want)
		}
	})
}

// A session that is lost is free: the SDK accepts it again by itself, and its messages come again.
func TestFaults_TheSDKAcceptsALostSessionAgain(t *testing.T) {
	faulty(t, sbtest.Queue{RequiresSession: true}, func(x *faultyTest) {
		ctx := context.Background()
		r := x.session("a")
		for i, op := range []sbtest.Operation{sbtest.Settle, sbtest.Renew, sbtest.Manage} {
			m := x.nextOf(r)
			if int(m.DeliveryCount) != i+1 { // the SDK has said that it was completed
				x.Errorf("delivery count %d after %d losses", m.DeliveryCount, i)
			}
			f := x.bus.Inject(x, sbtest.Fault{Kind: sbtest.LoseSession, Operations: []sbtest.Operation{op}, Count: 1})
			if err := x.use(r, op, m); err != nil {
				x.Errorf("%s: %v", op, err)
			}
			x.wantHits(f, 1)
		}
		if err := r.CompleteMessage(ctx, x.nextOf(r), nil); err != nil {
			x.Error(err)
		}
		wantEmpty(x.T, x.bus, "orders")
	})
}

// If another program waits for a session, it gets the lost one, and the SDK of the first says so.
func TestFaults_ALostSessionIsAnotherOnes(t *testing.T) {
	for _, op := range []sbtest.Operation{sbtest.Renew, sbtest.Manage} {
		faulty(t, sbtest.Queue{RequiresSession: true}, func(x *faultyTest) {
			r := x.session("a")
			m := x.nextOf(r)
			second := make(chan *azservicebus.SessionReceiver, 1)
			go func() {
				other, err := connect(x.T, x.bus).AcceptNextSessionForQueue(context.Background(), "orders", nil)
				if err != nil {
					x.Error(err)
				}
				second <- other
			}()
			synctest.Wait()
			x.bus.Inject(x, sbtest.Fault{Kind: sbtest.LoseSession, Operations: []sbtest.Operation{op}, Count: 1})
			if err := x.use(r, op, m); err == nil || !strings.Contains(err.Error(), "The requested session 'a' cannot be accepted") {
				x.Errorf("%s: %v", op, err)
			}
			if m := x.nextOf(<-second); m.DeliveryCount != 2 {
				x.Errorf("delivery count %d", m.DeliveryCount)
			}
		})
	}
}

// session sends a message to a session and accepts that.
func (x *faultyTest) session(id string) *azservicebus.SessionReceiver {
	x.Helper()
	if err := x.sender.SendMessage(context.Background(), &azservicebus.Message{SessionID: &id}, nil); err != nil {
		x.Fatal(err)
	}
	r, err := x.client.AcceptSessionForQueue(context.Background(), "orders", id, nil)
	if err != nil {
		x.Fatal(err)
	}
	return r
}

func (x *faultyTest) nextOf(r *azservicebus.SessionReceiver) *azservicebus.ReceivedMessage {
	x.Helper()
	for range 5 {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		messages, err := r.ReceiveMessages(ctx, 1, nil)
		cancel()
		if len(messages) > 0 {
			return messages[0]
		}
		x.Logf("receive: %v", err)
	}
	x.Fatal("nothing is received")
	return nil
}

// use does something for which the session must be held.
func (x *faultyTest) use(r *azservicebus.SessionReceiver, op sbtest.Operation, m *azservicebus.ReceivedMessage) error {
	switch op {
	case sbtest.Settle:
		return r.CompleteMessage(context.Background(), m, nil)
	case sbtest.Renew:
		return r.RenewSessionLock(context.Background(), nil)
	}
	return r.SetSessionState(context.Background(), []byte("x"), nil)
}

// An attach is refused with the condition of the fault; the SDK gives up when that is final, and tries again when it
// is not.
func TestFaults_TheSDKIsRefused(t *testing.T) {
	for condition, final := range map[string]azservicebus.Code{
		"not-found": "", "unauthorized-access": azservicebus.CodeUnauthorizedAccess, "entity-disabled": "", "internal-error": "again", "resource-limit-exceeded": "",
	} {
		t.Run(condition, func(t *testing.T) {
			faulty(t, sbtest.Queue{}, func(x *faultyTest) {
				f := x.bus.Inject(x, sbtest.Fault{Kind: sbtest.Refuse, Condition: condition, Count: 1})
				err := x.trySend("1")
				x.wantHits(f, 1)
				switch {
				case final == "again":
					if err != nil {
						x.Errorf("send: %v", err)
					}
					return
				case final != "":
					x.wantCode(err, final)
				case err == nil || !strings.Contains(err.Error(), condition):
					x.Errorf("send: %v", err)
				}
				x.send("2")
			})
		})
	}
}

// Outcomes come late, in their order, and nobody else waits.
func TestFaults_OutcomesAreDelayed(t *testing.T) {
	faulty(t, sbtest.Queue{}, func(x *faultyTest) {
		x.send("first")
		x.bus.Inject(x, sbtest.Fault{Kind: sbtest.Delay, Delay: 20 * time.Second, Count: 1, Entity: "orders"})
		begin := time.Now()
		took := func(want time.Duration) {
			x.Helper()
			if d := time.Since(begin).Truncate(time.Second); d != want {
				x.Errorf("it took %v, want %v", d, want)
			}
			begin = time.Now()
		}
		slow := make(chan error, 1)
		go func() { slow <- x.trySend("slow") }()
		synctest.Wait()
		other, err := x.client.NewSender("orders", nil)
		if err != nil {
			x.Fatal(err)
		}
		if err := other.SendMessage(context.Background(), body("quick"), nil); err != nil {
			x.Fatal(err)
		}
		took(0)
		wantCounts(x.T, x.bus, "orders", sbtest.Counts{Active: 3})
		x.send("in order") // behind the slow one
		took(20 * time.Second)
		if err := <-slow; err != nil {
			x.Error(err)
		}
		r := receiver(x.T, x.client, "orders")
		m := one(x.T, r, time.Minute)
		x.bus.Inject(x, sbtest.Fault{Kind: sbtest.Delay, Delay: 20 * time.Second, Count: 2, Operations: []sbtest.Operation{sbtest.Settle, sbtest.Renew}})
		if err := r.RenewMessageLock(context.Background(), m, nil); err != nil {
			x.Error(err)
		}
		took(20 * time.Second)
		if err := r.CompleteMessage(context.Background(), m, nil); err != nil {
			x.Error(err)
		}
		took(20 * time.Second)
	})
}

// A sender gets no credit and a receiver no message, until the fault is over.
func TestFaults_TheSDKIsStarved(t *testing.T) {
	faulty(t, sbtest.Queue{}, func(x *faultyTest) {
		x.send("first")
		f := x.bus.Inject(x, sbtest.Fault{Kind: sbtest.Starve, Entity: "orders"})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := x.sender.SendMessage(ctx, body("second"), nil); !errors.Is(err, context.DeadlineExceeded) {
			x.Errorf("send without credit: %v", err)
		}
		r := receiver(x.T, x.client, "orders")
		vainly(x.T, r)
		x.wantHits(f, 2)
		waiting, stop := context.WithCancel(context.Background())
		go func() { _, _ = r.ReceiveMessages(waiting, 1, nil) }()
		synctest.Wait()
		wantWhy(x.T, x.bus.Why(x, "orders"), "no-credit!", "an injected fault starves it; minibus fault ls shows which")
		stop()
		synctest.Wait()
		f.Remove()
		m := x.next(r)
		if string(m.Body) != "first" || m.DeliveryCount != 1 {
			x.Errorf("received %s, delivery %d", m.Body, m.DeliveryCount)
		}
		if err := r.CompleteMessage(context.Background(), m, nil); err != nil {
			x.Error(err)
		}
		x.send("second")

		// By the clock of the namespace: who waits goes on when an hour has passed for it.
		x.bus.Inject(x, sbtest.Fault{Kind: sbtest.Starve, For: time.Hour})
		got := make(chan string, 1)
		go func() { got <- string(x.next(r).Body) }()
		synctest.Wait()
		x.bus.Advance(time.Hour)
		if text := <-got; text != "second" {
			x.Errorf("received %q", text)
		}
	})
}

// What the journal can't write is an error of the SDK, and nothing has happened.
func TestFaults_TheJournalFails(t *testing.T) {
	faulty(t, sbtest.Queue{}, func(x *faultyTest) {
		x.send("first")
		f := x.bus.Inject(x, sbtest.Fault{Kind: sbtest.FailJournal, Entity: "orders", Count: 2})
		x.send("second") // the SDK tries again after an internal error
		x.wantHits(f, 2)
		wantCounts(x.T, x.bus, "orders", sbtest.Counts{Active: 2})
		x.bus.Inject(x, sbtest.Fault{Kind: sbtest.FailJournal, Condition: "resource-limit-exceeded", Operations: []sbtest.Operation{sbtest.Send}, Count: 1})
		if err := x.trySend("third"); err == nil || !strings.Contains(err.Error(), "The disk is full (by fault 2 of Minibus)") {
			x.Errorf("send on a full disk: %v", err)
		}
		x.bus.Inject(x, sbtest.Fault{Kind: sbtest.FailJournal, Operations: []sbtest.Operation{sbtest.Settle}, Count: 1})
		r := receiver(x.T, x.client, "orders")
		m := one(x.T, r, time.Minute)
		if err := r.CompleteMessage(context.Background(), m, nil); err == nil {
			x.Error("the message was completed without the journal")
		}
		wantCounts(x.T, x.bus, "orders", sbtest.Counts{Active: 2})
		x.bus.Advance(time.Minute)
		if again := x.next(r); *again.SequenceNumber != 1 && *again.SequenceNumber != 2 {
			x.Errorf("received number %d", *again.SequenceNumber)
		}
	})
}

// A token that is over detaches the links. The SDK puts another one and goes on.
func TestFaults_TheTokenExpires(t *testing.T) {
	faulty(t, sbtest.Queue{}, func(x *faultyTest) {
		x.send("first")
		r := receiver(x.T, x.client, "orders")
		got := make(chan string, 1)
		go func() {
			x.next(r)
			got <- string(x.next(r).Body)
		}()
		synctest.Wait()
		f := x.bus.Inject(x, sbtest.Fault{Kind: sbtest.ExpireToken})
		synctest.Wait()
		x.wantHits(f, 1)
		x.send("second")
		if text := <-got; text != "second" {
			x.Errorf("received %q", text)
		}
	})
}

// Faults of a namespace hit no other one, and those of a test end with it.
func TestFaults_AreThoseOfANamespace(t *testing.T) {
	bus := sbtest.Start(t)
	ns, other := bus.NewNamespace(t, sbtest.Queue{Name: "orders"}), bus.NewNamespace(t, sbtest.Queue{Name: "orders"})
	t.Run("a test", func(t *testing.T) {
		f := ns.Inject(t, sbtest.Fault{Kind: sbtest.Refuse, Condition: "not-found"})
		send(t, clientOf(t, other.ConnectionString(), nil), "orders", body("1"))
		sender, err := clientOf(t, ns.ConnectionString(), nil).NewSender("orders", nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := sender.SendMessage(t.Context(), body("1"), nil); err == nil || f.Hits() == 0 {
			t.Errorf("send: %v", err)
		}
	})
	send(t, clientOf(t, ns.ConnectionString(), nil), "orders", body("1"))
	if n := len(ns.Domain().Faults().List()); n != 0 {
		t.Errorf("%d faults are left", n)
	}
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		ns.Inject(r, sbtest.Fault{Kind: "explode"})
	}()
	<-done
	if !strings.Contains(r.fatal, `sbtest: inject a fault: There is no kind of fault "explode"`) {
		t.Errorf("failed with %q", r.fatal)
	}
}
