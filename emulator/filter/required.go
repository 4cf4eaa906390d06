package filter

// Property names a property in its scope. A user property is kept as the rule spells it, since the exact spelling
// decides which of two properties that differ only by case is meant.
type Property struct {
	User   string         // the name of a user property, if IsUser
	System SystemProperty // otherwise
	IsUser bool
}

// UserProperty names an application property.
func UserProperty(name string) Property { return Property{User: name, IsUser: true} }

// BrokerProperty names a property of the broker.
func BrokerProperty(p SystemProperty) Property { return Property{System: p} }

// of reads the property.
func (p Property) of(m Message) Value {
	if !p.IsUser {
		return systemOf(m, p.System)
	}
	v, _ := m.User(p.User)
	return v
}

// Equality is the condition that a property has a value.
type Equality struct {
	Property Property
	Value    Value
}

// AnyOf is a condition that a matcher cannot do without: at least one of the equalities holds whenever the matcher
// selects a message. With no equality at all it never holds. If it does not hold, evaluating the matcher would give False
// or Unknown and no error, so there is no need to.
type AnyOf []Equality

// maxAlternatives is how many equalities a condition may have before it is not worth having.
const maxAlternatives = 512

// Matcher is what decides whether a message is selected: a [*Filter] or a [*Correlation].
type Matcher interface {
	Eval(m Message) (Tri, error)
	Required() []AnyOf
}

// requirements finds conditions without which a predicate is not true. The predicate must not be fallible.
func requirements(n tester) []AnyOf {
	switch n := n.(type) {
	case decided:
		if n.t != True {
			return []AnyOf{{}}
		}
	case *both:
		var all []AnyOf
		for _, term := range n.terms {
			all = append(all, requirements(term)...)
		}
		return all
	case *either:
		return requirementsOfAny(n.terms)
	case *compared:
		if n.op == Equal {
			return requireEqual(n.x, n.y)
		}
	case *member:
		return requireMember(n)
	case *inverse:
		if inner, ok := n.x.(*inverse); ok {
			return requirements(inner.x)
		}
	}
	return nil
}

// requirementsOfAny makes one condition of the shortest conditions of all terms. A term without one leaves none.
func requirementsOfAny(terms []tester) []AnyOf {
	joined := AnyOf{}
	for _, term := range terms {
		conditions := requirements(term)
		if len(conditions) == 0 {
			return nil
		}
		joined = append(joined, shortest(conditions)...)
	}
	if len(joined) > maxAlternatives {
		return nil
	}
	return []AnyOf{joined}
}

func shortest(conditions []AnyOf) AnyOf {
	best := conditions[0]
	for _, c := range conditions[1:] {
		if len(c) < len(best) {
			best = c
		}
	}
	return best
}

// requireEqual finds a property on one side and a constant on the other.
func requireEqual(x, y evaluator) []AnyOf {
	if _, ok := x.(fixedValue); ok {
		x, y = y, x
	}
	p, isProperty := propertyOf(x)
	constant, isFixed := y.(fixedValue)
	if !isProperty || !isFixed {
		return nil
	}
	return []AnyOf{appendEquality(AnyOf{}, p, constant.v)}
}

func requireMember(n *member) []AnyOf {
	p, ok := propertyOf(n.x)
	if !ok {
		return nil
	}
	choices := AnyOf{}
	for _, item := range n.items {
		constant, fixed := item.(fixedValue)
		if !fixed {
			return nil
		}
		choices = appendEquality(choices, p, constant.v)
	}
	return []AnyOf{choices}
}

// appendEquality leaves out a value that nothing equals.
func appendEquality(choices AnyOf, p Property, v Value) AnyOf {
	if _, ok := keyOf(v); !ok {
		return choices
	}
	return append(choices, Equality{Property: p, Value: v})
}

func propertyOf(n evaluator) (Property, bool) {
	switch n := n.(type) {
	case userValue:
		return UserProperty(n.name), true
	case systemValue:
		return BrokerProperty(n.p), true
	}
	return Property{}, false
}
