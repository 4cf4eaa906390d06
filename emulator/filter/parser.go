package filter

import (
	"strings"
	"unicode/utf8"
)

// maxNesting bounds how deep parentheses, NOTs, signs and calls may be nested, and with it the stack of the parser
// and of every later walk over the tree.
const maxNesting = 100

// parser turns tokens into a syntax tree, by recursive descent without backtracking. It keeps the first error and
// jumps to the end of the text, where every loop stops by itself. Nodes made after that may be
// incomplete; the caller must not use the tree.
type parser struct {
	tokens  []token
	at      int
	nesting int
	params  map[string]Value
	dialect dialect
	err     *syntaxError
}

// newParser checks the text as a whole and cuts it into tokens.
func newParser(text string, d dialect, params map[string]Value) (*parser, error) {
	if !utf8.ValidString(text) {
		return nil, &syntaxError{Line: 1, Detail: "the text is not valid Unicode"}
	}
	if TextLength(text) > maxTextLength {
		return nil, errTooLong
	}
	return &parser{tokens: lex(text, d), dialect: d, params: params}, nil
}

// token returns the current token.
func (p *parser) token() token { return p.tokens[p.at] }

// after returns the kind of the token after the current one.
func (p *parser) after() tokenKind { return p.tokens[min(p.at+1, len(p.tokens)-1)].kind }

// is reports whether the current token is of the kind.
func (p *parser) is(kind tokenKind) bool { return p.tokens[p.at].kind == kind }

// advance moves to the next token; at the end of the text it stays.
func (p *parser) advance() { p.at = min(p.at+1, len(p.tokens)-1) }

// accept moves past a token of the kind if there is one.
func (p *parser) accept(kind tokenKind) bool {
	if !p.is(kind) {
		return false
	}
	p.advance()
	return true
}

// expect moves past a token of the kind, which must be there.
func (p *parser) expect(kind tokenKind) {
	if !p.accept(kind) {
		p.unexpected(kind.String())
	}
}

// unexpected refuses the current token.
func (p *parser) unexpected(expected ...string) {
	t := p.token()
	if t.kind == tokIllegal {
		p.fail(t.detail)
		return
	}
	p.fail(unexpected(t.kind, expected...))
}

// fail refuses the text at the current token and stops the parser.
func (p *parser) fail(detail string) {
	if p.err == nil {
		t := p.token()
		p.err = &syntaxError{Line: t.line, Column: t.column, Token: t.raw, Detail: detail}
	}
	p.at = len(p.tokens) - 1
}

// enter goes one level deeper. Every enter needs a leave, also after an error.
func (p *parser) enter() {
	if p.nesting++; p.nesting > maxNesting {
		p.fail("the expression is nested too deeply")
	}
}

func (p *parser) leave() { p.nesting-- }

// finish returns the error, if there was one.
func (p *parser) finish() error {
	if p.err == nil {
		return nil
	}
	return p.err
}

// lookupParameter finds the value of a parameter. Keys may have the @ or not and differ by case; the exact spelling
// wins, and otherwise the smallest key, so that the result does not depend on the order of a map.
func (p *parser) lookupParameter(name string) (Value, bool) {
	if v, ok := p.params["@"+name]; ok {
		return v, true
	}
	if v, ok := p.params[name]; ok {
		return v, true
	}
	found, ok := "", false
	for key := range p.params {
		if strings.EqualFold(strings.TrimPrefix(key, "@"), name) && (!ok || key < found) {
			found, ok = key, true
		}
	}
	return p.params[found], ok
}
