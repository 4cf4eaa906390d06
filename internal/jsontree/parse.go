package jsontree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds the nesting: a Config.json has at most 12 levels, a template with modules in modules some 50.
const maxDepth = 64

// SyntaxError is an error in the syntax of the file, with its place.
type SyntaxError struct {
	Pos  Position
	Path string
	Text string // what was found and what was expected
	Fix  string // empty: correct the JSON
}

// Error returns what was found.
func (e *SyntaxError) Error() string { return e.Text }

// parser reads JSON with comments (// and /* */) and trailing commas, which Microsoft's own files have. A method that
// meets an error panics with a syntaxError, which parseJSON recovers.
type parser struct {
	src    string
	off    int
	line   int
	column int
	depth  int
	nodes  int  // that may still come
	bare   bool // keys may lack their quotation marks
}

// Read reads a document in any of the encodings that [decodeText] takes.
func Read(data []byte) (*Node, error) {
	text, err := DecodeText(data)
	if err != nil {
		return nil, err
	}
	return Parse(text)
}

// Parse parses the whole text.
func Parse(src string) (root *Node, err error) { return ParseUpTo(src, math.MaxInt) }

// ParseUpTo is [Parse] of a text that may have so many values.
func ParseUpTo(src string, most int) (root *Node, err error) { return parse(src, most, false) }

// ParseBare is [ParseUpTo] of a text whose keys may lack their quotation marks, as Resource Manager takes it: az sends
// the key of a template so.
func ParseBare(src string, most int) (root *Node, err error) { return parse(src, most, true) }

func parse(src string, most int, bare bool) (root *Node, err error) {
	p := &parser{src: src, line: 1, column: 1, nodes: most, bare: bare}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *SyntaxError:
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

func (p *parser) failAt(at Position, path, format string, args ...any) {
	panic(&SyntaxError{Pos: at, Path: path, Text: fmt.Sprintf(format, args...)})
}

func (p *parser) pos() Position { return Position{p.line, p.column} }

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

func (p *parser) value(path string) *Node {
	if p.nodes--; p.nodes < 0 {
		p.fail(path, "found too many values")
	}
	n := &Node{Pos: p.pos(), Path: path}
	switch c := p.peek(); {
	case p.off >= len(p.src):
		p.fail(path, "found the end of the file, a value belongs here")
	case c == '{':
		p.nested(n, p.object)
	case c == '[':
		p.nested(n, p.array)
	case c == '"':
		n.Kind, n.Text = String, p.str(path)
	case c == '-' || c >= '0' && c <= '9':
		p.number(n)
	case isAlnum(c):
		p.word(n)
	default:
		p.fail(path, "found %s, a value belongs here", p.here())
	}
	return n
}

func (p *parser) nested(n *Node, body func(*Node)) {
	if p.depth++; p.depth > maxDepth {
		p.fail(n.Path, "found more than %d levels of nesting", maxDepth)
	}
	p.next()
	body(n)
	p.depth--
}

// object reads members up to the closing brace. The caller has consumed the opening one.
func (p *parser) object(n *Node) {
	n.Kind = Object
	for done := false; !done; done = p.separator(n.Path, '}') {
		if p.space(n.Path); p.peek() == '}' {
			p.next()
			return
		}
		if p.peek() != '"' && !(p.bare && isAlnum(p.peek())) {
			p.fail(n.Path, "found %s, a key in double quotes or } belongs here", p.here())
		}
		n.Members = append(n.Members, p.member(n))
	}
}

func (p *parser) member(n *Node) Member {
	m := Member{Pos: p.pos()}
	if p.peek() == '"' {
		m.Key = p.str(n.Path)
	} else {
		from := p.off
		for isAlnum(p.peek()) || p.peek() == '_' {
			p.next()
		}
		m.Key = p.src[from:p.off]
	}
	path := ChildPath(n.Path, m.Key)
	if p.space(path); p.peek() != ':' {
		p.fail(path, "found %s, a colon belongs behind the key %q", p.here(), clip(m.Key))
	}
	p.next()
	p.space(path)
	m.Value = p.value(path)
	return m
}

// array reads values up to the closing bracket. The caller has consumed the opening one.
func (p *parser) array(n *Node) {
	n.Kind = Array
	for done := false; !done; done = p.separator(n.Path, ']') {
		if p.space(n.Path); p.peek() == ']' {
			p.next()
			return
		}
		n.Items = append(n.Items, p.value(IndexPath(n.Path, len(n.Items))))
	}
}

// separator reads a comma, or the end of the container, which it reports.
func (p *parser) separator(path string, end byte) (done bool) {
	p.space(path)
	c := p.peek()
	if c != ',' && c != end {
		p.fail(path, "found %s, a comma or %q belongs here", p.here(), string(rune(end)))
	}
	p.next()
	return c == end
}

// str reads a string in double quotes.
func (p *parser) str(path string) string {
	start := p.pos()
	p.next()
	var b strings.Builder
	for {
		if p.off >= len(p.src) || p.peek() == '\n' || p.peek() == '\r' {
			p.failAt(start, path, `found a string that never ends, " belongs behind it`)
		}
		switch p.peek() {
		case '"':
			p.next()
			return b.String()
		case '\\':
			b.WriteString(p.escapes(path))
		default:
			b.WriteRune(p.next())
		}
	}
}

// escapes reads all escapes up to the next plain character: two may be the halves of one character.
func (p *parser) escapes(path string) (text string) {
	from := p.off
	for p.peek() == '\\' {
		p.next()
		at := p.pos()
		if p.off >= len(p.src) {
			p.failAt(at, path, `found a string that never ends, " belongs behind it`)
		}
		switch c := p.next(); {
		case c == 'u' && !p.hex4():
			p.failAt(at, path, `found a broken \u escape, four hexadecimal digits belong behind it`)
		case !strings.ContainsRune(`"\/bfnrtu`, c):
			p.failAt(at, path,
				`found an unknown escape, a backslash before %q (a backslash itself is written \\)`, c)
		}
	}
	if err := json.Unmarshal([]byte(`"`+p.src[from:p.off]+`"`), &text); err != nil {
		panic("jsontree: escapes that were checked: " + err.Error())
	}
	return text
}

// hex4 consumes four hexadecimal digits, if they are there.
func (p *parser) hex4() bool {
	if p.off+4 > len(p.src) {
		return false
	}
	_, err := strconv.ParseUint(p.src[p.off:p.off+4], 16, 16)
	for range 4 {
		p.next()
	}
	return err == nil
}

// number reads a number but keeps its spelling, since only the decoder knows the type.
func (p *parser) number(n *Node) {
	n.Kind = Number
	start := p.off
	for p.off < len(p.src) && strings.IndexByte("+-.eE0123456789", p.peek()) >= 0 {
		p.next()
	}
	n.Text = p.src[start:p.off]
	if _, err := strconv.ParseFloat(n.Text, 64); err != nil && !strings.Contains(err.Error(), "range") {
		p.failAt(n.Pos, n.Path, "found %q, which is not a number", clip(n.Text))
	}
}

// word reads true, false and null in any case: hand-written files have Python's and .NET's spelling.
func (p *parser) word(n *Node) {
	start := p.off
	for p.off < len(p.src) && isAlnum(p.peek()) {
		p.next()
	}
	switch text := p.src[start:p.off]; strings.ToLower(text) {
	case "true":
		n.Kind, n.Bool = Bool, true
	case "false":
		n.Kind = Bool
	case "null", "none":
		n.Kind = Null
	default:
		p.failAt(n.Pos, n.Path,
			"found %q without quotes, a value belongs here (text stands in double quotes)", clip(text))
	}
}

// DecodeText turns the bytes of a file into text: UTF-8 with or without a byte order mark, or UTF-16 with one (as
// Windows shells write on redirection). It refuses anything else, with the place, since a misread name or key would
// be a different one.
func DecodeText(data []byte) (text string, err error) {
	switch {
	case bytes.HasPrefix(data, []byte("\xFF\xFE")):
		text, err = decodeUTF16(data, func(b []byte) uint16 { return uint16(b[0]) | uint16(b[1])<<8 })
	case bytes.HasPrefix(data, []byte("\xFE\xFF")):
		text, err = decodeUTF16(data, func(b []byte) uint16 { return uint16(b[0])<<8 | uint16(b[1]) })
	default:
		text, err = decodeUTF8(data)
	}
	if i := strings.IndexByte(text, 0); i >= 0 && err == nil {
		err = zero(text[:i])
	}
	return text, err
}

// zero returns the error for a NUL character, which JSON never has but UTF-16 and UTF-32 have everywhere.
func zero(before string) error {
	const fix = "save the file as UTF-8: it may be UTF-16 or UTF-32 without its mark"
	return badText(before, "found a zero character", fix)
}

func decodeUTF8(data []byte) (string, error) {
	rest := bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	for i := 0; i < len(rest); {
		r, n := utf8.DecodeRune(rest[i:])
		if r == 0 {
			return "", zero(string(rest[:i]))
		}
		if r == utf8.RuneError && n == 1 {
			at := len(data) - len(rest) + i + 1
			found := fmt.Sprintf("found the byte 0x%02X, which is no UTF-8 there (byte %d of the file)", rest[i], at)
			return "", badText(string(rest[:i]), found,
				"save the file as UTF-8; where it is in Windows-1252, iconv -f WINDOWS-1252 -t UTF-8 does so")
		}
		i += n
	}
	return string(rest), nil
}

// decodeUTF16 decodes a file after its byte order mark.
func decodeUTF16(data []byte, unit func([]byte) uint16) (string, error) {
	const fix = "save the file as UTF-8"
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, unit(data[i:]))
	}
	text := utf16.Decode(units)
	at := 0 // index of the next unit of 16 bits
	for i, r := range text {
		if n := utf16.RuneLen(r); r != utf8.RuneError || units[at] == utf8.RuneError {
			at += n
			continue
		}
		found := fmt.Sprintf("found 0x%04X, half of a character of UTF-16 (byte %d of the file)", units[at], 2*at+3)
		return "", badText(string(text[:i]), found, fix)
	}
	if len(data)%2 != 0 {
		found := fmt.Sprintf("found half of a character of UTF-16 at the end (byte %d of the file)", len(data))
		return "", badText(string(text), found, fix)
	}
	return string(text), nil
}

// badText returns an error at the end of the text before it.
func badText(before, found, fix string) error {
	p := parser{src: before, line: 1, column: 1}
	for p.off < len(p.src) {
		p.next()
	}
	return &SyntaxError{Pos: p.pos(), Text: found, Fix: fix}
}
