package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
	"minibus/emulator/filter"
	"minibus/internal/amqp/message"
	"minibus/internal/amqp/messagejson"
	"minibus/internal/printable"
	"minibus/internal/strictjson"
	"minibus/mgmt/control/api"
)

// triedRule is the name of a rule that is tried and not stored.
const triedRule = "rule"

// matchOrder is a message to ask the rules about.
type matchOrder struct {
	message *messagejson.Message
	rule    json.RawMessage // in the form of Config.json, without a name; nil: none
}

// Schema implements [huma.SchemaProvider].
func (matchOrder) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type:                 huma.TypeObject,
		AdditionalProperties: false,
		Required:             []string{"message"},
		Properties: map[string]*huma.Schema{
			"message": huma.SchemaFromType(r, reflect.TypeFor[messagejson.Message]()),
			"rule":    {Ref: schemas + "RuleBody"},
		},
	}
}

// UnmarshalJSON implements [json.Unmarshaler].
func (o *matchOrder) UnmarshalJSON(text []byte) error {
	var body struct {
		Message json.RawMessage `json:"message"`
		Rule    json.RawMessage `json:"rule"`
	}
	if err := strictjson.Decode(text, &body); err != nil {
		return err
	}
	if body.Message == nil {
		return errors.New("expected required property message to be present")
	}
	o.rule = body.Rule
	var err error
	o.message, err = messagejson.Read(body.Message)
	return err
}

// match registers the rules' test bench.
func (h *handler) match() {
	register(h, "matchMessage", "POST "+oneEntity+"/match", huma.Operation{
		Tags:             []string{"match"},
		Extensions:       readOnly,
		SkipValidateBody: true,
	}, h.matchMessage, 200, 400, 404, 409, 413)
}

func (h *handler) matchMessage(_ context.Context, in *struct {
	AtEntity
	Body matchOrder
}) (*struct{ Body api.Matching }, error) {
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, err
	}
	e, sub, err := in.find(h)
	if err != nil {
		return nil, err
	}
	if sub != emulator.Main {
		return nil, badRequest("Rules belong to a topic or a subscription, not to a sub-queue.")
	}
	raw, err := in.Body.message.Encode(time.UnixMilli(ns.Now()))
	if err != nil {
		return nil, badRequest("body.message: %v.", err)
	}
	ask := emulator.MatchQuestion{}
	if ask.Message, err = message.Scan(raw); err != nil {
		return nil, badRequest("body.message: %v.", err)
	}
	if in.Body.rule != nil {
		r, wrong := h.server.ReadRule(ns, "body.rule", in.Body.rule, triedRule, false)
		if len(wrong) > 0 {
			return nil, newError(http.StatusBadRequest, wrong, "%s", wrong[0])
		}
		ask.Rule = &r
	}
	m, err := e.Match(ask)
	if err != nil {
		return nil, err
	}
	return &struct{ Body api.Matching }{shownMatching(m)}, nil
}

// Answers cut texts of clients that are longer.
const (
	maxShownFilter = 2000 // bytes of a filter, an action or a condition
	maxShownValue  = 1000 // bytes of a property
	maxConditions  = 50   // conditions of a rule
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
