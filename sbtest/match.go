package sbtest

import (
	"testing"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp/message"
)

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
	encoded, err := m.json(t).Encode(time.UnixMilli(ns.Now()))
	if err == nil {
		ask.Message, err = message.Scan(encoded)
	}
	if err != nil {
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
