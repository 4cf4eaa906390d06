package filter

// scopedProperty names a property in its scope. A user property has the rule's spelling, which
// decides between two properties that differ only by case.
type scopedProperty struct {
	User   string         // the name of a user property, if IsUser
	System SystemProperty // otherwise
	IsUser bool
	Exact  bool // only in the case of the name
}

// userProperty names an application property.
func userProperty(name string) scopedProperty { return scopedProperty{User: name, IsUser: true} }

// brokerProperty names a property of the broker.
func brokerProperty(p SystemProperty) scopedProperty { return scopedProperty{System: p} }

// of reads the property.
func (p scopedProperty) of(m Message) Value {
	if !p.IsUser {
		return systemOf(m, p.System)
	}
	if p.Exact {
		v, _ := m.Exact(p.User)
		return v
	}
	v, _ := m.User(p.User)
	return v
}

// equality is the condition that a property has a value.
type equality struct {
	Property scopedProperty
	Value    Value
}

// anyOf is a necessary condition of a matcher: at least one of the equalities holds whenever the matcher
// selects a message. Without any equality it never holds. If it does not hold, evaluating the matcher would give False
// or Unknown and no error.
type anyOf []equality

// maxAlternatives is the largest number of equalities in a condition; a longer one is not worth its cost.
const maxAlternatives = 512

// Matcher decides whether a message is selected: a [*Filter], a [*Correlation] or a [*Selector].
type Matcher interface {
	Eval(m Message) (Tri, error)
	Explain(m Message) Explanation // what Eval says, and why
	needs() []anyOf
}

// requirements returns conditions that hold whenever a predicate is true. The predicate must not be fallible.
func requirements(n tester) []anyOf {
	switch n := n.(type) {
	case decided:
		if n.t != True {
			return []anyOf{{}}
		}
	case *both:
		var all []anyOf
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

// requirementsOfAny combines the shortest conditions of all terms. If a term has none, the result has none.
func requirementsOfAny(terms []tester) []anyOf {
	joined := anyOf{}
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
	return []anyOf{joined}
}

func shortest(conditions []anyOf) anyOf {
	best := conditions[0]
	for _, c := range conditions[1:] {
		if len(c) < len(best) {
			best = c
		}
	}
	return best
}

// requireEqual makes a condition if one side is a property and the other a constant.
func requireEqual(x, y evaluator) []anyOf {
	if _, ok := x.(fixedValue); ok {
		x, y = y, x
	}
	p, isProperty := propertyOf(x)
	constant, isFixed := y.(fixedValue)
	if !isProperty || !isFixed {
		return nil
	}
	return []anyOf{appendEquality(anyOf{}, p, constant.v)}
}

func requireMember(n *member) []anyOf {
	p, ok := propertyOf(n.x)
	if !ok {
		return nil
	}
	choices := anyOf{}
	for _, item := range n.items {
		constant, fixed := item.(fixedValue)
		if !fixed {
			return nil
		}
		choices = appendEquality(choices, p, constant.v)
	}
	return []anyOf{choices}
}

// appendEquality appends an equality, unless no value equals v.
func appendEquality(choices anyOf, p scopedProperty, v Value) anyOf {
	if _, ok := keyOf(v); !ok {
		return choices
	}
	return append(choices, equality{Property: p, Value: v})
}

func propertyOf(n evaluator) (scopedProperty, bool) {
	switch n := n.(type) {
	case userValue:
		return userProperty(n.name), true
	case exactValue:
		return scopedProperty{User: n.name, IsUser: true, Exact: true}, true
	case systemValue:
		return brokerProperty(n.p), true
	}
	return scopedProperty{}, false
}
