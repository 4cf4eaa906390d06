package filter

import "math"

// The tokens that syntax errors name as expected.
var (
	expectValue     = []string{"IDENTIFIER", "CONSTANT", "PARAMETER", "'('"}
	expectPredicate = []string{"NOT", "EXISTS", "IDENTIFIER", "CONSTANT", "PARAMETER", "'('"}
	expectTest      = []string{"COMPARISON", "IS", "NOT", "IN", "LIKE"}
)

// want says what a place in the grammar accepts: a value, a predicate or either. Only a parenthesis at the start of a
// test may contain either; one pass parses both and then checks the result.
type want uint8

const (
	wantValue want = iota
	wantPredicate
	wantEither
)

var (
	sumOps     = map[tokenKind]arithOp{tokPlus: opAdd, tokMinus: opSub}
	productOps = map[tokenKind]arithOp{tokStar: opMul, tokSlash: opDiv, tokPercent: opMod}
)

// sum = product { ("+" | "-") product }. With wantEither it may return a predicate in parentheses.
func (p *parser) sum(w want) node {
	return p.binary(w, p.product, sumOps)
}

// product = factor { ("*" | "/" | "%") factor }.
func (p *parser) product(w want) node {
	return p.binary(w, p.factor, productOps)
}

// binary parses left-associative operators of one precedence. Their operands must not be predicates.
func (p *parser) binary(w want, next func(want) node, ops map[tokenKind]arithOp) node {
	first := next(w)
	left, ok := first.(operand)
	if !ok {
		return first
	}
	for {
		op, more := ops[p.token().kind]
		if !more {
			return left
		}
		p.advance()
		p.wantNumber(left)
		right, _ := next(wantValue).(operand)
		p.wantNumber(right)
		left = arithmetic{op: op, x: left, y: right}
	}
}

// value parses a value and nothing else.
func (p *parser) value() operand {
	n, _ := p.sum(wantValue).(operand)
	return n
}

// factor = ("+" | "-") factor | primary.
func (p *parser) factor(w want) node {
	minus := p.is(tokMinus)
	if !minus && !p.is(tokPlus) {
		return p.primary(w)
	}
	p.advance()
	if t := p.token(); minus && t.kind == tokInteger && t.magnitude == 1<<63 {
		p.advance() // the smallest long; without the sign its digits are out of range
		return literal{Int64(math.MinInt64)}
	}
	p.enter()
	defer p.leave()
	x, _ := p.factor(wantValue).(operand)
	p.wantNumber(x)
	return signed{minus: minus, x: x}
}

// primary = constant | parameter | function | property | "(" ... ")".
func (p *parser) primary(w want) node {
	switch t := p.token(); t.kind {
	case tokOpen:
		return p.parenthesis(w)
	case tokIdentifier, tokDelimited:
		if p.dialect == selectors {
			return property{exact: true, name: p.identifier()}
		}
		return p.nameOrCall()
	case tokParameter:
		return p.parameter()
	case tokInteger, tokNumber, tokString, tokTrue, tokFalse, tokNull:
		return p.constant()
	}
	if w == wantValue {
		p.unexpected(expectValue...)
	} else {
		p.unexpected(expectPredicate...)
	}
	return nil
}

// parenthesis parses a value or, with wantEither, a predicate between parentheses.
func (p *parser) parenthesis(w want) node {
	p.enter()
	defer p.leave()
	p.expect(tokOpen)
	var inner node
	switch {
	case w == wantValue:
		inner = p.value()
	case p.dialect == selectors:
		inner = p.selectorOr(wantEither)
	default:
		inner = p.or(wantEither)
	}
	p.expect(tokClose)
	return inner
}

func (p *parser) constant() node {
	t := p.token()
	if t.kind == tokInteger && t.magnitude > math.MaxInt64 {
		p.fail(integerRangeDetail)
		return nil
	}
	if t.kind == tokNull && p.dialect == selectors {
		p.unexpected(expectValue[:2]...)
		return nil
	}
	p.advance()
	switch t.kind {
	case tokInteger:
		return literal{Int64(int64(t.magnitude))}
	case tokNumber:
		return literal{Float64(t.number)}
	case tokString:
		return literal{String(t.text)}
	case tokNull:
		return literal{Null()}
	default:
		return literal{Bool(t.kind == tokTrue)}
	}
}

func (p *parser) parameter() node {
	name := p.token().text
	v, ok := p.lookupParameter(name)
	if !ok {
		p.fail("the parameter @" + name + " has no value")
		return nil
	}
	p.advance()
	return parameter{name: name, value: v}
}

// nameOrCall parses a function, which is a name followed by a parenthesis, or else a property.
func (p *parser) nameOrCall() node {
	t := p.token()
	if p.after() != tokOpen {
		return p.property()
	}
	switch {
	case t.is("newid"):
		p.advance()
		p.expect(tokOpen)
		p.expect(tokClose)
		return newidCall{}
	case t.is("property"), t.is("p"):
		p.enter()
		defer p.leave()
		p.advance()
		p.expect(tokOpen)
		name := p.value()
		p.expect(tokClose)
		return propertyCall{name: name}
	}
	return p.property()
}

// property = [ ("sys" | "user") "." ] identifier. Without a point, sys and user are ordinary names.
func (p *parser) property() property {
	t := p.token()
	sys := t.is("sys")
	if p.after() == tokDot && (sys || t.is("user")) {
		p.advance()
		p.advance()
		return property{sys: sys, name: p.identifier()}
	}
	return property{name: p.identifier()}
}

func (p *parser) identifier() string {
	t := p.token()
	if t.kind != tokIdentifier && t.kind != tokDelimited {
		p.unexpected(tokIdentifier.String())
		return ""
	}
	p.advance()
	return t.text
}
