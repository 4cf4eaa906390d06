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

// entity starts a server with the options and returns an entity of it.
func entity(t *testing.T, path string, opts ...sbtest.Option) *emulator.Queue {
	t.Helper()
	bus := sbtest.Start(t, append(opts, sbtest.WithoutNetwork(), sbtest.Queue{Name: "target"})...)
	q, err := bus.Namespace().Queue(path)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestEveryFieldOfAQueueReachesTheBroker(t *testing.T) {
	plain := sbtest.Queue{Name: "q"}
	before := entity(t, "q", plain).Options()
	eachField(t, plain, []string{"Name"}, func(t *testing.T, q sbtest.Queue, value any) {
		wantChange(t, before, entity(t, "q", q).Options(), value)
	})
}

func TestEveryFieldOfATopicReachesTheBroker(t *testing.T) {
	plain := sbtest.Topic{Name: "t"}
	before := entity(t, "t", plain).TopicOptions()
	before.SupportOrdering = false // true unless there are partitions
	eachField(t, plain, []string{"Name", "Subscriptions"}, func(t *testing.T, topic sbtest.Topic, value any) {
		after := entity(t, "t", topic).TopicOptions()
		after.SupportOrdering = false
		wantChange(t, before, after, value)
	})
}

func TestEveryFieldOfASubscriptionReachesTheBroker(t *testing.T) {
	options := func(t *testing.T, s sbtest.Subscription) emulator.SubscriptionOptions {
		return entity(t, "t/Subscriptions/s", sbtest.Topic{Name: "t", Subscriptions: []sbtest.Subscription{s}}).SubscriptionOptions()
	}
	plain := sbtest.Subscription{Name: "s"}
	before := options(t, plain)
	eachField(t, plain, []string{"Name", "Rules"}, func(t *testing.T, s sbtest.Subscription, value any) {
		after := options(t, s)
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
		subscription := sbtest.Subscription{Name: "s", Rules: []sbtest.Rule{{Correlation: &c}}}
		q := entity(t, "t/Subscriptions/s", sbtest.Topic{Name: "t", Subscriptions: []sbtest.Subscription{subscription}})
		wantChange(t, emulator.CorrelationFilter{}, *q.SubscriptionOptions().Rules[0].Correlation, value)
	})
}

// Zero values are the cloud's defaults, not those of a file.
func TestDEC4_WhatATestLeavesOutIsTheCloudsDefault(t *testing.T) {
	bus := sbtest.Start(t, sbtest.WithoutNetwork(), sbtest.Topic{Name: "t", Subscriptions: []sbtest.Subscription{{Name: "s"}}})
	q, err := bus.Namespace().Queue("t/Subscriptions/s")
	if err != nil {
		t.Fatal(err)
	}
	if o := q.Options(); o.MaxDeliveryCount != 0 || o.DefaultMessageTimeToLive != 0 {
		t.Errorf("the subscription is %+v", o)
	}
	if rules := q.SubscriptionOptions().Rules; len(rules) != 1 || !rules[0].IsTrue() || rules[0].Name != emulator.DefaultRuleName {
		t.Errorf("it has the rules %+v", rules)
	}
	topic, err := bus.Namespace().Queue("t")
	if err != nil {
		t.Fatal(err)
	}
	if o := topic.TopicOptions(); o.DefaultMessageTimeToLive != 0 || !o.SupportOrdering {
		t.Errorf("the topic is %+v", o)
	}
}

// Spaces around names count as little as in a file.
func TestNamesOfATestAreTrimmed(t *testing.T) {
	s := sbtest.Subscription{Name: " s ", Rules: []sbtest.Rule{{Name: " r ", SQL: "a = 1"}}}
	q := entity(t, "t/Subscriptions/s", sbtest.Topic{Name: " t ", Subscriptions: []sbtest.Subscription{s}})
	if name := q.SubscriptionOptions().Rules[0].Name; name != "r" {
		t.Errorf("the rule is called %q", name)
	}
}

// published sends messages to the topic events, and returns the bodies that each subscription has.
func published(t *testing.T, subscriptions []sbtest.Subscription, messages ...*azservicebus.Message) map[string][]string {
	t.Helper()
	got := map[string][]string{}
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.WithoutNetwork(), sbtest.Topic{Name: "events", Subscriptions: subscriptions})
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

// The rules of a subscription select its messages: SQL, correlation with the type of a value, none, and an action (TOP-4, TOP-5, TOP-9).
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
		bus := sbtest.Start(t, sbtest.WithoutNetwork(), sbtest.Queue{Name: "Inbox"},
			sbtest.Topic{Name: "events", Subscriptions: []sbtest.Subscription{{Name: "s", ForwardTo: "inbox"}}})
		send(t, connect(t, bus), "events", &azservicebus.Message{Body: []byte("x")})
		synctest.Wait()
		wantCounts(t, bus, "inbox", emulator.Counts{Active: 1})
	})
}
