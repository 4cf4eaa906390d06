package filter

import (
	"strconv"
	"strings"
	"unicode"
)

// nextOfSelector reads a token of a selector that is neither a string nor a quoted name.
func (lx *lexer) nextOfSelector(first rune) token {
	switch {
	case isSelectorStart(first):
		word := lx.takeWhile(isSelectorRune)
		if k, ok := selectorKeywords[strings.ToUpper(word)]; ok {
			return token{kind: k, text: word}
		}
		return token{kind: tokIdentifier, text: word}
	case isDigit(first), first == '.' && isDigit(lx.peekAt(1)):
		return lx.selectorNumber()
	case first == '!', first == ';': // of the rules' language
		lx.advance()
		return token{kind: tokIllegal, detail: "syntax error, unexpected character " + strconv.QuoteRune(first)}
	}
	return lx.punctuation(first)
}

func isSelectorStart(r rune) bool { return unicode.IsLetter(r) || r == '_' || r == '$' }
func isSelectorRune(r rune) bool  { return isSelectorStart(r) || unicode.IsDigit(r) }

// selectorNumber reads an unsigned number as Java writes it: also in hexadecimal, in octal, and with a type behind it.
func (lx *lexer) selectorNumber() token {
	start := lx.offset
	if second := lx.peekAt(1); lx.peek() == '0' && (second == 'x' || second == 'X') {
		lx.advance()
		lx.advance()
		digits := lx.takeWhile(func(r rune) bool { return isDigit(r) || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F' })
		lx.suffix("lL")
		return integerToken(digits, 16)
	}
	t := lx.number()
	text := lx.text[start:lx.offset]
	switch {
	case t.kind == tokIllegal:
		return t
	case t.kind == tokInteger && lx.suffix("fFdD"), t.kind == tokNumber:
		lx.suffix("fFdD")
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return token{kind: tokIllegal, detail: "the number is out of the range of a double"}
		}
		return token{kind: tokNumber, number: f}
	case len(text) > 1 && text[0] == '0':
		t = integerToken(text[1:], 8)
	}
	lx.suffix("lL")
	return t
}

// suffix moves past one of the letters, if it is next, and reports whether it was.
func (lx *lexer) suffix(letters string) bool {
	if r := lx.peek(); r < 0 || !strings.ContainsRune(letters, r) {
		return false
	}
	lx.advance()
	return true
}

func integerToken(digits string, base int) token {
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil {
		return token{kind: tokIllegal, detail: integerRangeDetail}
	}
	return token{kind: tokInteger, magnitude: n}
}

var (
	expectSelectorTest = []string{"COMPARISON", "IS", "NOT", "IN", "LIKE", "BETWEEN"}
	expectText         = tokString.String()
)

// selector = or, and nothing after it.
func (p *parser) selector() predicate {
	n := p.truth(p.selectorOr(wantPredicate))
	if !p.is(tokEOF) {
		p.unexpected(tokAnd.String(), tokOr.String(), tokEOF.String())
	}
	return n
}

// or = and { "OR" and }.
func (p *parser) selectorOr(w want) node { return p.selectorJunction(w, tokOr, p.selectorAnd) }

// and = not { "AND" not }.
func (p *parser) selectorAnd(w want) node { return p.selectorJunction(w, tokAnd, p.selectorNot) }

func (p *parser) selectorJunction(w want, word tokenKind, next func(want) node) node {
	first := next(w)
	if !p.is(word) {
		return first
	}
	terms := []predicate{p.truth(first)}
	for p.accept(word) {
		terms = append(terms, p.truth(next(wantPredicate)))
	}
	return join(word == tokOr, terms)
}

// not = "NOT" not | test.
func (p *parser) selectorNot(w want) node {
	if !p.accept(tokNot) {
		return p.selectorTest()
	}
	p.enter()
	defer p.leave()
	return negation{p.truth(p.selectorNot(wantPredicate))}
}

// truth makes a condition of a node: a name, TRUE or FALSE alone is compared with TRUE.
func (p *parser) truth(n node) predicate {
	switch n := n.(type) {
	case predicate:
		return n
	case property:
		return comparison{op: Equal, x: n, y: literal{Bool(true)}}
	case literal:
		if n.value.kind == KindBool {
			return comparison{op: Equal, x: n, y: literal{Bool(true)}}
		}
	}
	p.unexpected(expectSelectorTest...)
	return nil
}

// selectorTest parses a value and the test of it. Without one the value is returned.
func (p *parser) selectorTest() node {
	n := p.sum(wantEither)
	x, ok := n.(operand)
	if !ok {
		return n
	}
	if op, ok := comparisons[p.token().kind]; ok {
		p.advance()
		y := p.value()
		if op > NotEqual {
			p.wantNumber(x)
			p.wantNumber(y)
		}
		return comparison{op: op, x: asStored(y, x), y: asStored(x, y)}
	}
	if p.accept(tokIs) {
		not := p.accept(tokNot)
		p.expect(tokNull)
		return nullness{not: not, x: x}
	}
	not := p.accept(tokNot)
	switch {
	case p.accept(tokBetween):
		return p.between(not, x)
	case p.accept(tokIn):
		p.wantName(x)
		return membership{not: not, x: x, items: p.texts(x)}
	case p.accept(tokLike):
		p.wantName(x)
		n := likeness{not: not, x: x, pattern: asStored(x, p.text())}
		if p.accept(tokEscape) {
			n.escape = p.escape()
		}
		return n
	case not:
		p.unexpected(tokBetween.String(), tokIn.String(), tokLike.String())
	}
	return x
}

// between = ... "BETWEEN" value "AND" value.
func (p *parser) between(not bool, x operand) predicate {
	p.wantNumber(x)
	low := p.value()
	p.wantNumber(low)
	p.expect(tokAnd)
	high := p.value()
	p.wantNumber(high)
	var n predicate = junction{terms: []predicate{
		comparison{op: GreaterOrEqual, x: x, y: low}, comparison{op: LessOrEqual, x: x, y: high},
	}}
	if not {
		n = negation{n}
	}
	return n
}

// texts = "(" text { "," text } ")".
func (p *parser) texts(x operand) []operand {
	p.expect(tokOpen)
	items := []operand{asStored(x, p.text())}
	for p.accept(tokComma) {
		items = append(items, asStored(x, p.text()))
	}
	p.expect(tokClose)
	return items
}

// text parses a string.
func (p *parser) text() operand {
	t := p.token()
	if t.kind != tokString {
		p.unexpected(expectText)
		return nil
	}
	p.advance()
	return literal{String(t.text)}
}

// escape parses the one character that an ESCAPE clause must give.
func (p *parser) escape() operand {
	if t := p.token(); t.kind == tokString {
		if _, err := escapeOf(String(t.text)); err != nil {
			p.fail("the escape must be a string of one character")
			return nil
		}
	}
	return p.text()
}

// wantName refuses anything but a name, in front of the token before.
func (p *parser) wantName(x operand) {
	if _, ok := x.(property); !ok {
		p.fail("a property must stand before IN and LIKE")
	}
}

// wantNumber refuses, in a selector, a constant that is no number.
func (p *parser) wantNumber(x operand) {
	if l, ok := x.(literal); ok && p.dialect == selectors && !isNumber(l.value.kind) {
		p.fail("a value of type '" + l.value.kind.String() + "' stands where a number is needed")
	}
}
