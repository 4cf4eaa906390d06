package filter

import (
	"errors"
	"strings"
)

// Explanation says what a filter makes of a message, and why.
type Explanation struct {
	Outcome Tri
	// of the evaluation, an *EvalError: it is then for the subscription to say what becomes of the message (TOP-10)
	Err     error
	Reasons []Reason // the conditions that decided. A filter that fails has one, which failed
}

// Reason is a condition of a filter without AND, OR and NOT around it. Where the outcome of the filter is not true,
// it would be another one if these conditions were not as they are; they are listed even if the evaluation ended
// before them.
type Reason struct {
	Condition string // in its canonical form
	Outcome   Tri
	Seen      []Seen // what the condition reads, in its order
	Note      string // why it is unknown, if the values are there; may be empty
}

// Seen is a value that a condition read.
type Seen struct {
	Name  string // of a property, with its scope, or @name of a parameter
	Value Value  // [KindMissing]: the message has no such property
}

// String returns the reason as a sentence, such as: color = 'red' is false: color is 'blue'.
func (r Reason) String() string {
	text := r.Condition + " is " + r.Outcome.String()
	separator := ": "
	for _, s := range r.Seen {
		text += separator + s.Name + " is " + s.Value.Shown()
		separator = ", "
	}
	if r.Note != "" {
		text += separator + r.Note
	}
	return strings.TrimSuffix(text, ".")
}

// Shown returns the value as a filter would write it, for people; "missing" if there is none.
func (v Value) Shown() string {
	switch v.kind {
	case KindMissing, KindOpaque:
		return v.kind.String()
	}
	return canonical(literal{v})
}

// Explain evaluates the filter as [Filter.Eval] does, always with the same outcome, and says why. It costs much more.
func (f *Filter) Explain(m Message) Explanation {
	outcome, reasons, err := explainer{m: m}.predicate(f.tree, True)
	if err != nil {
		outcome = Unknown
	}
	return Explanation{Outcome: outcome, Err: err, Reasons: reasons}
}

// explainer walks the syntax tree. It leaves the conditions to the nodes that evaluate them, and only joins their
// outcomes itself.
type explainer struct {
	m        Message
	selector bool // of a selector
}

// predicate returns the outcome and what keeps it from being the wanted one, or makes it so.
func (x explainer) predicate(n predicate, want Tri) (Tri, []Reason, error) {
	switch n := n.(type) {
	case junction:
		return x.junction(n, want)
	case negation:
		t, reasons, err := x.predicate(n.x, want.not())
		return t.not(), reasons, err
	}
	r := Reason{Condition: canonical(n), Seen: x.seen(nil, operandsOf(n)...)}
	c := compiler{selector: x.selector}
	t, err := c.predicate(n).test(x.m)
	if r.Outcome = t; err != nil {
		r.Note = err.Error()
	} else if t == Unknown || x.selector && t == False {
		r.Note = x.unfit(n)
	}
	return t, []Reason{r}, err
}

// junction keeps the reasons of those terms that are as near to the wanted outcome as the whole is: of an AND that is
// not true, those that are not true, and of an OR that is true, those that are.
func (x explainer) junction(n junction, want Tri) (Tri, []Reason, error) {
	result := True
	join := Tri.and
	decisive := False
	if n.or {
		result = False
		join = Tri.or
		decisive = True
	}
	outcomes, reasons := make([]Tri, len(n.terms)), make([][]Reason, len(n.terms))
	for i, term := range n.terms {
		t, why, err := x.predicate(term, want)
		switch {
		case err == nil:
			result = join(result, t)
			outcomes[i] = t
			reasons[i] = why
		case result != decisive:
			return Unknown, why, err
		default: // the evaluation ended before: it does not fail
			outcomes[i] = result
		}
	}
	var kept []Reason
	for i, t := range outcomes {
		if (t == want) == (result == want) {
			kept = append(kept, reasons[i]...)
		}
	}
	return result, kept, nil
}

// operandsOf returns the values of a condition.
func operandsOf(n predicate) []operand {
	switch n := n.(type) {
	case comparison:
		return []operand{n.x, n.y}
	case membership:
		return append([]operand{n.x}, n.items...)
	case likeness:
		if n.escape != nil {
			return []operand{n.x, n.pattern, n.escape}
		}
		return []operand{n.x, n.pattern}
	case nullness:
		return []operand{n.x}
	case existence:
		return []operand{n.x}
	}
	return nil
}

// seen appends what is read for values, each name once.
func (x explainer) seen(list []Seen, operands ...operand) []Seen {
	for _, n := range operands {
		switch n := n.(type) {
		case parameter:
			list = note(list, Seen{"@" + n.name, n.value})
		case property:
			list = x.read(list, n)
		case propertyCall:
			list = x.read(x.seen(list, n.name), n)
		case signed:
			list = x.seen(list, n.x)
		case arithmetic:
			list = x.seen(list, n.x, n.y)
		}
	}
	return list
}

// read appends the value of a property, unless reading it fails.
func (x explainer) read(list []Seen, n operand) []Seen {
	c := compiler{selector: x.selector}
	v, err := c.operand(n).value(x.m)
	if err != nil {
		return list
	}
	return note(list, Seen{canonical(n), v})
}

func note(list []Seen, s Seen) []Seen {
	for _, other := range list {
		if other.Name == s.Name {
			return list
		}
	}
	return append(list, s)
}

// errNoValue says that a value is not there.
var errNoValue = errors.New("no value")

// known returns a value that is there.
func (x explainer) known(n operand) (Value, error) {
	c := compiler{selector: x.selector}
	v, err := c.operand(n).value(x.m)
	if err == nil && v.IsUnknown() {
		err = errNoValue
	}
	return v, err
}

// unfit says why a condition is unknown although its values are there: their types do not fit. It returns "" if one
// is not there.
func (x explainer) unfit(n predicate) string {
	values := operandsOf(n)
	left, err := x.known(values[0])
	if err != nil {
		return ""
	}
	operator, fits := Equal.String(), func(right Value) bool { return Compare(Equal, left, right) != Unknown }
	switch n := n.(type) {
	case comparison:
		operator, fits = n.op.String(), func(right Value) bool { return Compare(n.op, left, right) != Unknown }
	case likeness:
		operator, fits = "LIKE", func(right Value) bool { return left.kind == KindString && right.kind == KindString }
	}
	for _, n := range values[1:] {
		if right, err := x.known(n); err == nil && !fits(right) {
			return left.kind.String() + " " + operator + " " + right.kind.String() + ": the types do not fit"
		}
	}
	return ""
}

// Explain is [Filter.Explain] for a correlation filter.
func (c *Correlation) Explain(m Message) Explanation {
	e := Explanation{Outcome: triOf(c.Match(m))}
	for _, test := range c.tests {
		have := test.Property.of(m)
		same := triOf(sameValue(have, test.Value))
		if same != e.Outcome {
			continue
		}
		name := canonical(test.Property.node())
		r := Reason{Condition: name + " = " + canonical(literal{test.Value}), Outcome: same, Seen: []Seen{{name, have}}}
		if same == False && !have.IsUnknown() && familyOf(have.kind) != familyOf(test.Value.kind) {
			r.Note = have.kind.String() + " = " + test.Value.kind.String() + ": the types differ"
		}
		e.Reasons = append(e.Reasons, r)
	}
	return e
}

// node returns the property as the syntax tree has it.
func (p scopedProperty) node() property {
	if p.IsUser {
		return property{name: p.User}
	}
	return property{sys: true, name: p.System.String()}
}
