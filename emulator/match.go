package emulator

import (
	"fmt"
	"strings"

	"minibus/emulator/filter"
	"minibus/internal/amqp/message"
)

// MatchQuestion is a message that is not sent, and the rules that are asked about it.
type MatchQuestion struct {
	Message message.Message

	// Rule is asked in place of those that a subscription has. On a topic it is that of a new subscription with the default settings. It needs
	// no name. Nil: each subscription has its own.
	Rule *RuleOptions
}

// Matching says what a topic would do with a message.
type Matching struct {
	Topic         string
	Refused       error // why the topic would not take the message; the rest says what it would do otherwise
	Duplicate     bool  // the topic would drop the message (DUP-2)
	Scheduled     int64 // ms; when the rules would be asked, if not at once (SCHED-16); 0: at once
	Subscriptions []SubscriptionMatching
	Unexplained   int // rules that do not select the message and have no explanation, since there are too many
}

// SubscriptionMatching says what a subscription would do with a message.
type SubscriptionMatching struct {
	Path   string // empty: one that does not exist
	Name   string
	Status Status
	Copies []MatchedCopy  // that it would get, in their order; none: the message does not come to it
	Rules  []RuleMatching // in the order of their creation
}

// Reached reports whether the subscription would get the message.
func (s *SubscriptionMatching) Reached() bool { return len(s.Copies) > 0 }

// MatchedCopy is a copy of the message that a subscription would get.
type MatchedCopy struct {
	Rule        string // that selects it; empty: a rule failed
	Sub         SubQueue
	Reason      string // for which it would be dead-lettered, with the description
	Description string
	Changes     []PropertyChange
	Forwards    []string // where it would go on to, one entity after another
	Stopped     error    // why it would go no further; nil if it would stay in the last one
}

// PropertyChange is a property that a copy has and the message has not, or not so.
type PropertyChange struct {
	Name   string // of an application property, or sys. and the name of the service's
	Before filter.Value
	After  filter.Value // filter.KindMissing: it was removed
}

// RuleMatching says what a rule makes of the message.
type RuleMatching struct {
	Name        string
	Filter      string // for people
	Action      string // empty: none
	ActionError error  // of the action
	filter.Explanation
}

// Selects reports whether the rule selects the message.
func (r *RuleMatching) Selects() bool { return r.Err == nil && r.Outcome == filter.True }

// String returns what becomes of the message, a line for each copy and each reason.
func (m *Matching) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "a message for %s", m.Topic)
	if m.Refused != nil {
		fmt.Fprintf(&b, ", which would refuse it: %v", m.Refused)
	}
	for i := range m.Subscriptions {
		m.Subscriptions[i].write(&b)
	}
	return b.String()
}

func (s *SubscriptionMatching) write(b *strings.Builder) {
	reached := "reached"
	if !s.Reached() {
		reached = "not reached"
	}
	fmt.Fprintf(b, "\n  %s: %s", s.Name, reached)
	for _, c := range s.Copies {
		fmt.Fprintf(b, "\n    a copy by rule '%s'", c.Rule)
		if c.Sub == DeadLetter {
			fmt.Fprintf(b, ", dead-lettered: %s: %s", c.Reason, c.Description)
		}
		for _, x := range c.Changes {
			fmt.Fprintf(b, "\n      %s: %s -> %s", x.Name, x.Before.Shown(), x.After.Shown())
		}
	}
	for i := range s.Rules {
		r := &s.Rules[i]
		fmt.Fprintf(b, "\n    rule '%s' is %s", r.Name, r.Outcome)
		if r.ActionError != nil {
			fmt.Fprintf(b, ", its action fails: %v", r.ActionError)
		}
		for _, reason := range r.Reasons {
			fmt.Fprintf(b, "\n      %s", reason)
		}
	}
}
