package sbtest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// wantWhy wants findings, the first of which blocks if the code has a "!", and texts in what the diagnosis prints.
func wantWhy(t *testing.T, d *sbtest.Diagnosis, codes string, texts ...string) {
	t.Helper()
	var got []string
	for _, f := range d.Findings {
		code := f.Code
		if f.Blocks {
			code += "!"
		}
		got = append(got, code)
	}
	if found := strings.Join(got, " "); found != codes {
		t.Errorf("the findings are %s, want %s: %s", found, codes, d)
	}
	for _, text := range texts {
		if !strings.Contains(d.String(), text) {
			t.Errorf("%q is missing in %s", text, d)
		}
	}
}

// vainly receives for a second and wants nothing.
func vainly(t *testing.T, r *azservicebus.Receiver) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if messages, err := r.ReceiveMessages(ctx, 1, nil); err == nil {
		t.Fatalf("received %v", messages)
	}
}

// whyBubble runs f in a bubble with a server and a client of it.
func whyBubble(t *testing.T, f func(t *testing.T, bus *sbtest.Server, client *azservicebus.Client), options ...sbtest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, options...)
		f(t, bus, connect(t, bus))
	})
}

func TestWhy_AReceiverOfTheSDKHasNoCredit(t *testing.T) {
	whyBubble(t, func(t *testing.T, bus *sbtest.Server, client *azservicebus.Client) {
		for _, body := range []string{"1", "2"} {
			send(t, client, "orders", &azservicebus.Message{Body: []byte(body)})
		}
		r := receiver(t, client, "orders")
		m := one(t, r, time.Second) // after which it asks for no more
		wantWhy(t, bus.Why(t, "orders"), "no-credit! locked", "1 message is available, and no receiver takes any", "its client asks for no messages (credit 0) and has not settled 1")
		if err := r.CompleteMessage(context.Background(), m, nil); err != nil {
			t.Fatal(err)
		}
		wantWhy(t, bus.Why(t, "orders"), "no-credit!", "(credit 0).")
		one(t, r, time.Second)
	}, sbtest.Queue{Name: "orders"})
}

func TestWhy_TheMessageIsLockedByAnotherReceiverOfTheSDK(t *testing.T) {
	whyBubble(t, func(t *testing.T, bus *sbtest.Server, client *azservicebus.Client) {
		send(t, client, "orders", &azservicebus.Message{Body: []byte("1")})
		one(t, receiver(t, client, "orders"), time.Second)
		holder := bus.Connections()[0]
		second := connect(t, bus)
		r := receiver(t, second, "orders")
		vainly(t, r)
		mine := bus.Connections()[1]
		wantWhy(t, bus.Why(t, "orders", mine.ID), "locked!", "1 message is locked: 1 by link", "of connection "+holder.ID+" ("+holder.Container)
		bus.Advance(time.Minute)
		one(t, r, time.Second)
	}, sbtest.Queue{Name: "orders"})
}

func TestWhy_TheSessionIsHeldByAnotherReceiverOfTheSDK(t *testing.T) {
	whyBubble(t, func(t *testing.T, bus *sbtest.Server, client *azservicebus.Client) {
		ctx := context.Background()
		session := "customer-1"
		send(t, client, "orders", &azservicebus.Message{Body: []byte("1"), SessionID: &session})
		wantWhy(t, bus.Why(t, "orders"), "no-receiver! session-required")
		if _, err := client.AcceptSessionForQueue(ctx, "orders", session, nil); err != nil {
			t.Fatal(err)
		}
		waiting, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if _, err := client.AcceptNextSessionForQueue(waiting, "orders", nil); err == nil {
			t.Fatal("a held session was accepted")
		}
		wantWhy(t, bus.Why(t, "orders"), "no-credit!", "1 message is available") // its holder does not ask for it
		plain := receiver(t, client, "orders")
		if _, err := plain.ReceiveMessages(ctx, 1, nil); err == nil {
			t.Fatal("a receiver without a session was attached")
		}
		wantWhy(t, bus.Why(t, "orders"), "no-credit! refused", "It is not possible for an entity that requires sessions to create a non-sessionful message receiver (amqp:not-allowed)")
		wantWhy(t, bus.Why(t, "orders", "somebody"), "no-receiver! sessions-held! session-required", "Receivers hold 1 session with messages: 'customer-1' with 1 message, by link")
	}, sbtest.Queue{Name: "orders", RequiresSession: true})
}

func TestWhy_TheQueueIsDisabledForwardsOrDelaysItsMessages(t *testing.T) {
	whyBubble(t, func(t *testing.T, bus *sbtest.Server, client *azservicebus.Client) {
		send(t, client, "off", &azservicebus.Message{Body: []byte("1")})
		vainly(t, receiver(t, client, "off"))
		wantWhy(t, bus.Why(t, "off"), "disabled! refused", "off has the status ReceiveDisabled", "(com.microsoft:entity-disabled)")
		send(t, client, "from", &azservicebus.Message{Body: []byte("1")})
		vainly(t, receiver(t, client, "from"))
		wantWhy(t, bus.Why(t, "from"), "forwards! refused", "from forwards to to: it keeps no messages", "Receive from to")
		one(t, receiver(t, client, "to"), time.Second)
		later := time.Now().Add(time.Hour)
		send(t, client, "later", &azservicebus.Message{Body: []byte("1"), ScheduledEnqueueTime: &later})
		r := receiver(t, client, "later")
		vainly(t, r)
		wantWhy(t, bus.Why(t, "later"), "scheduled!", "1 message is scheduled; the first one is due at 2000-01-01T01:00:")
		bus.Advance(time.Hour)
		m := one(t, r, time.Second)
		if err := r.DeferMessage(context.Background(), m, nil); err != nil {
			t.Fatal(err)
		}
		wantWhy(t, bus.Why(t, "later"), "deferred!", "such as 2.")
		send(t, client, "later", &azservicebus.Message{Body: []byte("2")})
		if err := r.DeadLetterMessage(context.Background(), one(t, r, time.Second), &azservicebus.DeadLetterOptions{Reason: new("spoilt")}); err != nil {
			t.Fatal(err)
		}
		wantWhy(t, bus.Why(t, "later"), "deferred! dead-lettered", "1 message is in the dead-letter queue: 1 spoilt.")
		wantWhy(t, bus.Why(t, "later/$DeadLetterQueue"), "wrong-sub-queue!", "Receivers are attached to another sub-queue, and none to later/$DeadLetterQueue")
	}, sbtest.Queue{Name: "off", Status: sbtest.ReceiveDisabled}, sbtest.Queue{Name: "to"}, sbtest.Queue{Name: "from", ForwardTo: "to"}, sbtest.Queue{Name: "later"})
}

func TestWhy_NoRuleSelectsWhatTheSDKSends(t *testing.T) {
	whyBubble(t, func(t *testing.T, bus *sbtest.Server, client *azservicebus.Client) {
		send(t, client, "events", &azservicebus.Message{ApplicationProperties: map[string]any{"amount": "5000"}})
		r, err := client.NewReceiverForSubscription("events", "large", nil)
		if err != nil {
			t.Fatal(err)
		}
		vainly(t, r)
		wantWhy(t, bus.Why(t, "events/Subscriptions/large"), "rules-match-nothing! empty!", "selected none of 1 message sent to the topic", "amount > 1000", "the text '5' is not the number 5")
		wantWhy(t, bus.Why(t, "events"), "topic!", "events/Subscriptions/large got 0 of 1")
		send(t, client, "events", &azservicebus.Message{ApplicationProperties: map[string]any{"amount": int64(5000)}})
		one(t, r, time.Second)
	}, sbtest.Topic{Name: "events", Subscriptions: []sbtest.Subscription{{Name: "large", Rules: []sbtest.Rule{{SQL: "amount > 1000"}}}}})
}

func TestWhy_InANamespaceOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.Queue{Name: "orders"})
		ns := bus.NewNamespace(t, sbtest.Queue{Name: "orders"})
		connect(t, bus)
		if d := ns.Why(t, "ORDERS"); !d.Has("no-receiver") || !d.Blocked() || d.Entity != "orders" {
			t.Errorf("why: %s", d)
		}
		for _, fail := range []func(tb testing.TB){
			func(tb testing.TB) { ns.Why(tb, "nothing") }, func(tb testing.TB) { ns.Why(tb, "orders", "a", "b") },
			func(tb testing.TB) { ns.CloseConnection(tb, "c1") }, func(tb testing.TB) { ns.DetachLink(tb, "c1", 1) },
		} {
			if text := failure(fail); !strings.HasPrefix(text, "sbtest: ") {
				t.Errorf("it fails with %q", text)
			}
		}
	})
}

// failing is a test that fails.
type failing struct {
	*exampleT
}

// failure returns with what a test fails.
func failure(f func(tb testing.TB)) (text string) {
	defer func() { text, _ = recover().(string) }()
	f(failing{&exampleT{}})
	return ""
}
