package filter

import "strings"

// Action is a SQL action: statements that change the copy of a message that its rule made. An Action is immutable.
type Action struct {
	tree       []node
	statements []statement
}

// statement is one compiled statement.
type statement interface {
	apply(t Target) error
}

// ParseAction reads a SQL action. Parameters and errors are as for [ParseFilter]. Setting a system property that is
// unknown or read-only is an error when the action runs, not here.
func ParseAction(text string, params map[string]Value) (*Action, error) {
	p, err := newParser(text, sql, params)
	if err != nil {
		return nil, err
	}
	tree := p.action()
	if err := p.finish(); err != nil {
		return nil, err
	}
	a := &Action{tree: tree}
	var c compiler
	for _, n := range tree {
		a.statements = append(a.statements, c.statement(n))
	}
	return a, nil
}

// Apply runs the statements in order. An error is a [*EvalError]; the target is then half changed, and the caller
// must not deliver it.
func (a *Action) Apply(t Target) error {
	for _, s := range a.statements {
		if err := s.apply(t); err != nil {
			return actionError(err)
		}
	}
	return nil
}

// Statements returns the number of statements, which the service limits (QUO-10).
func (a *Action) Statements() int { return len(a.tree) }

// String returns the action in its canonical form, which parses to an equal action.
func (a *Action) String() string {
	texts := make([]string, len(a.tree))
	for i, n := range a.tree {
		texts[i] = canonical(n)
	}
	return strings.Join(texts, "; ")
}

func (c *compiler) statement(n node) statement {
	switch n := n.(type) {
	case assignment:
		return c.assignment(n)
	case removal:
		if n.target.sys {
			return failedStatement{evalErrorf("The system property '%s' cannot be removed.", n.target.name)}
		}
		return removeUser{n.target.name}
	}
	panic("filter: statement without a compiler")
}

func (c *compiler) assignment(n assignment) statement {
	value := c.operand(n.value)
	if !n.target.sys {
		return &setUser{name: n.target.name, value: value}
	}
	p, ok := lookupSystem(n.target.name)
	switch {
	case !ok:
		return failedStatement{errNoSystemProperty(n.target.name)}
	case !p.settable():
		return failedStatement{evalErrorf("The system property '%s' is read-only.", p)}
	}
	return &setSystem{p: p, value: value}
}

// failedStatement is a statement that fails on every message. A rule may have one.
type failedStatement struct{ err error }

func (s failedStatement) apply(Target) error { return s.err }

// setUser is SET of an application property. A missing value changes nothing; null is a value. A property that is there
// keeps its type.
type setUser struct {
	name  string
	value evaluator
}

func (s *setUser) apply(t Target) error {
	v, err := s.value.value(t)
	if err != nil || v.kind == KindMissing {
		return err
	}
	if old, ok := t.User(s.name); ok {
		if v, err = convert(v, old.kind); err != nil {
			return err
		}
	}
	return t.SetUser(s.name, v)
}

// setSystem is SET of a property of the broker, whose type is fixed.
type setSystem struct {
	p     SystemProperty
	value evaluator
}

func (s *setSystem) apply(t Target) error {
	v, err := s.value.value(t)
	if err != nil || v.kind == KindMissing {
		return err
	}
	if v, err = convert(v, s.p.kind()); err != nil {
		return err
	}
	return t.SetSystem(s.p, v)
}

// removeUser is REMOVE of an application property.
type removeUser struct{ name string }

func (s removeUser) apply(t Target) error {
	t.RemoveUser(s.name)
	return nil
}
