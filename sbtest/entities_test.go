package sbtest_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/emulator"
	"minibus/sbtest"
)

// sample is a value for a field that every field of its type takes.
func sample(t *testing.T, field string, of reflect.Type) reflect.Value {
	t.Helper()
	switch of {
	case reflect.TypeFor[time.Duration]():
		return reflect.ValueOf(5 * time.Minute)
	case reflect.TypeFor[int](), reflect.TypeFor[int64]():
		return reflect.ValueOf(2048).Convert(of)
	case reflect.TypeFor[bool]():
		return reflect.ValueOf(true)
	case reflect.TypeFor[*bool]():
		return reflect.ValueOf(new(false))
	case reflect.TypeFor[string]():
		return reflect.ValueOf("target")
	case reflect.TypeFor[sbtest.Status]():
		return reflect.ValueOf(sbtest.ReceiveDisabled)
	case reflect.TypeFor[map[string]any]():
		return reflect.ValueOf(map[string]any{"target": int32(1)})
	}
	t.Fatalf("no sample for the field %s", field)
	return reflect.Value{}
}

// eachField calls try with a copy of v for each field that sets nothing but that field.
func eachField[T any](t *testing.T, v T, except []string, try func(t *testing.T, v T, value any)) {
	for i, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if slices.Contains(except, f.Name) {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			changed := v
			x := sample(t, f.Name, f.Type)
			reflect.ValueOf(&changed).Elem().Field(i).Set(x)
			try(t, changed, x.Interface())
		})
	}
}

// wantChange compares settings of the broker: value has come into one that was the default before.
func wantChange(t *testing.T, before, after, value any) {
	t.Helper()
	b, a := reflect.ValueOf(before), reflect.ValueOf(after)
	for i := range a.NumField() {
		was, is := b.Field(i), a.Field(i)
		if reflect.DeepEqual(was.Interface(), is.Interface()) {
			continue
		}
		if got, want := text(is.Interface()), text(value); got != want {
			t.Errorf("%s is %s, want %s", a.Type().Field(i).Name, got, want)
		}
		return
	}
	t.Errorf("no setting changed to %v", value)
}

func text(v any) string { return fmt.Sprint(reflect.Indirect(reflect.ValueOf(v)).Interface()) }

// started returns the broker of a server with the options, and a queue to forward to.
func started(t *testing.T, opts ...sbtest.Option) *emulator.Namespace {
	t.Helper()
	return sbtest.Start(t, append(opts, sbtest.WithoutNetwork(), sbtest.Queue{Name: "target"})...).Domain()
}

// queueOptions returns the settings that the broker has for a queue.
func queueOptions(t *testing.T, q sbtest.Queue) emulator.QueueOptions {
	t.Helper()
	e, err := started(t, q).Entity(q.Name)
	if err != nil {
		t.Fatal(err)
	}
	return e.Options()
}

// subscriptionOptions returns the settings that the broker has for a subscription.
func subscriptionOptions(t *testing.T, s sbtest.Subscription) emulator.SubscriptionOptions {
	t.Helper()
	list, err := started(t, sbtest.Topic{Name: " t ", Subscriptions: []sbtest.Subscription{s}}).Entities().Subscriptions("t")
	if err != nil || len(list) != 1 {
		t.Fatalf("%d subscriptions, %v", len(list), err)
	}
	return list[0].Options()
}

func TestEveryFieldOfAQueueReachesTheBroker(t *testing.T) {
	plain := sbtest.Queue{Name: "q"}
	before := queueOptions(t, plain)
	eachField(t, plain, []string{"Name"}, func(t *testing.T, q sbtest.Queue, value any) {
		wantChange(t, before, queueOptions(t, q), value)
	})
}

func TestEveryFieldOfATopicReachesTheBroker(t *testing.T) {
	options := func(t *testing.T, topic sbtest.Topic) emulator.TopicOptions {
		o := started(t, topic).Entities().Topics()[0].Options()
		o.SupportOrdering = false // true unless there are partitions
		return o
	}
	plain := sbtest.Topic{Name: "t"}
	before := options(t, plain)
	eachField(t, plain, []string{"Name", "Subscriptions"}, func(t *testing.T, topic sbtest.Topic, value any) {
		wantChange(t, before, options(t, topic), value)
	})
}

func TestEveryFieldOfASubscriptionReachesTheBroker(t *testing.T) {
	plain := sbtest.Subscription{Name: "s"}
	before := subscriptionOptions(t, plain)
	eachField(t, plain, []string{"Name", "Rules"}, func(t *testing.T, s sbtest.Subscription, value any) {
		after := subscriptionOptions(t, s)
		after.Rules = before.Rules // the time of creation differs
		if s.DeadLetteringOnFilterEvaluationExceptions != nil {
			wantChange(t, before, after, value)
			return
		}
		wantChange(t, before.Queue, after.Queue, value)
	})
}

func TestEveryFieldOfACorrelationFilterReachesTheBroker(t *testing.T) {
	eachField(t, sbtest.Correlation{}, nil, func(t *testing.T, c sbtest.Correlation, value any) {
		o := subscriptionOptions(t, sbtest.Subscription{Name: "s", Rules: []sbtest.Rule{{Correlation: &c}}})
		wantChange(t, emulator.CorrelationFilter{}, *o.Rules[0].Correlation, value)
	})
}

// A field that is left out has the cloud's default, not that of a file.
func TestDEC4_WhatATestLeavesOutIsTheCloudsDefault(t *testing.T) {
	s := subscriptionOptions(t, sbtest.Subscription{Name: "s"})
	if o := s.Queue; o.MaxDeliveryCount != 0 || o.DefaultMessageTimeToLive != 0 {
		t.Errorf("the subscription is %+v", o)
	}
	if len(s.Rules) != 1 || !s.Rules[0].IsTrue() || s.Rules[0].Name != emulator.DefaultRuleName {
		t.Errorf("it has the rules %+v", s.Rules)
	}
	if o := started(t, sbtest.Topic{Name: "t"}).Entities().Topics()[0].Options(); o.DefaultMessageTimeToLive != 0 || !o.SupportOrdering {
		t.Errorf("the topic is %+v", o)
	}
}

// Names are trimmed, as they are in a file.
func TestNamesOfATestAreTrimmed(t *testing.T) {
	s := subscriptionOptions(t, sbtest.Subscription{Name: " s ", Rules: []sbtest.Rule{{Name: " r ", SQL: "a = 1"}}})
	if s.Name != "s" || s.Rules[0].Name != "r" {
		t.Errorf("the subscription is %q, the rule %q", s.Name, s.Rules[0].Name)
	}
}

// published sends messages to the topic events, and returns the bodies that each subscription has.
func published(t *testing.T, subscriptions []sbtest.Subscription, messages ...*azservicebus.Message) map[string][]string {
	t.Helper()
	got := map[string][]string{}
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.Topic{Name: "events", Subscriptions: subscriptions})
		client := connect(t, bus)
		for _, m := range messages {
			send(t, client, "events", m)
		}
		for _, s := range subscriptions {
			r, err := client.NewReceiverForSubscription("events", s.Name, nil)
			if err != nil {
				t.Fatal(err)
			}
			peeked, err := r.PeekMessages(context.Background(), 10, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range peeked {
				body := string(m.Body)
				if p := m.ApplicationProperties["priority"]; p != nil {
					body += " " + text(p)
				}
				got[s.Name] = append(got[s.Name], body)
			}
		}
		_ = client.Close(context.Background())
	})
	return got
}

// The rules of a subscription select its messages: SQL, correlation with the type of a value, none, and an action
// (TOP-4, TOP-5, TOP-9).
func TestTOP9_RulesOfATestSelectMessages(t *testing.T) {
	message := func(body string, amount any) *azservicebus.Message {
		return &azservicebus.Message{Body: []byte(body), Subject: &body, ApplicationProperties: map[string]any{"amount": amount}}
	}
	got := published(t, []sbtest.Subscription{
		{Name: "all"},
		{Name: "large", Rules: []sbtest.Rule{{SQL: "amount > 100"}}},
		{Name: "subject", Rules: []sbtest.Rule{{Correlation: &sbtest.Correlation{Subject: "a"}}}},
		{Name: "value", Rules: []sbtest.Rule{{Correlation: &sbtest.Correlation{Properties: map[string]any{"amount": 7}}}}},
		{Name: "either", Rules: []sbtest.Rule{{Name: "one", SQL: "amount = 7"}, {Name: "two", Correlation: &sbtest.Correlation{Subject: "b"}}}},
		{Name: "marked", Rules: []sbtest.Rule{{Action: "SET priority = 'high'"}}},
		{Name: "none", Rules: []sbtest.Rule{{SQL: "1=0"}}},
	}, message("a", int64(7)), message("b", int64(700)), message("c", "7"))
	want := map[string][]string{"all": {"a", "b", "c"}, "large": {"b"}, "subject": {"a"}, "value": {"a"}, "either": {"a", "b"},
		"marked": {"a high", "b high", "c high"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("received %v, want %v", got, want)
	}
}

// A subscription of a test forwards to what the test declares elsewhere.
func TestFWD2_ASubscriptionOfATestForwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.Queue{Name: "Inbox"},
			sbtest.Topic{Name: "events", Subscriptions: []sbtest.Subscription{{Name: "s", ForwardTo: "inbox"}}})
		send(t, connect(t, bus), "events", &azservicebus.Message{Body: []byte("x")})
		synctest.Wait()
		wantCounts(t, bus, "inbox", sbtest.Counts{Active: 1})
	})
}
