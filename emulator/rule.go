package emulator

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"

	"minibus/emulator/filter"
)

// rule is one rule of a subscription, compiled. It never changes.
type rule struct {
	subscription *Subscription
	options      RuleOptions // with the time of its creation
	order        int64       // by creation, within the topic
	matcher      filter.Matcher
	action       *filter.Action // nil: none
}

// compile makes a rule under a profile of limits. A text that does not parse fails with CodeArgument and the service's words.
func (s *Subscription) compile(o RuleOptions, l Limits) (*rule, error) {
	r := &rule{subscription: s}
	var err error
	if r.options, err = canonicalRule(o); err != nil {
		return nil, s.refuse(o, err)
	}
	if r.matcher, err = matcherOf(&r.options, l); err != nil {
		return nil, s.refuse(o, err)
	}
	if o.Action == "" {
		return r, nil
	}
	params, err := r.options.ActionParameters.forFilter()
	if err == nil {
		r.action, err = l.parseAction(o.Action, params)
	}
	if err != nil {
		return nil, s.refuse(o, err)
	}
	return r, nil
}

// refuse makes the domain's error of what is wrong with a rule.
func (s *Subscription) refuse(o RuleOptions, err error) error {
	return &Error{Code: CodeArgument, Entity: s.ruleName(o.Name), Text: err.Error()}
}

// canonicalRule returns the rule's settings with values of the types that they have after a restart.
func canonicalRule(o RuleOptions) (RuleOptions, error) { return o.withValues(Values.canonical) }

// withValues returns the rule's settings with other values.
func (o RuleOptions) withValues(of func(Values) (Values, error)) (RuleOptions, error) {
	var errs [3]error
	o.Parameters, errs[0] = of(o.Parameters)
	o.ActionParameters, errs[1] = of(o.ActionParameters)
	if o.Correlation != nil {
		c := *o.Correlation
		c.Properties, errs[2] = of(c.Properties)
		o.Correlation = &c
	}
	return o, errors.Join(errs[:]...)
}

func matcherOf(o *RuleOptions, l Limits) (filter.Matcher, error) {
	switch {
	case o.Name == "":
		return nil, errors.New("a rule needs a name")
	case o.Correlation != nil && o.SQL != "":
		return nil, errors.New("a rule has one filter, either SQL or correlation")
	case o.Correlation != nil:
		return o.Correlation.matcher()
	case o.SQL == "":
		return nil, errors.New("the rule has no filter")
	}
	params, err := o.Parameters.forFilter()
	if err != nil {
		return nil, err
	}
	return l.parseFilter(o.SQL, params)
}

func (c *CorrelationFilter) matcher() (filter.Matcher, error) {
	system := make(map[filter.SystemProperty]string)
	for p, text := range map[filter.SystemProperty]*string{
		filter.ContentType: c.ContentType, filter.CorrelationID: c.CorrelationID, filter.Label: c.Label,
		filter.MessageID: c.MessageID, filter.ReplyTo: c.ReplyTo, filter.ReplyToSessionID: c.ReplyToSessionID,
		filter.SessionID: c.SessionID, filter.To: c.To,
	} {
		if text != nil {
			system[p] = *text
		}
	}
	user, err := c.Properties.forFilter()
	if err != nil {
		return nil, err
	}
	return filter.NewCorrelation(system, user)
}

// compileAll makes the rules of a list, whose names must differ in more than case (TOP-8). Those without a time of
// creation get now.
func (s *Subscription) compileAll(list []RuleOptions, now int64, l Limits) ([]*rule, error) {
	rules := make([]*rule, 0, len(list))
	seen := make(map[string]bool, len(list))
	for _, o := range list {
		key := strings.ToLower(o.Name)
		if seen[key] {
			return nil, s.ruleExists(o.Name)
		}
		seen[key] = true
		if o.CreatedAt == 0 {
			o.CreatedAt = now
		}
		r, err := s.compile(o, l)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// sameRules reports whether two lists have the same rules, whatever their order and however they came about.
func sameRules(a, b []RuleOptions) bool {
	if len(a) != len(b) {
		return false
	}
	plain := func(list []RuleOptions) []RuleOptions {
		out := make([]RuleOptions, len(list))
		for i, o := range list {
			o, _ = o.withValues(Values.comparable) // an error shows when the rule is compiled
			o.Name, o.CreatedAt, o.Constant = strings.ToLower(o.Name), 0, false
			out[i] = o
		}
		slices.SortFunc(out, func(x, y RuleOptions) int { return cmp.Compare(x.Name, y.Name) })
		return out
	}
	return reflect.DeepEqual(plain(a), plain(b))
}
