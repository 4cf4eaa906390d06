package control

import (
	"cmp"

	"minibus/emulator"
	"minibus/emulator/filter"
	"minibus/internal/amqp/messagejson"
	"minibus/internal/printable"
	"minibus/mgmt/control/api"
)

// Bounds of what answers repeat of texts from clients, in bytes.
const (
	maxShownFilter = 2000
	maxShownValue  = 1000
	maxConditions  = 50 // of a rule
)

// shownMatching returns a matching as answers show it.
func shownMatching(m *emulator.Matching) api.Matching {
	out := api.Matching{
		Topic:         m.Topic,
		Duplicate:     m.Duplicate,
		Reached:       []string{},
		Subscriptions: []api.SubscriptionMatching{},
		Unexplained:   m.Unexplained,
	}
	if m.Refused != nil {
		out.Refused = m.Refused.Error()
	}
	if m.Scheduled != 0 {
		at := instant(m.Scheduled)
		out.ScheduledFor = &at
	}
	for i := range m.Subscriptions {
		s := &m.Subscriptions[i]
		shown := api.SubscriptionMatching{
			Name:   s.Name,
			Path:   s.Path,
			Status: string(cmp.Or(s.Status, emulator.StatusActive)),
			Copies: []api.MatchedCopy{},
			Rules:  []api.RuleMatching{},
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

func shownCopy(c emulator.MatchedCopy) api.MatchedCopy {
	out := api.MatchedCopy{
		Rule:        c.Rule,
		SubQueue:    c.Sub.Name(),
		Reason:      c.Reason,
		Description: c.Description,
		Changes:     []api.PropertyChange{},
		Forwards:    append([]string{}, c.Forwards...),
	}
	if c.Stopped != nil {
		out.Stopped = c.Stopped.Error()
	}
	for _, x := range c.Changes {
		out.Changes = append(out.Changes, api.PropertyChange{
			Property: x.Name,
			Before:   shownValue(x.Before),
			After:    shownValue(x.After),
			Removed:  x.After.Kind() == filter.KindMissing,
		})
	}
	return out
}

func shownRule(r *emulator.RuleMatching) api.RuleMatching {
	out := api.RuleMatching{
		Name:    r.Name,
		Filter:  printable.Clip(r.Filter, maxShownFilter),
		Action:  printable.Clip(r.Action, maxShownFilter),
		Outcome: r.Outcome.String(),
		Reasons: []api.Reason{},
	}
	switch {
	case r.Err != nil:
		out.Outcome, out.Error = "error", r.Err.Error()
	case r.ActionError != nil:
		out.Error, out.ActionFails = r.ActionError.Error(), true
	}
	for _, why := range r.Reasons[:min(len(r.Reasons), maxConditions)] {
		shown := api.Reason{
			Condition: printable.Clip(why.Condition, maxShownFilter),
			Outcome:   why.Outcome.String(),
			Seen:      []api.SeenValue{},
			Text:      printable.Clip(why.String(), maxShownFilter),
		}
		for _, s := range why.Seen {
			shown.Seen = append(shown.Seen, api.SeenValue{
				Name:    printable.Clip(s.Name, maxShownValue),
				Missing: s.Value.Kind() == filter.KindMissing,
				Value:   shownValue(s.Value),
			})
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
