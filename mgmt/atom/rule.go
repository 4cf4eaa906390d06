package atom

import (
	"fmt"
	"strings"

	"minibus/emulator"
)

// FilterKind is the type of a filter, in the service's words.
type FilterKind string

// The kinds of filters.
const (
	TrueFilter        FilterKind = "TrueFilter"
	FalseFilter       FilterKind = "FalseFilter"
	SQLFilter         FilterKind = "SqlFilter"
	CorrelationFilter FilterKind = "CorrelationFilter"
)

// compatibility is the level that the service shows on every expression.
const compatibility = "20"

// Rule is a rule in a document.
type Rule struct {
	Name      string
	Filter    Filter
	Action    Action
	CreatedAt int64 // ms since the Unix epoch
}

// Filter is a rule's condition.
type Filter struct {
	Kind        FilterKind
	SQL         string // for all kinds but the correlation filter
	Parameters  []Parameter
	Correlation []Test      // those that are set, even to an empty text, in the service's order; none: selects all
	Properties  []Parameter // application properties of a correlation filter
}

// Test is one equality of a correlation filter.
type Test struct{ Property, Value string }

// Action changes the messages that a rule selects; without SQL it changes nothing.
type Action struct {
	SQL        string
	Parameters []Parameter
}

// correlationProperties has the broker's properties of a correlation filter, in the service's order.
var correlationProperties = []string{
	"CorrelationId", "MessageId", "To", "ReplyTo", "Label", "SessionId", "ReplyToSessionId", "ContentType",
}

// ParseRule reads a RuleDescription or a DefaultRuleDescription. A missing filter is true, a missing action none.
func ParseRule(d *Element) (*Rule, error) {
	var p ruleParser
	r := &Rule{
		Name:   strings.TrimSpace(d.Child("Name").Text()),
		Filter: p.filter(d.Child("Filter")),
		Action: p.action(d.Child("Action")),
	}
	return r, p.err
}

// ruleParser keeps the first error.
type ruleParser struct {
	err error
}

func (p *ruleParser) refuse(format string, args ...any) {
	if p.err == nil {
		p.err = &Error{Text: fmt.Sprintf(format, args...) + " "}
	}
}

func (p *ruleParser) filter(e *Element) Filter {
	if e == nil || e.isNil() {
		return Filter{Kind: TrueFilter, SQL: emulator.TrueExpression}
	}
	switch kind := FilterKind(e.typeName()); kind {
	case TrueFilter:
		return Filter{Kind: kind, SQL: emulator.TrueExpression, Parameters: p.parameters(e.Child("Parameters"))}
	case FalseFilter:
		return Filter{Kind: kind, SQL: emulator.FalseExpression, Parameters: p.parameters(e.Child("Parameters"))}
	case SQLFilter:
		return Filter{Kind: kind, SQL: p.expression(e), Parameters: p.parameters(e.Child("Parameters"))}
	case CorrelationFilter:
		return p.correlation(e)
	default:
		p.refuse("The filter type '%s' is not supported.", clip(string(kind)))
		return Filter{}
	}
}

func (p *ruleParser) correlation(e *Element) Filter {
	f := Filter{Kind: CorrelationFilter, Properties: p.parameters(e.Child("Properties"))}
	for _, name := range correlationProperties {
		if x := e.Child(name); x != nil && !x.isNil() {
			f.Correlation = append(f.Correlation, Test{Property: name, Value: x.Text()})
		}
	}
	return f
}

func (p *ruleParser) action(e *Element) Action {
	if e == nil || e.isNil() {
		return Action{}
	}
	switch kind := e.typeName(); kind {
	case "EmptyRuleAction":
	case "SqlRuleAction":
		return Action{SQL: p.expression(e), Parameters: p.parameters(e.Child("Parameters"))}
	default:
		p.refuse("The rule action type '%s' is not supported.", clip(kind))
	}
	return Action{}
}

func (p *ruleParser) expression(e *Element) string {
	s := e.Child("SqlExpression").Text()
	if strings.TrimSpace(s) == "" {
		p.refuse("The SQL expression is empty.")
	}
	return s
}

// write appends the description, always with all four children: Go and JavaScript read Filter and Action without
// checking that they exist.
func (r Rule) write(w *writer, _ View) {
	w.open("RuleDescription", namespaces...)
	r.Filter.write(w)
	r.Action.write(w)
	w.time("CreatedAt", r.CreatedAt)
	w.text("Name", r.Name)
	w.close("RuleDescription")
}

func (f *Filter) write(w *writer) {
	w.open("Filter", "i:type", string(f.Kind))
	if f.Kind == CorrelationFilter {
		for _, t := range f.Correlation {
			w.text(t.Property, t.Value)
		}
		if len(f.Properties) > 0 {
			w.parameters("Properties", f.Properties)
		}
	} else {
		// Only SQL filters have a SqlExpression: JavaScript's client tells the kinds apart by it.
		w.sql(f.SQL, f.Parameters)
	}
	w.close("Filter")
}

func (a *Action) write(w *writer) {
	if a.SQL == "" {
		w.empty("Action", "i:type", "EmptyRuleAction")
		return
	}
	w.open("Action", "i:type", "SqlRuleAction")
	w.sql(a.SQL, a.Parameters)
	w.close("Action")
}

func (w *writer) sql(text string, parameters []Parameter) {
	w.text("SqlExpression", text)
	w.text("CompatibilityLevel", compatibility)
	w.parameters("Parameters", parameters)
}
