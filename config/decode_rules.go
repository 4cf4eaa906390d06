package config

import (
	"strconv"
	"strings"
	"unicode/utf16"

	"minibus/emulator"
)

// filterKind is what a rule's FilterType says.
type filterKind uint8

const (
	filterUnknown filterKind = iota
	filterSQL
	filterCorrelation
	filterTrue
	filterFalse
)

// rule decodes Properties of a rule. Microsoft's emulator drops a rule whose filter type it does not know and leaves
// one that matches everything; here that is an error.
func (d *decoder) rule(n *node) emulator.RuleOptions {
	props := n.get("Properties")
	if props == nil {
		d.fail(n, "found a rule without Properties", "FilterType with SqlFilter or CorrelationFilter", "")
		return emulator.RuleOptions{}
	}
	if !d.object(props) {
		return emulator.RuleOptions{}
	}
	d.keys(props, []string{"FilterType", "CorrelationFilter", "SqlFilter", "Action", "SqlExpression"}, "CreatedAt")
	rule := emulator.RuleOptions{Action: d.action(props.get("Action"))}
	switch d.filterType(props) {
	case filterSQL:
		rule.SQL = d.sqlFilter(props)
	case filterCorrelation:
		rule.Correlation = d.correlationFilter(props)
	case filterTrue:
		rule.SQL, rule.Constant = "1=1", true
	case filterFalse:
		rule.SQL, rule.Constant = "1=0", true
	}
	return rule
}

// filterType reads FilterType in the spellings that are in use, or concludes it from the filter that is there.
func (d *decoder) filterType(props *node) filterKind {
	n := props.get("FilterType")
	const allowed = `"Sql" or "Correlation"`
	if n == nil {
		sql := props.get("SqlFilter") != nil || props.get("SqlExpression") != nil
		correlation := props.get("CorrelationFilter") != nil
		switch {
		case sql && !correlation:
			return filterSQL
		case correlation && !sql:
			return filterCorrelation
		}
		d.fail(props, "found no FilterType", allowed, "add FilterType")
		return filterUnknown
	}
	if n.kind == kindNumber { // the values of an enumeration
		switch n.text {
		case "0":
			return filterSQL
		case "1":
			return filterCorrelation
		}
	}
	if n.kind == kindString {
		switch strings.TrimSuffix(strings.ToLower(strings.TrimSpace(n.text)), "filter") {
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
	d.fail(n, "found "+n.describe(), allowed, "")
	return filterUnknown
}

// sqlFilter reads SqlFilter.SqlExpression, or SqlExpression directly under Properties.
func (d *decoder) sqlFilter(props *node) string {
	filter := props.get("SqlFilter")
	if filter == nil {
		if direct := props.get("SqlExpression"); direct != nil {
			return d.expression(direct)
		}
		d.fail(props, "found FilterType Sql without SqlFilter", "", `add "SqlFilter": {"SqlExpression": "..."}`)
		return ""
	}
	if filter.kind == kindString {
		return d.expression(filter)
	}
	if !d.object(filter) {
		return ""
	}
	d.keys(filter, []string{"SqlExpression"}, "RequiresPreprocessing", "CompatibilityLevel")
	n := filter.get("SqlExpression")
	if n == nil {
		d.fail(filter, "found no SqlExpression", "text such as \"color = 'red'\"", "")
		return ""
	}
	return d.expression(n)
}

// maxExpression is the number of characters, as .NET counts them, that a filter or an action may have. It belongs to the
// language and not to a profile of limits: the rule would be refused when it is made (QUO-10).
const maxExpression = 1024

func (d *decoder) expression(n *node) string {
	s := d.text(n, "")
	switch length := len(utf16.Encode([]rune(s))); {
	case n.kind == kindString && strings.TrimSpace(s) == "":
		d.fail(n, "found an empty expression", "an SQL expression", "write 1=1 for a filter that takes everything")
	case length > maxExpression:
		d.fail(n, "found an expression of "+strconv.Itoa(length)+" characters", "up to "+strconv.Itoa(maxExpression)+" characters",
			"make two rules of it")
	}
	return s
}

// action reads Action.SqlExpression; an action without an expression is none.
func (d *decoder) action(n *node) string {
	if n == nil {
		return ""
	}
	if n.kind == kindString {
		return d.expression(n)
	}
	if !d.object(n) {
		return ""
	}
	d.keys(n, []string{"SqlExpression"}, "RequiresPreprocessing", "CompatibilityLevel")
	expression := n.get("SqlExpression")
	if expression == nil || expression.kind == kindString && strings.TrimSpace(expression.text) == "" {
		return ""
	}
	return d.expression(expression)
}

// correlationFilter reads the equalities of a correlation filter (TOP-9).
func (d *decoder) correlationFilter(props *node) *emulator.CorrelationFilter {
	n := props.get("CorrelationFilter")
	f := &emulator.CorrelationFilter{}
	if n == nil {
		d.fail(props, "found FilterType Correlation without CorrelationFilter", "", `add "CorrelationFilter": {...}`)
		return f
	}
	if !d.object(n) {
		return f
	}
	fields := []struct {
		names []string
		value *string
	}{
		{[]string{"ContentType"}, &f.ContentType}, {[]string{"CorrelationId"}, &f.CorrelationID},
		{[]string{"Label", "Subject"}, &f.Label}, {[]string{"MessageId"}, &f.MessageID},
		{[]string{"ReplyTo"}, &f.ReplyTo}, {[]string{"ReplyToSessionId"}, &f.ReplyToSessionID},
		{[]string{"SessionId"}, &f.SessionID}, {[]string{"To"}, &f.To},
	}
	known := []string{"Properties"}
	empty := true
	for _, field := range fields {
		*field.value = d.text(n.get(field.names...), "")
		empty = empty && *field.value == ""
		known = append(known, field.names...)
	}
	d.keys(n, known, "RequiresPreprocessing")
	properties := n.get("Properties")
	f.Properties = d.userProperties(properties)
	if empty && (properties == nil || properties.kind == kindObject && len(properties.members) == 0) {
		d.fail(n, "found a correlation filter without a condition",
			"at least one of "+strings.Join(known, ", "), "leave the rule out for a subscription that takes everything")
	}
	return f
}

// userProperties reads the application properties of a correlation filter. Whole numbers become int64.
func (d *decoder) userProperties(n *node) map[string]any {
	if !d.object(n) {
		return nil
	}
	props := make(map[string]any, len(n.members))
	for _, m := range n.members {
		switch v := m.value; v.kind {
		case kindString:
			props[m.key] = v.text
		case kindBool:
			props[m.key] = v.boolean
		case kindNumber:
			if i, ok := wholeNumber(v); ok && !strings.ContainsAny(v.text, ".eE") {
				props[m.key] = i
			} else if f, err := strconv.ParseFloat(v.text, 64); err == nil {
				props[m.key] = f
			} else {
				d.fail(v, "found "+v.describe(), "a number that 64 bits can hold", "")
			}
		default:
			d.fail(v, "found "+v.describe(), "text, a number, true or false", "")
		}
	}
	return props
}
