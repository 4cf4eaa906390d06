package sbtest

import (
	"testing"
	"time"

	"minibus/emulator"
	"minibus/emulator/filter"
)

// Matching says which subscriptions a message would reach, by which rules and with which changes, and why not the
// others. Printed with %s it has a line for each copy and each condition.
type Matching struct {
	Topic         string
	Refused       error     // why the topic would not take the message; the rest says what it would do otherwise
	Duplicate     bool      // the topic would drop the message
	ScheduledFor  time.Time // when the rules would be asked; zero: at once
	Subscriptions []SubscriptionMatching
	Unexplained   int // rules that do not select the message and have no explanation, since there are too many

	text string
}

// String returns what becomes of the message, a line for each copy and each reason.
func (m *Matching) String() string { return m.text }

// SubscriptionMatching is the part of a [Matching] about one subscription.
type SubscriptionMatching struct {
	Path   string // empty: one that does not exist
	Name   string
	Status Status
	Copies []MatchedCopy  // that it would get, in their order; none: the message does not come to it
	Rules  []RuleMatching // in the order of their creation
}

// Reached reports whether the subscription would get the message.
func (s *SubscriptionMatching) Reached() bool { return len(s.Copies) > 0 }

// MatchedCopy is a copy of a message that a subscription would get.
type MatchedCopy struct {
	Rule         string // that selects it; empty: a rule failed
	DeadLettered bool   // at once, for the reason
	Reason       string
	Description  string
	Changes      []PropertyChange
	Forwards     []string // where it would go on to, one entity after another
	Stopped      error    // why it would go no further; nil if it would stay in the last one
}

// PropertyChange is a property that a copy has and the message has not, or not so.
type PropertyChange struct {
	Name    string // of an application property, or sys. and the name of the service's
	Before  any    // nil: it had none
	After   any
	Removed bool // it has none
}

// RuleMatching says what a rule makes of a message.
type RuleMatching struct {
	Name        string
	Filter      string   // for people
	Action      string   // empty: none
	Selects     bool     // the message
	Err         error    // of the filter
	ActionError error    // of the action
	Reasons     []string // the conditions that decided, such as: color = 'red' is false: color is 'blue'
}

// Match says what a topic would do with a message, and sends nothing. entity is a topic, or the path of a
// subscription such as "events/Subscriptions/large", of which it looks at that one only. With a rule it asks this
// one, which is not stored: in place of the rules of the subscription, or on a topic as that of a new subscription.
// The test fails if there is no such entity, or a rule does not parse.
func (n *Namespace) Match(t testing.TB, entity string, m Message, rule ...Rule) *Matching {
	t.Helper()
	e := n.entity(t, entity)
	ask := emulator.MatchQuestion{Message: m.encode(t, n.Now())}
	switch len(rule) {
	case 0:
	case 1:
		o := rule[0].options()
		ask.Rule = &o
	default:
		t.Fatalf("sbtest: match: give one rule, not %d", len(rule))
	}
	found, err := e.Match(ask)
	check(t, "match", err)
	out := &Matching{
		Topic: found.Topic, Refused: found.Refused, Duplicate: found.Duplicate, ScheduledFor: instant(found.Scheduled),
		Unexplained: found.Unexplained, text: found.String(),
	}
	for i := range found.Subscriptions {
		out.Subscriptions = append(out.Subscriptions, subscriptionMatching(&found.Subscriptions[i]))
	}
	return out
}

func subscriptionMatching(s *emulator.SubscriptionMatching) SubscriptionMatching {
	out := SubscriptionMatching{Path: s.Path, Name: s.Name, Status: Status(s.Status)}
	for _, c := range s.Copies {
		copied := MatchedCopy{
			Rule: c.Rule, DeadLettered: c.Sub == emulator.DeadLetter, Reason: c.Reason, Description: c.Description,
			Forwards: c.Forwards, Stopped: c.Stopped,
		}
		for _, x := range c.Changes {
			copied.Changes = append(copied.Changes, PropertyChange{
				Name: x.Name, Before: emulator.ValueOf(x.Before), After: emulator.ValueOf(x.After),
				Removed: x.After.Kind() == filter.KindMissing,
			})
		}
		out.Copies = append(out.Copies, copied)
	}
	for i := range s.Rules {
		r := &s.Rules[i]
		rule := RuleMatching{
			Name: r.Name, Filter: r.Filter, Action: r.Action,
			Selects: r.Selects(), Err: r.Err, ActionError: r.ActionError,
		}
		for _, reason := range r.Reasons {
			rule.Reasons = append(rule.Reasons, reason.String())
		}
		out.Rules = append(out.Rules, rule)
	}
	return out
}
