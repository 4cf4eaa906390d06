package filter

// The texts of the filters that select everything and nothing. The service treats both as SQL filters.
const (
	TrueText  = "1=1"
	FalseText = "1=0"
)

// Filter is a compiled SQL filter. It is immutable.
type Filter struct {
	tree     predicate
	run      tester
	required []anyOf
}

// ParseFilter reads a SQL filter. params has the values of its @names, with or without the @ in the keys; unused
// ones are allowed. The error is a *syntaxError or errTooLong, for which the service answers 400.
func ParseFilter(text string, params map[string]Value) (*Filter, error) {
	p, err := newParser(text, sql, params)
	if err != nil {
		return nil, err
	}
	tree := p.filter()
	if err := p.finish(); err != nil {
		return nil, err
	}
	var c compiler
	f := &Filter{tree: tree, run: c.predicate(tree)}
	if !c.fallible {
		f.required = requirements(f.run)
	}
	return f, nil
}

// Eval evaluates the filter on a message. Only True selects it. An error is a [*EvalError]: the message then
// goes to the subscription's dead-letter queue or is not selected, depending on the subscription (TOP-10).
func (f *Filter) Eval(m Message) (Tri, error) { return f.run.test(m) }

// String returns the filter in its canonical form, which parses to an equal filter.
func (f *Filter) String() string { return canonical(f.tree) }

// needs returns conditions that all hold whenever the filter is true; see anyOf. It is empty for a filter that can
// raise an error.
func (f *Filter) needs() []anyOf { return f.required }
