package filter

import "unicode/utf8"

// decided is a predicate that does not depend on the message, such as 1=1.
type decided struct{ t Tri }

func (n decided) test(Message) (Tri, error) { return n.t, nil }

// both is AND. It stops at the first false term, so later terms raise no errors.
type both struct{ terms []tester }

func (n *both) test(m Message) (Tri, error) {
	result := True
	for _, term := range n.terms {
		t, err := term.test(m)
		if err != nil {
			return Unknown, err
		}
		if t == False {
			return False, nil
		}
		result = result.and(t)
	}
	return result, nil
}

// either is OR. It stops at the first true term.
type either struct{ terms []tester }

func (n *either) test(m Message) (Tri, error) {
	result := False
	for _, term := range n.terms {
		t, err := term.test(m)
		if err != nil {
			return Unknown, err
		}
		if t == True {
			return True, nil
		}
		result = result.or(t)
	}
	return result, nil
}

// inverse is NOT.
type inverse struct{ x tester }

func (n *inverse) test(m Message) (Tri, error) {
	t, err := n.x.test(m)
	return t.not(), err
}

// compared is a comparison.
type compared struct {
	op       Comparison
	selector bool
	x, y     evaluator
}

func (n *compared) test(m Message) (Tri, error) {
	x, err := n.x.value(m)
	if err != nil {
		return Unknown, err
	}
	y, err := n.y.value(m)
	if err != nil {
		return Unknown, err
	}
	if n.selector {
		return compareInSelector(n.op, x, y), nil
	}
	return Compare(n.op, x, y), nil
}

// member is IN: an equality with each item, joined with OR. An unknown value on the left makes it unknown at once.
type member struct {
	x        evaluator
	selector bool
	items    []evaluator
}

func (n *member) test(m Message) (Tri, error) {
	x, err := n.x.value(m)
	if err != nil || x.IsUnknown() {
		return Unknown, err
	}
	result := False
	for _, item := range n.items {
		v, err := item.value(m)
		if err != nil {
			return Unknown, err
		}
		same := Compare(Equal, x, v)
		if n.selector {
			same = compareInSelector(Equal, x, v)
		}
		if result = result.or(same); result == True {
			return True, nil
		}
	}
	return result, nil
}

// likeFixed is LIKE with a constant pattern, the usual case.
type likeFixed struct {
	x        evaluator
	selector bool
	pattern  *pattern
}

func (n *likeFixed) test(m Message) (Tri, error) {
	x, err := n.x.value(m)
	switch {
	case err == nil && n.selector && !x.IsUnknown() && x.kind != KindString:
		return False, nil
	case err != nil || x.kind != KindString:
		return Unknown, err
	}
	return triOf(n.pattern.match(x.str)), nil
}

// likeAny is LIKE with a pattern or an escape character from the message, or with an invalid escape.
type likeAny struct {
	x, pattern, escape evaluator // escape is nil without the clause
}

func (n *likeAny) test(m Message) (Tri, error) {
	x, err := n.x.value(m)
	if err != nil {
		return Unknown, err
	}
	text, err := n.pattern.value(m)
	if err != nil {
		return Unknown, err
	}
	escape := rune(0)
	if n.escape != nil {
		v, err := n.escape.value(m)
		if err != nil || v.IsUnknown() {
			return Unknown, err
		}
		if x.IsUnknown() || text.IsUnknown() {
			return Unknown, nil
		}
		if escape, err = escapeOf(v); err != nil {
			return Unknown, err
		}
	}
	if x.kind != KindString || text.kind != KindString {
		return Unknown, nil
	}
	return triOf(compilePattern(text.str, escape, n.escape != nil).match(x.str)), nil
}

// escapeOf returns the one character that an ESCAPE clause must give.
func escapeOf(v Value) (rune, error) {
	r, size := utf8.DecodeRuneInString(v.str)
	if v.kind != KindString || size == 0 || size != len(v.str) {
		return 0, evalErrorf("The ESCAPE of a LIKE must be a string of one character.")
	}
	return r, nil
}

// absent is IS NULL. It is never unknown.
type absent struct{ x evaluator }

func (n *absent) test(m Message) (Tri, error) {
	x, err := n.x.value(m)
	if err != nil {
		return Unknown, err
	}
	return triOf(x.IsUnknown()), nil
}

// userExists is EXISTS of an application property, which may be null.
type userExists struct{ name string }

func (n userExists) test(m Message) (Tri, error) {
	_, ok := m.User(n.name)
	return triOf(ok), nil
}

// systemExists is EXISTS of a property of the broker, which must have a value.
type systemExists struct{ p SystemProperty }

func (n systemExists) test(m Message) (Tri, error) { return triOf(!m.System(n.p).IsUnknown()), nil }
