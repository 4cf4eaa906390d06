package filter

// filter = predicate, and nothing after it.
func (p *parser) filter() predicate {
	n, _ := p.or(wantPredicate).(predicate)
	if !p.is(tokEOF) {
		p.unexpected(tokAnd.String(), tokOr.String(), tokEOF.String())
	}
	return n
}

// or = and { "OR" and }.
func (p *parser) or(w want) node { return p.junction(w, tokOr, p.and) }

// and = not { "AND" not }.
func (p *parser) and(w want) node { return p.junction(w, tokAnd, p.not) }

// junction parses terms with a word between them. With wantEither a single term may be a value; if a word
// follows, it must be a predicate.
func (p *parser) junction(w want, word tokenKind, next func(want) node) node {
	first := next(w)
	if !p.is(word) {
		return first
	}
	term, ok := first.(predicate)
	if !ok {
		p.unexpected(expectTest...)
		return nil
	}
	terms := []predicate{term}
	for p.accept(word) {
		term, _ := next(wantPredicate).(predicate)
		terms = append(terms, term)
	}
	return join(word == tokOr, terms)
}

// not = "NOT" not | test.
func (p *parser) not(w want) node {
	if !p.accept(tokNot) {
		return p.test(w)
	}
	p.enter()
	defer p.leave()
	x, _ := p.not(wantPredicate).(predicate)
	return negation{x}
}

// test parses a value and the test of it. With wantEither the value alone is enough, and a predicate in
// parentheses is already a test.
func (p *parser) test(w want) node {
	if p.accept(tokExists) {
		p.expect(tokOpen)
		x := p.property()
		p.expect(tokClose)
		return existence{x}
	}
	n := p.sum(wantEither)
	x, ok := n.(operand)
	if !ok {
		return n
	}
	if tested := p.testOf(x); tested != nil {
		return tested
	}
	if w != wantEither {
		p.unexpected(expectTest...)
	}
	return x
}

// comparisons maps tokens to operators.
var comparisons = map[tokenKind]Comparison{tokEqual: Equal, tokNotEqual: NotEqual, tokLess: Less,
	tokLessOrEqual: LessOrEqual, tokGreater: Greater, tokGreaterOrEqual: GreaterOrEqual}

// testOf parses the rest of a test after its first value. It returns nil if no test follows.
func (p *parser) testOf(x operand) predicate {
	if op, ok := comparisons[p.token().kind]; ok {
		p.advance()
		return comparison{op: op, x: x, y: p.value()}
	}
	if p.accept(tokIs) {
		not := p.accept(tokNot)
		p.expect(tokNull)
		return nullness{not: not, x: x}
	}
	not := p.accept(tokNot)
	switch {
	case p.accept(tokIn):
		return membership{not: not, x: x, items: p.items()}
	case p.accept(tokLike):
		return p.likeness(not, x)
	case not:
		p.unexpected(tokIn.String(), tokLike.String())
	}
	return nil
}

// items = "(" expr { "," expr } ")".
func (p *parser) items() []operand {
	p.expect(tokOpen)
	items := []operand{p.value()}
	for p.accept(tokComma) {
		items = append(items, p.value())
	}
	p.expect(tokClose)
	return items
}

// likeness = ... "LIKE" expr [ "ESCAPE" expr ].
func (p *parser) likeness(not bool, x operand) predicate {
	n := likeness{not: not, x: x, pattern: p.value()}
	if p.accept(tokEscape) {
		n.escape = p.value()
	}
	return n
}

// action = statement { [ "," ] statement }, where statement = ( "SET" ... | "REMOVE" ... ) [ ";" ]. The service needs
// no separator at all.
func (p *parser) action() []node {
	var statements []node
	for {
		statements = append(statements, p.statement())
		p.accept(tokSemicolon)
		if p.accept(tokComma) {
			continue
		}
		if p.is(tokEOF) {
			return statements
		}
	}
}

// statement = "SET" property "=" expr | "REMOVE" property.
func (p *parser) statement() node {
	switch {
	case p.accept(tokSet):
		target := p.property()
		p.expect(tokEqual)
		return assignment{target: target, value: p.value()}
	case p.accept(tokRemove):
		return removal{target: p.property()}
	}
	p.unexpected(tokSet.String(), tokRemove.String())
	return nil
}
