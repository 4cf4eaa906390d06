package arm

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"minibus/emulator"
	"minibus/mgmt/atom"
)

func init() {
	register(kind{
		name: serviceBus + "/namespaces/topics/subscriptions/rules", list: (*Manager).listRules,
		methods: map[string]operation{
			http.MethodGet: (*Manager).getRule, http.MethodHead: (*Manager).getRule, http.MethodPut: (*Manager).putRule,
			http.MethodDelete: (*Manager).deleteRule,
		},
	})
}

// compatibilityLevel is what the service shows with every expression.
const compatibilityLevel = 20

// The types of filters.
const (
	sqlFilter         = "SqlFilter"
	correlationFilter = "CorrelationFilter"
)

// correlationFields are the properties of a message that a correlation filter tests, in the service's order.
var correlationFields = []string{
	"correlationId", "messageId", "to", "replyTo", "label", "sessionId", "replyToSessionId", "contentType",
}

// ruleBody is a rule in a request.
type ruleBody struct {
	FilterType string `json:"filterType"`
	Action     *struct {
		SQL string `json:"sqlExpression"`
	} `json:"action"`
	SQL *struct {
		SQL string `json:"sqlExpression"`
	} `json:"sqlFilter"`
	Correlation *correlationBody `json:"correlationFilter"`
}

// correlationBody is a correlation filter in a request. An empty text is no test.
type correlationBody struct {
	CorrelationID    string            `json:"correlationId"`
	MessageID        string            `json:"messageId"`
	To               string            `json:"to"`
	ReplyTo          string            `json:"replyTo"`
	Label            string            `json:"label"`
	SessionID        string            `json:"sessionId"`
	ReplyToSessionID string            `json:"replyToSessionId"`
	ContentType      string            `json:"contentType"`
	Properties       map[string]string `json:"properties"`
}

// filter returns the filter of the administration's documents.
func (b *correlationBody) filter() atom.Filter {
	f := atom.Filter{Kind: atom.CorrelationFilter}
	for i, value := range []string{
		b.CorrelationID, b.MessageID, b.To, b.ReplyTo, b.Label, b.SessionID, b.ReplyToSessionID, b.ContentType,
	} {
		if value != "" {
			f.Correlation = append(f.Correlation, atom.Test{Property: upper(correlationFields[i]), Value: value})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(b.Properties)) {
		f.Properties = append(f.Properties, atom.Parameter{Key: key, Value: b.Properties[key]})
	}
	return f
}

// rule returns the rule that a body describes. Without a type it has a SQL filter, and without an expression that takes
// everything.
func (b *ruleBody) rule(id ID) (atom.Rule, error) {
	r := atom.Rule{Name: id.Name()}
	if b.Action != nil {
		r.Action.SQL = b.Action.SQL
	}
	switch kind := cmp.Or(b.FilterType, map[bool]string{true: correlationFilter}[b.Correlation != nil], sqlFilter); {
	case strings.EqualFold(kind, sqlFilter):
		r.Filter = atom.Filter{Kind: atom.SQLFilter, SQL: emulator.TrueExpression}
		if b.SQL != nil && b.SQL.SQL != "" {
			r.Filter.SQL = b.SQL.SQL
		}
	case strings.EqualFold(kind, correlationFilter):
		if b.Correlation == nil {
			return r, unsupported(id, "A rule with the filter type CorrelationFilter has a correlationFilter.")
		}
		r.Filter = b.Correlation.filter()
	default:
		return r, unsupported(id, "The filter type '%.40s' does not exist. It is SqlFilter or CorrelationFilter.", kind)
	}
	return r, nil
}

// ruleProperties returns a rule as answers show it. Values and parameters that ARM has no types for become texts or
// are left out.
func ruleProperties(o emulator.RuleOptions) object {
	r := atom.RuleOf(o)
	properties := object{"action": object{}, "filterType": sqlFilter}
	if r.Action.SQL != "" {
		properties["action"] = object{"sqlExpression": r.Action.SQL, "compatibilityLevel": compatibilityLevel}
	}
	if r.Filter.Kind != atom.CorrelationFilter {
		properties["sqlFilter"] = object{"sqlExpression": r.Filter.SQL, "compatibilityLevel": compatibilityLevel}
		return properties
	}
	filter := object{}
	for _, t := range r.Filter.Correlation {
		filter[strings.ToLower(t.Property[:1])+t.Property[1:]] = t.Value
	}
	if len(r.Filter.Properties) > 0 {
		texts := object{}
		for _, p := range r.Filter.Properties {
			_, texts[p.Key] = p.TypeAndText()
		}
		filter["properties"] = texts
	}
	properties["filterType"], properties["correlationFilter"] = correlationFilter, filter
	return properties
}

// subscriptionOf returns the subscription that has the rules of an id, with its namespace.
func (m *Manager) subscriptionOf(id ID) (*emulator.Subscription, located, error) {
	e, s, err := m.entity(id)
	if err != nil {
		return nil, s, err
	}
	sub, err := e.Subscription()
	return sub, s, err
}

func (s located) shownRule(o emulator.RuleOptions, id ID) object {
	return object{
		"id": id.String(), "name": id.Name(), "type": id.Type(), "location": shownLocation(s.Location),
		"properties": ruleProperties(o),
	}
}

func (m *Manager) listRules(c *call) (answer, error) {
	sub, s, err := m.subscriptionOf(c.id)
	if err != nil {
		return answer{}, err
	}
	rules := sub.Options().Rules
	return list(c, len(rules), func(i int) any {
		return s.shownRule(rules[i], c.id.Parent().Child("rules", rules[i].Name))
	})
}

func (m *Manager) getRule(c *call) (answer, error) {
	sub, s, err := m.subscriptionOf(c.id)
	if err != nil {
		return answer{}, err
	}
	for _, r := range sub.Options().Rules {
		if strings.EqualFold(r.Name, c.id.Name()) {
			return answer{status: http.StatusOK, body: s.shownRule(r, c.id)}, nil
		}
	}
	return answer{}, entityNotFound(c.id)
}

func (m *Manager) putRule(c *call) (answer, error) {
	_, s, err := m.subscriptionOf(c.id)
	if err != nil {
		return answer{}, err
	}
	var body struct {
		Properties ruleBody `json:"properties"`
	}
	if err := c.read(&body); err != nil {
		return answer{}, err
	}
	r, err := body.Properties.rule(c.id)
	if err == nil {
		err = atom.CheckRule(r.Name, s.ns.Profile())
	}
	if err != nil {
		return answer{}, inSubCode(err)
	}
	if _, err := s.ns.Entities().PutRule(c.id.path(), r.Options()); err != nil {
		return answer{}, err
	}
	return m.getRule(c)
}

func (m *Manager) deleteRule(c *call) (answer, error) {
	_, s, err := m.subscriptionOf(c.id)
	if err == nil {
		err = s.ns.Entities().DeleteRule(c.id.path(), c.id.Name())
	}
	return deleted(c, s, err)
}

// deleted answers a DELETE of something in a namespace. What does not exist is no error, as long as the namespace does.
func deleted(c *call, s located, err error) (answer, error) {
	switch {
	case err == nil:
		return answer{status: http.StatusOK}, nil
	case s.ns != nil && errorOf(c.id, err).Status == http.StatusNotFound:
		return answer{status: http.StatusNoContent}, nil
	}
	return answer{}, err
}
