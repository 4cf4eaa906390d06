package atom

import (
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/dotnet"
)

// Options translates a rule of a document into the domain's.
func (r Rule) Options() emulator.RuleOptions {
	o := emulator.RuleOptions{Name: r.Name, Action: r.Action.SQL, ActionParameters: values(r.Action.Parameters)}
	if r.Filter.Kind == CorrelationFilter {
		o.Correlation = correlation(r.Filter)
		return o
	}
	o.SQL, o.Parameters = r.Filter.SQL, values(r.Filter.Parameters)
	o.Constant = r.Filter.Kind != SQLFilter
	return o
}

// correlationFields are the broker's properties of a correlation filter, in the order in which they are shown.
var correlationFields = []struct {
	name  string
	field func(*emulator.CorrelationFilter) **string
}{
	{"CorrelationId", func(c *emulator.CorrelationFilter) **string { return &c.CorrelationID }},
	{"MessageId", func(c *emulator.CorrelationFilter) **string { return &c.MessageID }},
	{"To", func(c *emulator.CorrelationFilter) **string { return &c.To }},
	{"ReplyTo", func(c *emulator.CorrelationFilter) **string { return &c.ReplyTo }},
	{"Label", func(c *emulator.CorrelationFilter) **string { return &c.Label }},
	{"SessionId", func(c *emulator.CorrelationFilter) **string { return &c.SessionID }},
	{"ReplyToSessionId", func(c *emulator.CorrelationFilter) **string { return &c.ReplyToSessionID }},
	{"ContentType", func(c *emulator.CorrelationFilter) **string { return &c.ContentType }},
}

func correlation(f Filter) *emulator.CorrelationFilter {
	c := &emulator.CorrelationFilter{Properties: values(f.Properties)}
	for _, t := range f.Correlation {
		for _, x := range correlationFields {
			if x.name == t.Property {
				*x.field(c) = &t.Value
			}
		}
	}
	return c
}

// The descriptors of .NET's types in AMQP.
const (
	descriptorTimeSpan       = "com.microsoft:timespan"        // ticks
	descriptorDateTimeOffset = "com.microsoft:datetime-offset" // ticks since the year 1, UTC
)

func values(list []Parameter) emulator.Values {
	if len(list) == 0 {
		return nil
	}
	v := make(emulator.Values, len(list))
	for _, p := range list {
		v[p.Key] = p.Value
		switch x := p.Value.(type) {
		case TimeSpan:
			v[p.Key] = amqp.Described{Descriptor: amqp.Symbol(descriptorTimeSpan), Value: int64(x)}
		case UnzonedTime:
			v[p.Key] = emulator.UnzonedTime(time.Time(x))
		}
	}
	return v
}

// RuleOf translates a rule of the domain into a document's.
func RuleOf(o emulator.RuleOptions) Rule {
	action := Action{SQL: o.Action, Parameters: parameters(o.ActionParameters)}
	r := Rule{Name: o.Name, CreatedAt: o.CreatedAt, Action: action}
	switch {
	case o.Correlation != nil:
		r.Filter = Filter{Kind: CorrelationFilter, Properties: parameters(o.Correlation.Properties)}
		for _, x := range correlationFields {
			if s := *x.field(o.Correlation); s != nil {
				r.Filter.Correlation = append(r.Filter.Correlation, Test{Property: x.name, Value: *s})
			}
		}
		return r
	case o.Constant && o.SQL == emulator.FalseExpression:
		r.Filter.Kind = FalseFilter
	case o.Constant:
		r.Filter.Kind = TrueFilter
	default:
		r.Filter.Kind = SQLFilter
	}
	r.Filter.SQL, r.Filter.Parameters = o.SQL, parameters(o.Parameters)
	return r
}

// parameters returns values sorted by name, since the domain keeps no order.
func parameters(v emulator.Values) []Parameter {
	var list []Parameter
	for key, x := range v {
		list = append(list, Parameter{Key: key, Value: shownValue(x)})
	}
	slices.SortFunc(list, func(a, b Parameter) int { return cmp.Compare(a.Key, b.Key) })
	return list
}

// shownValue translates AMQP's types for .NET values into the document's.
func shownValue(x any) any {
	if t, zoned, ok := emulator.TimeOf(x); ok && zoned {
		return t
	} else if ok {
		return UnzonedTime(t)
	}
	switch v := x.(type) {
	case amqp.Symbol:
		return string(v)
	case amqp.Char:
		return string(rune(v))
	case amqp.UUID:
		return uuid.UUID(v).String()
	case amqp.Described:
		ticks, _ := v.Value.(int64)
		switch v.Descriptor {
		case amqp.Symbol(descriptorTimeSpan):
			return TimeSpan(ticks)
		case amqp.Symbol(descriptorDateTimeOffset):
			return dotnet.Time(ticks)
		}
	}
	return x
}
