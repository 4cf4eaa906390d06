package filter

// compiler turns a syntax tree into nodes that evaluate. It computes what does not depend on the message, unless that
// fails: the error then comes at evaluation, since making such a rule is allowed.
type compiler struct {
	// fallible is set when the result can raise an error on some message. An index must not skip such a rule because
	// one of its conditions does not hold, since another one might have failed first.
	fallible bool

	// selector is set for selectors of JMS: operands whose types do not fit make a test false instead of unknown, and
	// nothing raises an error.
	selector bool
}

// operand compiles a value.
func (c *compiler) operand(n operand) evaluator {
	switch n := n.(type) {
	case literal:
		return fixedValue{n.value}
	case parameter:
		return fixedValue{n.value}
	case property:
		return c.reference(n)
	case newidCall:
		return freshGUID{}
	case propertyCall:
		return c.propertyCall(n)
	case signed:
		x := c.operand(n.x)
		return c.foldValue(c.selectorArithmetic(&signedValue{minus: n.minus, x: x}), x)
	case arithmetic:
		x, y := c.operand(n.x), c.operand(n.y)
		return c.foldValue(c.selectorArithmetic(&calculation{op: n.op, x: x, y: y}), x, y)
	}
	panic("filter: value node without a compiler")
}

func (c *compiler) reference(n property) evaluator {
	if n.exact {
		return selectorName(n.name)
	}
	if !n.sys {
		return userValue{n.name}
	}
	p, ok := lookupSystem(n.name)
	if !ok {
		return c.failure(errNoSystemProperty(n.name))
	}
	return systemValue{p}
}

func (c *compiler) failure(err error) failure {
	c.fallible = true
	return failure{err}
}

func (c *compiler) propertyCall(n propertyCall) evaluator {
	name := c.operand(n.name)
	if fixed, ok := name.(fixedValue); ok && fixed.v.kind == KindString {
		reference := compileReference(fixed.v.str)
		if _, fails := reference.(failure); fails {
			c.fallible = true
		}
		return reference
	}
	c.fallible = true
	return namedValue{name}
}

// foldValue replaces a node by its value if the operands are constants and it does not fail.
func (c *compiler) foldValue(n evaluator, operands ...evaluator) evaluator {
	if allFixed(operands) {
		if v, err := n.value(nil); err == nil {
			return fixedValue{v}
		}
	}
	c.fallible = true
	return n
}

// foldTest does the same for a predicate.
func (c *compiler) foldTest(n tester, operands ...evaluator) tester {
	if allFixed(operands) {
		if t, err := n.test(nil); err == nil {
			return decided{t}
		}
	}
	return n
}

func allFixed(nodes []evaluator) bool {
	for _, n := range nodes {
		if _, ok := n.(fixedValue); !ok {
			return false
		}
	}
	return true
}

// predicate compiles a predicate.
func (c *compiler) predicate(n predicate) tester {
	switch n := n.(type) {
	case comparison:
		x, y := c.operand(n.x), c.operand(n.y)
		return c.foldTest(&compared{op: n.op, selector: c.selector, x: x, y: y}, x, y)
	case membership:
		return invert(n.not, c.membership(n))
	case likeness:
		return invert(n.not, c.likeness(n))
	case nullness:
		x := c.operand(n.x)
		return invert(n.not, c.foldTest(&absent{x}, x))
	case existence:
		return c.existence(n)
	case negation:
		return invert(true, c.predicate(n.x))
	case junction:
		return c.junction(n)
	}
	panic("filter: predicate node without a compiler")
}

func invert(not bool, x tester) tester {
	if !not {
		return x
	}
	if fixed, ok := x.(decided); ok {
		return decided{fixed.t.not()}
	}
	return &inverse{x}
}

func (c *compiler) membership(n membership) tester {
	x := c.operand(n.x)
	all := []evaluator{x}
	for _, item := range n.items {
		all = append(all, c.operand(item))
	}
	return c.foldTest(&member{x: x, selector: c.selector, items: all[1:]}, all...)
}

// likeness compiles LIKE, and its pattern too if the pattern is constant and the escape character valid.
func (c *compiler) likeness(n likeness) tester {
	dynamic := &likeAny{x: c.operand(n.x), pattern: c.operand(n.pattern)}
	operands := []evaluator{dynamic.x, dynamic.pattern}
	text, fixed := dynamic.pattern.(fixedValue)
	fixed = fixed && text.v.kind == KindString
	var escape rune
	if n.escape != nil {
		dynamic.escape = c.operand(n.escape)
		operands = append(operands, dynamic.escape)
		v, known := dynamic.escape.(fixedValue)
		var err error
		if escape, err = escapeOf(v.v); err != nil || !known {
			fixed = false
			c.fallible = true
		}
	}
	if fixed {
		return c.foldTest(&likeFixed{x: dynamic.x, selector: c.selector,
			pattern: compilePattern(text.v.str, escape, n.escape != nil)}, dynamic.x)
	}
	return c.foldTest(dynamic, operands...)
}

func (c *compiler) existence(n existence) tester {
	if !n.x.sys {
		return userExists{n.x.name}
	}
	p, ok := lookupSystem(n.x.name)
	if !ok {
		return c.failure(errNoSystemProperty(n.x.name))
	}
	return systemExists{p}
}

func (c *compiler) junction(n junction) tester {
	terms := make([]tester, len(n.terms))
	for i, term := range n.terms {
		terms[i] = c.predicate(term)
	}
	if n.or {
		return &either{terms}
	}
	return &both{terms}
}
