package control

import (
	"time"

	"minibus/emulator"
	"minibus/emulator/filter"
	"minibus/internal/amqp/messagejson"
	"minibus/internal/printable"
)

// matching says what a topic would do with a message.
type matching struct {
	Topic         string                 `json:"topic"`
	Refused       string                 `json:"refused,omitempty" doc:"Why the topic would not take the message. The rest says what it would do otherwise"`
	Duplicate     bool                   `json:"duplicate" doc:"The topic had a message with the id and would drop this one"`
	ScheduledFor  *time.Time             `json:"scheduledFor,omitempty" doc:"When the rules would be asked; none: at once"`
	Reached       []string               `json:"reached" nullable:"false" doc:"The names of the subscriptions that would get the message"`
	Subscriptions []subscriptionMatching `json:"subscriptions" nullable:"false" doc:"All of the topic, or the one that was asked for, by name"`
	Unexplained   int                    `json:"unexplained,omitempty" doc:"Rules that do not select the message and are left out, since there are too many"`
}

// subscriptionMatching says what a subscription would do with a message.
type subscriptionMatching struct {
	Name   string         `json:"name" doc:"Empty: a new one, with the rule that is tried"`
	Path   string         `json:"path,omitempty"`
	Status string         `json:"status" enum:"Active,Disabled,SendDisabled,ReceiveDisabled" doc:"Copies come to it whatever the status; it says whether they can be received"`
	Copies []matchedCopy  `json:"copies" nullable:"false" doc:"What it would get: one for all rules without an action, and one for each rule with one"`
	Rules  []ruleMatching `json:"rules" nullable:"false" doc:"In the order of their creation"`
}

// matchedCopy is a copy of the message.
type matchedCopy struct {
	Rule        string           `json:"rule,omitempty" doc:"That selects it; none: a rule failed"`
	SubQueue    string           `json:"subQueue,omitempty" enum:"$DeadLetterQueue" doc:"None: the main queue"`
	Reason      string           `json:"deadLetterReason,omitempty"`
	Description string           `json:"deadLetterErrorDescription,omitempty"`
	Changes     []propertyChange `json:"changes" nullable:"false" doc:"What differs from the message as it is sent"`
	Forwards    []string         `json:"forwards" nullable:"false" doc:"Where it would go on to, one entity after another"`
	Stopped     string           `json:"stopped,omitempty" doc:"Why it would go no further; none: it would stay in the last one"`
}

// propertyChange is a property that differs. Values are as in messages.
type propertyChange struct {
	Property string `json:"property" doc:"Of the application, or sys. and the name of the service's"`
	Before   any    `json:"before,omitempty" doc:"None: it is new, or was null"`
	After    any    `json:"after,omitempty" doc:"None: it is removed, or null"`
	Removed  bool   `json:"removed,omitempty"`
}

// ruleMatching says what a rule makes of the message.
type ruleMatching struct {
	Name        string   `json:"name"`
	Filter      string   `json:"filter"`
	Action      string   `json:"action,omitempty"`
	Outcome     string   `json:"outcome" enum:"true,false,unknown,error" doc:"Only true selects. A comparison with a property that is missing or null, or of a type that does not fit, is unknown"`
	Error       string   `json:"error,omitempty" doc:"Of the filter or the action. The subscription dead-letters the message or ignores the rule, as DeadLetteringOnFilterEvaluationExceptions says"`
	ActionFails bool     `json:"actionFails,omitempty"`
	Reasons     []reason `json:"reasons" nullable:"false" doc:"The conditions that decided. If the rule does not select the message: those that would have to be otherwise"`
}

// reason is a condition of a filter without AND, OR and NOT around it.
type reason struct {
	Condition string      `json:"condition"`
	Outcome   string      `json:"outcome" enum:"true,false,unknown"`
	Seen      []seenValue `json:"seen" nullable:"false" doc:"The properties that it read"`
	Text      string      `json:"text" doc:"The same as a sentence"`
}

// seenValue is what a condition read.
type seenValue struct {
	Name    string `json:"name"`
	Missing bool   `json:"missing,omitempty" doc:"The message does not have it"`
	Value   any    `json:"value,omitempty" doc:"As in messages; none: null, or missing"`
}

// Bounds of what answers repeat of texts from clients, in bytes.
const (
	maxShownFilter = 2000
	maxShownValue  = 1000
	maxConditions  = 50 // of a rule
)

// shownMatching returns a matching as answers show it.
func shownMatching(m *emulator.Matching) matching {
	out := matching{Topic: m.Topic, Duplicate: m.Duplicate, Reached: []string{}, Subscriptions: []subscriptionMatching{}, Unexplained: m.Unexplained}
	if m.Refused != nil {
		out.Refused = m.Refused.Error()
	}
	if m.Scheduled != 0 {
		at := instant(m.Scheduled)
		out.ScheduledFor = &at
	}
	for i := range m.Subscriptions {
		s := &m.Subscriptions[i]
		shown := subscriptionMatching{Name: s.Name, Path: s.Path, Status: string(s.Status), Copies: []matchedCopy{}, Rules: []ruleMatching{}}
		if shown.Status == "" {
			shown.Status = string(emulator.StatusActive)
		}
		if s.Reached() {
			out.Reached = append(out.Reached, s.Name)
		}
		for _, c := range s.Copies {
			shown.Copies = append(shown.Copies, shownCopy(c))
		}
		for i := range s.Rules {
			shown.Rules = append(shown.Rules, shownRule(&s.Rules[i]))
		}
		out.Subscriptions = append(out.Subscriptions, shown)
	}
	return out
}

func shownCopy(c emulator.MatchedCopy) matchedCopy {
	out := matchedCopy{Rule: c.Rule, SubQueue: c.Sub.Name(), Reason: c.Reason, Description: c.Description, Changes: []propertyChange{}, Forwards: append([]string{}, c.Forwards...)}
	if c.Stopped != nil {
		out.Stopped = c.Stopped.Error()
	}
	for _, x := range c.Changes {
		out.Changes = append(out.Changes, propertyChange{Property: x.Name, Before: shownValue(x.Before), After: shownValue(x.After), Removed: x.After.Kind() == filter.KindMissing})
	}
	return out
}

func shownRule(r *emulator.RuleMatching) ruleMatching {
	out := ruleMatching{Name: r.Name, Filter: printable.Clip(r.Filter, maxShownFilter), Action: printable.Clip(r.Action, maxShownFilter), Outcome: r.Outcome.String(), Reasons: []reason{}}
	switch {
	case r.Err != nil:
		out.Outcome, out.Error = "error", r.Err.Error()
	case r.ActionError != nil:
		out.Error, out.ActionFails = r.ActionError.Error(), true
	}
	for _, why := range r.Reasons[:min(len(r.Reasons), maxConditions)] {
		shown := reason{Condition: printable.Clip(why.Condition, maxShownFilter), Outcome: why.Outcome.String(), Seen: []seenValue{}, Text: printable.Clip(why.String(), maxShownFilter)}
		for _, s := range why.Seen {
			shown.Seen = append(shown.Seen, seenValue{Name: printable.Clip(s.Name, maxShownValue), Missing: s.Value.Kind() == filter.KindMissing, Value: shownValue(s.Value)})
		}
		out.Reasons = append(out.Reasons, shown)
	}
	return out
}

// shownValue returns a value of the rule language as messages in JSON have it.
func shownValue(v filter.Value) any {
	value := emulator.ValueOf(v)
	if text, ok := value.(string); ok {
		value = printable.Clip(text, maxShownValue)
	}
	return messagejson.ToJSON(value)
}
