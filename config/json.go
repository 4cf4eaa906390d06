package config

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// maxDepth bounds the nesting of the file; a valid file has at most 12 levels.
const maxDepth = 64

// syntaxError is an error in the syntax of the file, with its place.
type syntaxError struct {
	pos  position
	path string
	text string // what was found and what was expected
	cure string // empty: correct the JSON
}

func (e *syntaxError) Error() string { return e.text }

// parser reads JSON with comments (// and /* */) and trailing commas, which Microsoft's own files have. A method that meets an error
// panics with a syntaxError, which parseJSON recovers.
type parser struct {
	src    string
	off    int
	line   int
	column int
	depth  int
}

// readJSON reads a document in any of the encodings that [decodeText] takes.
func readJSON(data []byte) (*node, error) {
	text, err := decodeText(data)
	if err != nil {
		return nil, err
	}
	return parseJSON(text)
}

// parseJSON parses the whole text.
func parseJSON(src string) (root *node, err error) {
	p := &parser{src: src, line: 1, column: 1}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *syntaxError:
			root, err = nil, e
		default:
			panic(e)
		}
	}()
	if p.space("$"); p.off == len(p.src) {
		p.fail("$", "the file is empty, a JSON object belongs here")
	}
	root = p.value("$")
	if p.space("$"); p.off < len(p.src) {
		p.fail("$", "found %s behind the end of the document", p.here())
	}
	return root, nil
}

func (p *parser) fail(path, format string, args ...any) { p.failAt(p.pos(), path, format, args...) }

func (p *parser) failAt(at position, path, format string, args ...any) {
	panic(&syntaxError{pos: at, path: path, text: fmt.Sprintf(format, args...)})
}

func (p *parser) pos() position { return position{p.line, p.column} }

// here names the next character for a message.
func (p *parser) here() string {
	if p.off >= len(p.src) {
		return "the end of the file"
	}
	r, _ := utf8.DecodeRuneInString(p.src[p.off:])
	if r == '\n' || r == '\r' {
		return "the end of the line"
	}
	return strconv.QuoteRune(r)
}

func (p *parser) peek() byte {
	if p.off < len(p.src) {
		return p.src[p.off]
	}
	return 0
}

// next consumes one character and keeps the position. CRLF and LF end a line; so does a CR alone.
func (p *parser) next() rune {
	r, size := utf8.DecodeRuneInString(p.src[p.off:])
	p.off += size
	if r == '\n' || r == '\r' && p.peek() != '\n' {
		p.line++
		p.column = 1
	} else {
		p.column++
	}
	return r
}

// space skips white space and comments.
func (p *parser) space(path string) {
	for p.off < len(p.src) {
		switch c := p.src[p.off]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			p.next()
		case c == '/':
			p.comment(path)
		case c == 0xEF && len(p.src) >= p.off+3 && p.src[p.off:p.off+3] == "\uFEFF":
			p.next() // files that were pasted together have a mark in the middle
		default:
			return
		}
	}
}

func (p *parser) comment(path string) {
	start := p.pos()
	p.next()
	switch p.peek() {
	case '/':
		for p.off < len(p.src) && p.peek() != '\n' && p.peek() != '\r' {
			p.next()
		}
	case '*':
		p.next()
		for p.off < len(p.src) {
			if p.next() == '*' && p.peek() == '/' {
				p.next()
				return
			}
		}
		p.failAt(start, path, "found a comment that never ends, */ belongs behind it")
	default:
		p.failAt(start, path, "found '/', a comment starts with // or /*")
	}
}

func (p *parser) value(path string) *node {
	n := &node{pos: p.pos(), path: path}
	switch c := p.peek(); {
	case p.off >= len(p.src):
		p.fail(path, "found the end of the file, a value belongs here")
	case c == '{':
		p.nested(n, p.object)
	case c == '[':
		p.nested(n, p.array)
	case c == '"':
		n.kind, n.text = kindString, p.str(path)
	case c == '-' || c >= '0' && c <= '9':
		p.number(n)
	case isAlnum(c):
		p.word(n)
	default:
		p.fail(path, "found %s, a value belongs here", p.here())
	}
	return n
}

func (p *parser) nested(n *node, body func(*node)) {
	if p.depth++; p.depth > maxDepth {
		p.fail(n.path, "found more than %d levels of nesting", maxDepth)
	}
	p.next()
	body(n)
	p.depth--
}
