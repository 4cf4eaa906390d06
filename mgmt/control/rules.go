package control

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
	"minibus/internal/printable"
	"minibus/mgmt/control/api"
)

// entityRule is a rule of a subscription.
type entityRule struct {
	Name       string          `json:"name"`
	Created    time.Time       `json:"created"`
	Properties filterAndAction `json:"properties" doc:"As in Config.json"`
}

func (h *handler) shownRule(r emulator.RuleOptions) entityRule {
	return entityRule{Name: r.Name, Created: instant(r.CreatedAt), Properties: h.server.WriteRule(r)}
}

// byRuleName returns rules in the order of their names.
func byRuleName(rules []emulator.RuleOptions) []emulator.RuleOptions {
	return slices.SortedFunc(slices.Values(rules), func(x, y emulator.RuleOptions) int {
		return strings.Compare(x.Name, y.Name)
	})
}

// AtRule is an argument of operations on one rule.
type AtRule struct {
	AtEntity
	Rule string `path:"rule" doc:"The name. A new subscription has the rule $Default, which takes every message"`
}

// find returns the subscription and its rule; nil if it has none of that name.
func (in *AtRule) find(h *handler) (*emulator.Subscription, *emulator.RuleOptions, error) {
	s, err := in.subscription(h)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range s.Options().Rules {
		if strings.EqualFold(r.Name, in.Rule) {
			return s, &r, nil
		}
	}
	return s, nil, nil
}

// subscription returns the subscription that the path names.
func (in *AtEntity) subscription(h *handler) (*emulator.Subscription, error) {
	e, sub, err := in.find(h)
	if err == nil && sub != emulator.Main {
		err = emulator.NotFound(clip(in.Entity))
	}
	if err != nil {
		return nil, err
	}
	return e.Subscription()
}

// ruledSubscription is a subscription in the list of a topic's.
type ruledSubscription struct {
	Name string `json:"name"`
	api.Entity
	api.Forwards
	Rules []entityRule `json:"rules" nullable:"false"`
}

// rules registers the operations on subscriptions with their rules, and on rules.
func (h *handler) rules() {
	const subscriptions = oneEntity + "/subscriptions"
	register(h, "listSubscriptions", "GET "+subscriptions, tagged("entities"), h.listSubscriptions, 200, 404, 409)
	const all, one = oneEntity + "/rules", oneEntity + "/rules/{rule}"
	register(h, "listRules", "GET "+all, tagged("entities"), h.listRules, 200, 404, 409)
	register(h, "getRule", "GET "+one, tagged("entities"), h.getRule, 200, 404, 409)
	register(h, "putRule", "PUT "+one, huma.Operation{
		Tags:             []string{"entities"},
		SkipValidateBody: true,
		RequestBody:      textBody("RuleBody"),
	}, h.putRule, 200, 400, 404, 409, 413)
	h.createsToo(one)
	register(h, "deleteRule", "DELETE "+one, tagged("entities"), h.deleteRule, 204, 404, 409)
}

func (h *handler) listSubscriptions(_ context.Context, in *AtEntity) (*struct {
	Body api.Page[ruledSubscription]
}, error) {
	e, sub, err := in.find(h)
	if err == nil && sub != emulator.Main {
		err = emulator.NotFound(clip(in.Entity))
	}
	if err != nil {
		return nil, err
	}
	if _, err := e.Topic(); err != nil {
		return nil, err
	}
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, err
	}
	list, err := ns.Entities().Subscriptions(e.Path())
	if err != nil {
		return nil, err
	}
	return pageOf(list, "", func(s *emulator.Subscription) ruledSubscription {
		r := ruledSubscription{Name: s.Options().Name, Entity: shownEntity(s.Entity, nil),
			Forwards: forwardsOf(s.Entity), Rules: []entityRule{}}
		for _, rule := range byRuleName(s.Options().Rules) {
			r.Rules = append(r.Rules, h.shownRule(rule))
		}
		return r
	}), nil
}

func (h *handler) listRules(_ context.Context, in *AtEntity) (*struct{ Body api.Page[entityRule] }, error) {
	s, err := in.subscription(h)
	if err != nil {
		return nil, err
	}
	return pageOf(byRuleName(s.Options().Rules), "", h.shownRule), nil
}

func (h *handler) getRule(_ context.Context, in *AtRule) (*struct{ Body entityRule }, error) {
	_, r, err := in.find(h)
	if err == nil && r == nil {
		err = in.missing()
	}
	if err != nil {
		return nil, err
	}
	return &struct{ Body entityRule }{h.shownRule(*r)}, nil
}

// missing says that there is no such rule.
func (in *AtRule) missing() error {
	return newError(http.StatusNotFound, nil, "The subscription '%s' has no rule '%s'.", clip(in.Entity), clip(in.Rule))
}

// ruleAnswer is an answer with a rule.
type ruleAnswer struct {
	Status   int
	Location string `header:"Location"`
	Body     entityRule
}

func (h *handler) putRule(_ context.Context, in *struct {
	AtRule
	EntityText
	OnlyNew bool `query:"onlyNew" doc:"Whether a rule that exists is a conflict"`
}) (*ruleAnswer, error) {
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, err
	}
	s, old, err := in.AtRule.find(h)
	if err != nil {
		return nil, err
	}
	if old != nil && in.OnlyNew {
		return nil, newError(http.StatusConflict, nil, "The subscription '%s' has a rule '%s' already.", s.Path(),
			old.Name)
	}
	r, wrong := h.server.ReadRule(ns, "body", in.RawBody, in.Rule, s.Client() != nil)
	if len(wrong) > 0 {
		return nil, wrongText(unchanged, wrong)
	}
	isNew, err := ns.Entities().PutRule(s.Path(), r)
	if err != nil {
		return nil, err
	}
	out := &ruleAnswer{Status: http.StatusOK}
	if isNew {
		out.Status = http.StatusCreated
	}
	if _, old, err = in.AtRule.find(h); err == nil && old == nil {
		err = in.missing() // deleted meanwhile
	}
	if err != nil {
		return nil, err
	}
	entity := Prefix + "namespaces/" + url.PathEscape(ns.Name()) + "/entities/" + url.PathEscape(s.Path())
	out.Location = entity + "/rules/" + url.PathEscape(old.Name)
	out.Body = h.shownRule(*old)
	return out, nil
}

func (h *handler) deleteRule(_ context.Context, in *AtRule) (*struct{}, error) {
	ns, err := in.InNamespace.find(h)
	if err != nil {
		return nil, err
	}
	s, r, err := in.find(h)
	if err == nil && r == nil {
		err = in.missing()
	}
	if err != nil {
		return nil, err
	}
	return nil, ns.Entities().DeleteRule(s.Path(), r.Name)
}

// clip cuts a text of a client for a message.
func clip(s string) string { return printable.Clip(s, 100) }
