package config

import (
	"strconv"
	"strings"

	"minibus/emulator"
	"minibus/internal/jsontree"
	"minibus/internal/printable"
)

// filterKind is the kind of filter in a rule's FilterType.
type filterKind uint8

const (
	filterUnknown filterKind = iota
	filterSQL
	filterCorrelation
	filterTrue
	filterFalse
)

// rule decodes Properties of a rule. For an unknown filter type, Microsoft's emulator drops the rule and leaves
// one that matches everything; here that is an error.
func (d *decoder) rule(n *node, check expressionCheck) emulator.RuleOptions {
	props := n.Get("Properties")
	if props == nil {
		d.fail(n, "found a rule without Properties", "FilterType with SqlFilter or CorrelationFilter", "")
		return emulator.RuleOptions{}
	}
	if !d.object(props) {
		return emulator.RuleOptions{}
	}
	d.keys(props, []string{"FilterType", "CorrelationFilter", "SqlFilter", "Action", "SqlExpression"}, "CreatedAt")
	var rule emulator.RuleOptions
	if action := props.Get("Action"); action != nil {
		rule.Action, rule.ActionParameters = d.withParameters(action, emulator.Profile.CheckAction, false)
	}
	switch d.filterType(props) {
	case filterSQL:
		rule.SQL, rule.Parameters = d.sqlFilter(props, check)
	case filterCorrelation:
		rule.Correlation = d.correlationFilter(props)
	case filterTrue:
		rule.SQL, rule.Constant = emulator.TrueExpression, true
	case filterFalse:
		rule.SQL, rule.Constant = emulator.FalseExpression, true
	}
	return rule
}

// filterType reads FilterType in all known spellings or, without it, derives it from the filter that is there.
func (d *decoder) filterType(props *node) filterKind {
	n := props.Get("FilterType")
	const allowed = `"Sql" or "Correlation"`
	if n == nil {
		sql := props.Get("SqlFilter") != nil || props.Get("SqlExpression") != nil
		correlation := props.Get("CorrelationFilter") != nil
		switch {
		case sql && !correlation:
			return filterSQL
		case correlation && !sql:
			return filterCorrelation
		}
		d.fail(props, "found no FilterType", allowed, "add FilterType")
		return filterUnknown
	}
	if n.Kind == kindNumber { // the values of an enumeration
		switch n.Text {
		case "0":
			return filterSQL
		case "1":
			return filterCorrelation
		}
	}
	if n.Kind == kindString {
		switch strings.TrimSuffix(strings.ToLower(strings.TrimSpace(n.Text)), "filter") {
		case "sql", "0":
			return filterSQL
		case "correlation", "1":
			return filterCorrelation
		case "true":
			return filterTrue
		case "false":
			return filterFalse
		}
	}
	d.fail(n, "found "+n.Describe(), allowed, "")
	return filterUnknown
}

// sqlFilter reads SqlFilter.SqlExpression with its Parameters, or SqlExpression directly under Properties.
func (d *decoder) sqlFilter(props *node, check expressionCheck) (string, emulator.Values) {
	filter := props.Get("SqlFilter")
	if filter == nil {
		if direct := props.Get("SqlExpression"); direct != nil {
			return d.expression(direct, nil, check), nil
		}
		d.fail(props, "found FilterType Sql without SqlFilter", "", `add "SqlFilter": {"SqlExpression": "..."}`)
		return "", nil
	}
	return d.withParameters(filter, check, true)
}

// expressionCheck is the broker's check of a filter or an action.
type expressionCheck = func(emulator.Profile, string, emulator.Values) error

// checkOf returns the check of a rule's filter. $Default of a subscription of JMS clients may be a selector (JMS-9).
func checkOf(name string, ofClients bool) expressionCheck {
	if ofClients && strings.EqualFold(name, emulator.DefaultRuleName) {
		return emulator.Profile.CheckSelectorOrFilter
	}
	return emulator.Profile.CheckFilter
}

// expression reads a SQL text and checks its syntax and the profile's limits (QUO-10). The broker would refuse it
// too, but without its place in the file.
func (d *decoder) expression(n *node, params emulator.Values, check expressionCheck) string {
	s := d.text(n, "")
	if n.Kind != kindString {
		return s
	}
	if strings.TrimSpace(s) == "" {
		d.fail(n, "found an empty expression", "an SQL expression", "write 1=1 for a filter that takes everything")
		return s
	}
	if err := check(d.profile.Broker(), s, params); err != nil {
		fix := d.relaxedFix(check(emulator.ProfileRelaxed, s, params) == nil)
		d.fail(n, "found an expression that can't be used. "+oneLine(err), "", fix)
		return s
	}
	d.beyond(n, check(emulator.ProfileEmulator, s, params) == nil)
	return s
}

// oneLine returns an error's text without line breaks, and shortened in the middle, where it quotes.
func oneLine(err error) string {
	const head, tail = 160, 240
	s := []rune(strings.Join(strings.Fields(err.Error()), " "))
	if len(s) <= head+tail {
		return string(s)
	}
	return string(s[:head]) + "..." + string(s[len(s)-tail:])
}

// withParameters reads an expression: a text, or an object with SqlExpression and Parameters; "" without one.
func (d *decoder) withParameters(n *node, check expressionCheck, needed bool) (string, emulator.Values) {
	if n.Kind == kindString {
		return d.expression(n, nil, check), nil
	}
	if !d.object(n) {
		return "", nil
	}
	d.keys(n, []string{"SqlExpression", "Parameters"}, "RequiresPreprocessing", "CompatibilityLevel")
	expression := n.Get("SqlExpression")
	switch {
	case expression == nil && needed:
		d.fail(n, "found no SqlExpression", "text such as \"color = 'red'\"", "")
		return "", nil
	case !needed && (expression == nil || expression.Kind == kindString && strings.TrimSpace(expression.Text) == ""):
		return "", nil
	}
	params := d.parameters(n)
	return d.expression(expression, params, check), params
}

// correlationFilter reads the equalities of a correlation filter (TOP-9). Without any it selects every message.
func (d *decoder) correlationFilter(props *node) *emulator.CorrelationFilter {
	n := props.Get("CorrelationFilter")
	f := &emulator.CorrelationFilter{}
	if n == nil {
		d.fail(props, "found FilterType Correlation without CorrelationFilter", "", `add "CorrelationFilter": {...}`)
		return f
	}
	if !d.object(n) {
		return f
	}
	known := []string{"Properties"}
	empty := true
	for _, field := range correlationFields(f) {
		known = append(known, field.names...)
		if x := n.Get(field.names...); x != nil {
			*field.value = d.tested(x)
			empty = false
		}
	}
	d.keys(n, known, "RequiresPreprocessing")
	properties := n.Get("Properties")
	f.Properties = d.values(properties)
	if empty && (properties == nil || properties.Kind == kindObject && len(properties.Members) == 0) {
		d.warn(n, "found a correlation filter without a condition, it selects every message",
			"set at least one of "+strings.Join(known, ", "))
	}
	return f
}

// correlationField is a field of a correlation filter with its names in a file.
type correlationField struct {
	names []string
	value **string
}

func correlationFields(f *emulator.CorrelationFilter) []correlationField {
	return []correlationField{
		{[]string{"ContentType"}, &f.ContentType}, {[]string{"CorrelationId"}, &f.CorrelationID},
		{[]string{"Label", "Subject"}, &f.Label}, {[]string{"MessageId"}, &f.MessageID},
		{[]string{"ReplyTo"}, &f.ReplyTo}, {[]string{"ReplyToSessionId"}, &f.ReplyToSessionID},
		{[]string{"SessionId"}, &f.SessionID}, {[]string{"To"}, &f.To},
	}
}

// tested reads the text that a field of a correlation filter must equal. It warns of an empty text, which selects only
// messages with an empty property: that is hardly ever meant.
func (d *decoder) tested(n *node) *string {
	s := d.text(n, "")
	if n.Kind == kindString && s == "" {
		d.warn(n, "found an empty text, only messages whose property is there and empty are selected",
			"leave the key out, or write null, if it is not to be tested")
	}
	return &s
}

// values reads named values: the application properties of a correlation filter, or parameters. Whole numbers become
// int64, other numbers float64. The rule language has more types than JSON, so a value may be an object that names its
// type.
func (d *decoder) values(n *node) emulator.Values {
	if !d.object(n) {
		return nil
	}
	all := make(emulator.Values, len(n.Members))
	for _, m := range n.Members {
		switch v := m.Value; v.Kind {
		case kindString:
			all[m.Key] = v.Text
		case kindBool:
			all[m.Key] = v.Bool
		case kindNumber:
			if i, ok := jsontree.Whole(v); ok && !strings.ContainsAny(v.Text, ".eE") {
				all[m.Key] = i
			} else if f, err := strconv.ParseFloat(v.Text, 64); err == nil {
				all[m.Key] = f
			} else {
				d.fail(v, "found "+v.Describe(), "a number that 64 bits can hold", "")
			}
		case kindObject:
			all[m.Key] = d.typedValue(v)
		default:
			d.fail(v, "found "+v.Describe(), "text, a number, true, false, or "+typedForm, "")
		}
	}
	return all
}

const typedForm = `an object such as {"Type": "dateTime", "Value": "2026-11-22T10:00:00.1234567Z"}`

// typedValue reads an object with a value and its type, which Microsoft's emulator does not know.
func (d *decoder) typedValue(n *node) any {
	d.beyond(n, false)
	d.keys(n, []string{"Type", "Value"})
	name, value := n.Get("Type"), n.Get("Value")
	if name == nil || value == nil {
		d.fail(n, "found an object without Type or Value", typedForm, "")
		return nil
	}
	t, known := emulator.ValueTypeOf(name.Text)
	if name.Kind != kindString || !known {
		names, fix := emulator.ValueTypeNames(), ""
		if guess := printable.Closest(name.Text, names); guess != "" {
			fix = "did you mean " + guess + "?"
		}
		d.fail(name, "found "+name.Describe(), strings.Join(names, ", "), fix)
		return nil
	}
	text := value.Text
	if value.Kind == kindBool {
		text = strconv.FormatBool(value.Bool)
	}
	v, ok := t.Parse(text)
	if !ok || value.Kind == kindArray || value.Kind == kindObject {
		d.fail(value, "found "+value.Describe(), "a value of the type "+t.Name+", such as "+t.Example, "")
	}
	return v
}

// parameters reads Parameters beside a SqlExpression, which Microsoft's emulator does not know.
func (d *decoder) parameters(n *node) emulator.Values {
	list := n.Get("Parameters")
	if list != nil {
		d.beyond(list, false)
	}
	return d.values(list)
}
