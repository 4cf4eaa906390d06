package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
)

// correlationFields are the system properties of a correlation filter, by their names here.
var correlationFields = map[string]func(*admin.CorrelationFilter) **string{
	"contentType":      func(f *admin.CorrelationFilter) **string { return &f.ContentType },
	"correlationId":    func(f *admin.CorrelationFilter) **string { return &f.CorrelationID },
	"messageId":        func(f *admin.CorrelationFilter) **string { return &f.MessageID },
	"replyTo":          func(f *admin.CorrelationFilter) **string { return &f.ReplyTo },
	"replyToSessionId": func(f *admin.CorrelationFilter) **string { return &f.ReplyToSessionID },
	"sessionId":        func(f *admin.CorrelationFilter) **string { return &f.SessionID },
	"subject":          func(f *admin.CorrelationFilter) **string { return &f.Subject },
	"to":               func(f *admin.CorrelationFilter) **string { return &f.To },
}

// filter makes the filter that the flags describe.
func (f *ruleFlags) filter() (admin.RuleFilter, error) {
	given := 0
	for _, yes := range []bool{f.sql != "", len(f.correlation)+len(f.properties) > 0, f.all, f.none} {
		if yes {
			given++
		}
	}
	if given != 1 {
		return nil, Usage("a rule needs one filter: --sql CONDITION, or --correlation and --property, or --true, or --false")
	}
	switch {
	case f.sql != "":
		return &admin.SQLFilter{Expression: f.sql}, nil
	case f.all:
		return &admin.TrueFilter{}, nil
	case f.none:
		return &admin.FalseFilter{}, nil
	}
	c := &admin.CorrelationFilter{}
	for _, pair := range f.correlation {
		name, value, ok := strings.Cut(pair, "=")
		field := correlationFields[name]
		if !ok || field == nil {
			return nil, Usage("--correlation: found %q; allowed: NAME=VALUE with a NAME of %s", oneLine(pair),
				strings.Join(slices.Sorted(maps.Keys(correlationFields)), ", "))
		}
		*field(c) = &value
	}
	var err error
	c.ApplicationProperties, err = propertyPairs("--property", f.properties)
	return c, err
}

// ruleOf returns a rule as JSON.
func ruleOf(topic, sub string, p admin.RuleProperties) rule {
	r := rule{Topic: topic, Subscription: sub, Name: p.Name}
	switch f := p.Filter.(type) {
	case *admin.TrueFilter:
		r.Filter = "true"
	case *admin.FalseFilter:
		r.Filter = "false"
	case *admin.SQLFilter:
		r.Filter, r.SQL, r.Parameters = "sql", f.Expression, f.Parameters
	case *admin.CorrelationFilter:
		r.Filter, r.Correlation, r.Properties = "correlation", make(map[string]any), f.ApplicationProperties
		for name, field := range correlationFields {
			if v := *field(f); v != nil {
				r.Correlation[name] = *v
			}
		}
	default:
		r.Filter = "unknown"
	}
	if action, ok := p.Action.(*admin.SQLAction); ok {
		r.Action = action.Expression
	}
	return r
}

// condition shows the filter on a line.
func (r rule) condition() string {
	if r.Filter != "correlation" {
		return r.SQL
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(r.Correlation)) {
		parts = append(parts, fmt.Sprintf("%s=%v", name, r.Correlation[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(r.Properties)) {
		parts = append(parts, fmt.Sprintf("property %s=%v", name, r.Properties[name]))
	}
	return strings.Join(parts, " AND ")
}
