package filter

// The syntax tree holds the text as written, without parentheses. A node is either a value or a predicate, and the
// grammar never accepts one for the other: (a) = 1 is a comparison, (a = 1) = TRUE is an error.

// node is any node of the tree.
type node interface {
	// write appends the node's text in its canonical form.
	write(w *writer)
}

// operand is a node that has a value.
type operand interface {
	node
	operand()
}

// predicate is a node that has a truth value.
type predicate interface {
	node
	predicate()
}

type (
	// literal is a constant.
	literal struct{ value Value }

	// parameter is @name with the value that came with the rule.
	parameter struct {
		name  string
		value Value
	}

	// property is a user property, or a system property if sys is set. The name is kept as it was written. In a
	// selector it is a name in exactly that case, of a user property or of a header.
	property struct {
		sys   bool
		exact bool
		name  string
	}

	// newidCall is newid().
	newidCall struct{}

	// propertyCall is property(e) or p(e).
	propertyCall struct{ name operand }

	// signed is a value with a sign in front.
	signed struct {
		minus bool
		x     operand
	}

	// arithmetic is a binary operator between two values.
	arithmetic struct {
		op   arithOp
		x, y operand
	}
)

func (literal) operand()      {}
func (parameter) operand()    {}
func (property) operand()     {}
func (newidCall) operand()    {}
func (propertyCall) operand() {}
func (signed) operand()       {}
func (arithmetic) operand()   {}

type (
	// comparison compares two values.
	comparison struct {
		op   Comparison
		x, y operand
	}

	// membership is x [NOT] IN (items).
	membership struct {
		not   bool
		x     operand
		items []operand
	}

	// likeness is x [NOT] LIKE pattern [ESCAPE escape]; escape is nil without the clause.
	likeness struct {
		not                bool
		x, pattern, escape operand
	}

	// nullness is x IS [NOT] NULL.
	nullness struct {
		not bool
		x   operand
	}

	// existence is EXISTS(property).
	existence struct{ x property }

	// negation is NOT x.
	negation struct{ x predicate }

	// junction joins two or more terms with AND or OR. A term is never a junction of the same word, since joining is
	// associative, in three-valued logic too.
	junction struct {
		or    bool
		terms []predicate
	}
)

func (comparison) predicate() {}
func (membership) predicate() {}
func (likeness) predicate()   {}
func (nullness) predicate()   {}
func (existence) predicate()  {}
func (negation) predicate()   {}
func (junction) predicate()   {}

// join makes a junction, and flattens inner junctions of the same word into it.
func join(or bool, terms []predicate) predicate {
	flat := make([]predicate, 0, len(terms))
	for _, term := range terms {
		if inner, ok := term.(junction); ok && inner.or == or {
			flat = append(flat, inner.terms...)
			continue
		}
		flat = append(flat, term)
	}
	return junction{or: or, terms: flat}
}

// assignment is SET target = value.
type assignment struct {
	target property
	value  operand
}

// removal is REMOVE target.
type removal struct{ target property }
