package filter

import "strings"

// A compiled filter is a tree of the nodes below. They are immutable; evaluating them allocates only
// to build a text, for a pattern from the message, or to compute with decimals.

// evaluator gives a value. A missing value is not an error.
type evaluator interface {
	value(m Message) (Value, error)
}

// tester gives a truth value.
type tester interface {
	test(m Message) (Tri, error)
}

// fixedValue is a constant, a parameter or an expression that was computed when the rule was made.
type fixedValue struct{ v Value }

func (n fixedValue) value(Message) (Value, error) { return n.v, nil }

// userValue reads an application property.
type userValue struct{ name string }

func (n userValue) value(m Message) (Value, error) {
	v, _ := m.User(n.name)
	return v, nil
}

// systemValue reads a property of the broker. One that the message does not have is null, never missing.
type systemValue struct{ p SystemProperty }

func (n systemValue) value(m Message) (Value, error) { return systemOf(m, n.p), nil }

func systemOf(m Message, p SystemProperty) Value {
	if v := m.System(p); !v.IsUnknown() {
		return v
	}
	return Null()
}

// failure is an expression that always fails, such as a system property that does not exist. A rule may have one.
type failure struct{ err error }

func (n failure) value(Message) (Value, error) { return Value{}, n.err }
func (n failure) test(Message) (Tri, error)    { return Unknown, n.err }

func errNoSystemProperty(name string) error {
	return evalErrorf("The system property '%s' does not exist.", name)
}

// namedValue is property(e).
type namedValue struct{ name evaluator }

func (n namedValue) value(m Message) (Value, error) {
	name, err := n.name.value(m)
	if err != nil || name.IsUnknown() {
		return Value{}, err
	}
	if name.kind != KindString {
		return Value{}, evalErrorf("The argument of property() is of type '%s', not 'string'.", name.kind)
	}
	return compileReference(name.str).value(m)
}

// compileReference makes the node for the argument of property(), which may begin with the sys scope.
func compileReference(name string) evaluator {
	const scope = "sys."
	if len(name) < len(scope) || !strings.EqualFold(name[:len(scope)], scope) {
		return userValue{name}
	}
	p, ok := lookupSystem(name[len(scope):])
	if !ok {
		return failure{errNoSystemProperty(name[len(scope):])}
	}
	return systemValue{p}
}

// freshGUID is newid().
type freshGUID struct{}

func (freshGUID) value(Message) (Value, error) { return newGUID(), nil }

// calculation is a binary operator.
type calculation struct {
	op   arithOp
	x, y evaluator
}

func (n *calculation) value(m Message) (Value, error) {
	x, err := n.x.value(m)
	if err != nil {
		return Value{}, err
	}
	y, err := n.y.value(m)
	if err != nil {
		return Value{}, err
	}
	return calculate(n.op, x, y)
}

// signedValue is a value with a sign.
type signedValue struct {
	minus bool
	x     evaluator
}

func (n *signedValue) value(m Message) (Value, error) {
	x, err := n.x.value(m)
	if err != nil {
		return Value{}, err
	}
	return applySign(n.minus, x)
}
