package filter

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTextLength is the largest length of a filter or an action, in characters as .NET counts them. It bounds the
// work for one text. The service's limit is much lower (QUO-10); the caller enforces it with [TextLength]
// if its profile of limits says so.
const maxTextLength = 16 * 1024

// TextLength returns the number of characters of a text as .NET counts them, which the service's limits refer to.
func TextLength(text string) int {
	n := 0
	for _, r := range text {
		n += utf16Length(r)
	}
	return n
}

// dialect is a language that this package reads.
type dialect uint8

const (
	sql       dialect = iota // filters and actions of rules
	selectors                // message selectors of JMS
)

// lexer cuts a text into tokens. Invalid text becomes an illegal token, so that the parser reports the first error in
// reading order, the lexer's or its own.
type lexer struct {
	text    string
	dialect dialect
	offset  int
	line    int
	column  int
}

// lex returns the tokens of a text; the last is always tokEOF.
func lex(text string, d dialect) []token {
	lx := lexer{text: text, dialect: d, line: 1}
	tokens := make([]token, 0, len(text)/3+2)
	for {
		lx.skipSpace()
		start := lx
		t := lx.next()
		t.raw = text[start.offset:lx.offset]
		t.line = start.line
		t.column = start.column
		tokens = append(tokens, t)
		if t.kind == tokEOF {
			return tokens
		}
	}
}

// peek returns the next character, or -1 at the end.
func (lx *lexer) peek() rune { return lx.peekAt(0) }

// peekAt returns the character some bytes after the next one. The skipped bytes must be whole characters.
func (lx *lexer) peekAt(bytes int) rune {
	if lx.offset+bytes >= len(lx.text) {
		return -1
	}
	r, _ := utf8.DecodeRuneInString(lx.text[lx.offset+bytes:])
	return r
}

// advance moves past one character and keeps the place.
func (lx *lexer) advance() {
	r, size := utf8.DecodeRuneInString(lx.text[lx.offset:])
	lx.offset += size
	if r == '\n' {
		lx.line++
		lx.column = 0
		return
	}
	lx.column += utf16Length(r)
}

// utf16Length returns how many characters a rune has in .NET.
func utf16Length(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

func (lx *lexer) skipSpace() {
	for unicode.IsSpace(lx.peek()) {
		lx.advance()
	}
}

// takeWhile moves past the characters that satisfy the condition and returns them.
func (lx *lexer) takeWhile(ok func(rune) bool) string {
	start := lx.offset
	for r := lx.peek(); r >= 0 && ok(r); r = lx.peek() {
		lx.advance()
	}
	return lx.text[start:lx.offset]
}

func isNameRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
func isDigit(r rune) bool    { return r >= '0' && r <= '9' }

// next reads one token, without its place.
func (lx *lexer) next() token {
	switch r := lx.peek(); {
	case r < 0:
		return token{kind: tokEOF}
	case lx.dialect == selectors && r != '\'' && r != '"':
		return lx.nextOfSelector(r)
	case unicode.IsLetter(r):
		word := lx.takeWhile(isNameRune)
		return token{kind: keyword(word), text: word}
	case isDigit(r), r == '.' && isDigit(lx.peekAt(1)):
		return lx.number()
	case r == '@':
		return lx.parameter()
	case r == '\'':
		return lx.quoted(tokString, '\'', "the string has no closing quote")
	case r == '"':
		return lx.name('"', "the quoted identifier has no closing quote")
	case r == '[':
		return lx.name(']', "the delimited identifier has no closing bracket")
	default:
		return lx.punctuation(r)
	}
}

func (lx *lexer) parameter() token {
	lx.advance()
	name := lx.takeWhile(isNameRune)
	if name == "" {
		return token{kind: tokIllegal, detail: "the parameter has no name"}
	}
	return token{kind: tokParameter, text: name}
}

// name reads an identifier between delimiters.
func (lx *lexer) name(end rune, unclosed string) token {
	t := lx.quoted(tokDelimited, end, unclosed)
	if t.kind == tokDelimited && t.text == "" {
		return token{kind: tokIllegal, detail: "the identifier is empty"}
	}
	return t
}

// quoted reads up to the closing character; two of them in a row stand for one.
func (lx *lexer) quoted(kind tokenKind, end rune, unclosed string) token {
	lx.advance()
	var text strings.Builder
	for {
		text.WriteString(lx.takeWhile(func(r rune) bool { return r != end }))
		if lx.peek() < 0 {
			return token{kind: tokIllegal, detail: unclosed}
		}
		lx.advance()
		if lx.peek() != end {
			return token{kind: kind, text: text.String()}
		}
		text.WriteRune(end)
		lx.advance()
	}
}

// number reads an unsigned number. An E without digits behind it is not part of it.
func (lx *lexer) number() token {
	start := lx.offset
	lx.takeWhile(isDigit)
	whole := true
	if lx.peek() == '.' {
		whole = false
		lx.advance()
		lx.takeWhile(isDigit)
	}
	if n := lx.exponentLength(); n > 0 {
		whole = false
		for range n {
			lx.advance()
		}
		lx.takeWhile(isDigit)
	}
	text := lx.text[start:lx.offset]
	if whole {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return token{kind: tokIllegal, detail: integerRangeDetail}
		}
		return token{kind: tokInteger, magnitude: n}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return token{kind: tokIllegal, detail: "the number is out of the range of a double"}
	}
	return token{kind: tokNumber, number: f}
}

const integerRangeDetail = "the integer is out of the range of a long"

// exponentLength returns the length of an E and its sign if digits follow, and otherwise 0.
func (lx *lexer) exponentLength() int {
	if r := lx.peek(); r != 'e' && r != 'E' {
		return 0
	}
	if r := lx.peekAt(1); (r == '+' || r == '-') && isDigit(lx.peekAt(2)) {
		return 2
	}
	if isDigit(lx.peekAt(1)) {
		return 1
	}
	return 0
}

var single = map[rune]tokenKind{'(': tokOpen, ')': tokClose, ',': tokComma, '.': tokDot, ';': tokSemicolon,
	'+': tokPlus,
	'-': tokMinus, '*': tokStar, '/': tokSlash, '%': tokPercent, '=': tokEqual, '<': tokLess, '>': tokGreater}

var double = map[string]tokenKind{"<>": tokNotEqual, "!=": tokNotEqual, "<=": tokLessOrEqual, ">=": tokGreaterOrEqual}

func (lx *lexer) punctuation(r rune) token {
	if r < utf8.RuneSelf && lx.offset+2 <= len(lx.text) {
		if kind, ok := double[lx.text[lx.offset:lx.offset+2]]; ok {
			lx.advance()
			lx.advance()
			return token{kind: kind}
		}
	}
	lx.advance()
	if kind, ok := single[r]; ok {
		return token{kind: kind}
	}
	return token{kind: tokIllegal, detail: "syntax error, unexpected character " + strconv.QuoteRune(r)}
}
