package sbtest

import (
	"fmt"
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp/message"
	"minibus/internal/amqp/messagejson"
)

// Message is a message to ask rules about. A text that is empty is not set.
type Message struct {
	MessageID            string
	SessionID            string
	CorrelationID        string
	Subject              string
	ContentType          string
	To                   string
	ReplyTo              string
	ReplyToSessionID     string
	PartitionKey         string
	ScheduledEnqueueTime time.Time
	Properties           map[string]any // application properties; their types count, as those of a sent message do
	Body                 []byte         // no rule reads it; only its size counts
}

// Matching says which subscriptions a message would reach, by which rules and with which changes, and why not the others. Printed with %s it has a
// line for each copy and each condition.
type Matching = emulator.Matching

// SubscriptionMatching is the part of a [Matching] about one subscription.
type SubscriptionMatching = emulator.SubscriptionMatching

// MatchedCopy is a copy of a message that a subscription would get.
type MatchedCopy = emulator.MatchedCopy

// RuleMatching says what a rule makes of a message, and which of its conditions decided.
type RuleMatching = emulator.RuleMatching

// Match says what a topic of the server's own namespace would do with a message, and sends nothing. entity is a topic, or the path of a subscription
// such as "events/Subscriptions/large", of which it looks at that one only. With a rule it asks this one, which is not stored: in place of the rules of the
// subscription, or on a topic as that of a new subscription. The test fails if there is no such entity, or a rule does not parse.
func (s *Server) Match(t testing.TB, entity string, m Message, rule ...Rule) *Matching {
	t.Helper()
	return match(t, s.Default(), entity, m, rule)
}

// Match is [Server.Match] for the namespace.
func (n *Namespace) Match(t testing.TB, entity string, m Message, rule ...Rule) *Matching {
	t.Helper()
	return match(t, n.Namespace, entity, m, rule)
}

func match(t testing.TB, ns *emulator.Namespace, entity string, m Message, rule []Rule) *Matching {
	t.Helper()
	e, err := ns.Entity(entity)
	if err != nil {
		t.Fatalf("sbtest: match: %v", err)
	}
	ask := emulator.MatchQuestion{}
	if ask.Message, err = m.encode(time.UnixMilli(ns.Now())); err != nil {
		t.Fatalf("sbtest: match: %v", err)
	}
	switch len(rule) {
	case 0:
	case 1:
		o := rule[0].options()
		ask.Rule = &o
	default:
		t.Fatalf("sbtest: match: give one rule, not %d", len(rule))
	}
	found, err := e.Match(ask)
	if err != nil {
		t.Fatalf("sbtest: match: %v", err)
	}
	return found
}

// encode returns the message as a client sends it.
func (m *Message) encode(now time.Time) (message.Message, error) {
	j := messagejson.Message{BodyBase64: m.Body, ApplicationProperties: messagejson.Values{}}
	if j.BodyBase64 == nil {
		j.BodyBase64 = []byte{}
	}
	for _, id := range []struct {
		into *any
		text string
	}{{&j.MessageID, m.MessageID}, {&j.CorrelationID, m.CorrelationID}} {
		if id.text != "" {
			*id.into = id.text
		}
	}
	for _, x := range []struct {
		into **string
		text string
	}{{&j.SessionID, m.SessionID}, {&j.Subject, m.Subject}, {&j.ContentType, m.ContentType}, {&j.To, m.To}, {&j.ReplyTo, m.ReplyTo},
		{&j.ReplyToSessionID, m.ReplyToSessionID}, {&j.PartitionKey, m.PartitionKey}} {
		if x.text != "" {
			*x.into = &x.text
		}
	}
	if !m.ScheduledEnqueueTime.IsZero() {
		j.ScheduledEnqueueTime = &m.ScheduledEnqueueTime
	}
	for name, v := range m.Properties {
		raw, err := message.EncodeValue(v)
		if err == nil {
			v, err = message.DecodeValue(raw)
		}
		if err != nil {
			return message.Message{}, fmt.Errorf("property %q: %w", name, err)
		}
		j.ApplicationProperties[name] = messagejson.ToJSON(v)
	}
	raw, err := j.Encode(now)
	if err != nil {
		return message.Message{}, err
	}
	return message.Scan(raw)
}
