package sbtest_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/sbtest"
)

// rulesToTry are subscriptions with every kind of rule.
var rulesToTry = []sbtest.Subscription{
	{Name: "all"},
	{Name: "red", Rules: []sbtest.Rule{{Name: "sql", SQL: "color = 'red'"}}},
	{Name: "several", Rules: []sbtest.Rule{{Name: "a", SQL: "amount > 5"}, {Name: "b", SQL: "color = 'red'"},
		{Name: "c", SQL: "EXISTS(amount)", Action: "SET amount = amount + 1; SET sys.Label = 'raised'"}, {Name: "d", SQL: "1=1", Action: "REMOVE color"}}},
	{Name: "correlated", Rules: []sbtest.Rule{{Name: "c", Correlation: &sbtest.Correlation{Subject: "order", Properties: map[string]any{"amount": int64(7)}}}}},
	{Name: "typed", Rules: []sbtest.Rule{{Name: "t", Correlation: &sbtest.Correlation{Properties: map[string]any{"amount": "7"}}}}},
	{Name: "logic", Rules: []sbtest.Rule{{Name: "l", SQL: "NOT (color = 'red' OR amount IN (1, 2)) AND sys.ContentType LIKE 'text/%'"}}},
	{Name: "sessions", RequiresSession: true, Rules: []sbtest.Rule{{Name: "s", SQL: "sys.SessionId IS NOT NULL OR amount = 7"}}},
	{Name: "fails", Rules: []sbtest.Rule{{Name: "f", SQL: "amount / 0 = 1"}, {Name: "g", SQL: "1=1", Action: "SET sys.EnqueuedTimeUtc = 1"}}},
	{Name: "ignores", DeadLetteringOnFilterEvaluationExceptions: new(false), Rules: []sbtest.Rule{{Name: "f", SQL: "amount / 0 = 1"}}},
	{Name: "ids", Rules: []sbtest.Rule{{Name: "i", SQL: "sys.MessageId LIKE 'id-%' AND sys.CorrelationId = 'c' AND sys.ReplyTo = 'r' AND sys.To = 't'"}}},
}

// messagesToTry are messages that fit some of them.
var messagesToTry = []sbtest.Message{
	{},
	{ApplicationProperties: map[string]any{"color": "red"}},
	{ApplicationProperties: map[string]any{"color": "blue", "amount": int64(7)}, Subject: "order", ContentType: "text/plain"},
	{ApplicationProperties: map[string]any{"color": "red", "amount": int32(2)}, SessionID: new("s")},
	{ApplicationProperties: map[string]any{"amount": "7"}, Subject: "order"},
	{ApplicationProperties: map[string]any{"amount": 7.0}, Subject: "order", SessionID: new("x")},
	{ApplicationProperties: map[string]any{"amount": nil, "color": true}, ContentType: "text/csv"},
	{MessageID: "id-1", CorrelationID: "c", ReplyTo: "r", To: "t", Body: []byte("hello")},
}

// TestMatch_WhatItSaysIsWhatTheSDKSees sends each message with the SDK and compares what each subscription has then
// with what the rules were asked before.
func TestMatch_WhatItSaysIsWhatTheSDKSees(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.Topic{Name: "events", Subscriptions: rulesToTry})
		client := connect(t, bus)
		reached := make(map[string]int)
		for i, m := range messagesToTry {
			found := bus.Match(t, "events", m)
			send(t, client, "events", sdkMessage(m))
			for _, s := range found.Subscriptions {
				var want []string
				for _, c := range s.Copies {
					want = append(want, wanted(m, c))
				}
				slices.Sort(want)
				if got := drained(t, client, s.Name); !slices.Equal(got, want) {
					t.Errorf("message %d: %s has\n%s\nwant\n%s\n%s", i, s.Name, strings.Join(got, "\n"), strings.Join(want, "\n"), found)
				}
				reached[s.Name] += len(want)
			}
		}
		for _, s := range rulesToTry {
			if reached[s.Name] == 0 && s.Name != "ignores" {
				t.Errorf("no message reached %s: the table tests nothing there", s.Name)
			}
		}
	})
}

// sdkMessage returns the message as the SDK sends it.
func sdkMessage(m sbtest.Message) *azservicebus.Message {
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	return &azservicebus.Message{Body: m.Body, ApplicationProperties: maps.Clone(m.ApplicationProperties), MessageID: text(m.MessageID), SessionID: m.SessionID,
		CorrelationID: text(m.CorrelationID), Subject: text(m.Subject), ContentType: text(m.ContentType), To: text(m.To), ReplyTo: text(m.ReplyTo)}
}

// wanted describes a copy by what the rules were asked.
func wanted(m sbtest.Message, c sbtest.MatchedCopy) string {
	properties, subject := make(map[string]string), m.Subject
	for name, v := range m.ApplicationProperties {
		properties[name] = fmt.Sprintf("%T %v", v, v)
	}
	for _, x := range c.Changes {
		switch {
		case x.Name == "sys.Label":
			subject, _ = x.After.(string)
		case x.Removed:
			delete(properties, x.Name)
		default:
			properties[x.Name] = fmt.Sprintf("%T %v", x.After, x.After)
		}
	}
	return fmt.Sprint(c.DeadLettered, " ", subject, " ", properties)
}

// drained removes all messages of a subscription and describes them.
func drained(t *testing.T, client *azservicebus.Client, name string) (list []string) {
	t.Helper()
	for _, sub := range []azservicebus.SubQueue{0, azservicebus.SubQueueDeadLetter} {
		if name == "sessions" && sub == 0 {
			list = append(list, drainedSessions(t, client, name)...)
			continue
		}
		r, err := client.NewReceiverForSubscription("events", name, &azservicebus.ReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete, SubQueue: sub})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, described(r.ReceiveMessages, sub != 0)...)
		_ = r.Close(t.Context())
	}
	slices.Sort(list)
	return list
}

func drainedSessions(t *testing.T, client *azservicebus.Client, name string) (list []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	r, err := client.AcceptNextSessionForSubscription(ctx, "events", name, &azservicebus.SessionReceiverOptions{ReceiveMode: azservicebus.ReceiveModeReceiveAndDelete})
	if err != nil {
		return nil // there is none
	}
	list = described(r.ReceiveMessages, false)
	_ = r.Close(t.Context())
	return list
}

func described(receive func(context.Context, int, *azservicebus.ReceiveMessagesOptions) ([]*azservicebus.ReceivedMessage, error), dead bool) (list []string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for {
		messages, err := receive(ctx, 100, nil)
		if err != nil {
			return list
		}
		for _, m := range messages {
			properties, subject := make(map[string]string), ""
			for key, v := range m.ApplicationProperties {
				properties[key] = fmt.Sprintf("%T %v", v, v)
			}
			if m.Subject != nil {
				subject = *m.Subject
			}
			list = append(list, fmt.Sprint(dead, " ", subject, " ", properties))
		}
	}
}

func TestMatch_FailsTheTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bus := sbtest.Start(t, sbtest.Queue{Name: "q"}, sbtest.Topic{Name: "events", Subscriptions: rulesToTry})
		for entity, want := range map[string]string{"nothing": "could not be found", "q": "has no rules"} {
			if text := failure(func(tb testing.TB) { bus.Match(tb, entity, sbtest.Message{}) }); !strings.Contains(text, want) {
				t.Errorf("%s: %q, want %q", entity, text, want)
			}
		}
		if text := failure(func(tb testing.TB) { bus.Match(tb, "events", sbtest.Message{}, sbtest.Rule{Name: "x", SQL: "="}) }); !strings.Contains(text, "line=1, column=0") {
			t.Errorf("a rule that does not parse: %q", text)
		}
		if text := failure(func(tb testing.TB) {
			bus.Match(tb, "events", sbtest.Message{ApplicationProperties: map[string]any{"a": struct{}{}}})
		}); !strings.Contains(text, `application property "a"`) {
			t.Errorf("a value that no message has: %q", text)
		}
	})
}
