package filter

import "strings"

// tokenKind is the kind of a token; its String is the name that error texts use.
type tokenKind uint8

const (
	tokEOF tokenKind = iota
	tokIllegal
	tokIdentifier
	tokDelimited // an identifier in brackets or quotes: never a keyword, a scope or a function
	tokString
	tokInteger
	tokNumber // decimal or approximate
	tokParameter

	tokAnd
	tokOr
	tokNot
	tokIs
	tokNull
	tokIn
	tokLike
	tokEscape
	tokExists
	tokTrue
	tokFalse
	tokSet
	tokRemove
	tokBetween // of selectors only

	tokOpen
	tokClose
	tokComma
	tokDot
	tokSemicolon
	tokPlus
	tokMinus
	tokStar
	tokSlash
	tokPercent
	tokEqual
	tokNotEqual
	tokLess
	tokLessOrEqual
	tokGreater
	tokGreaterOrEqual
)

var tokenNames = [...]string{
	tokEOF: "EOF", tokIllegal: "ILLEGAL", tokIdentifier: "IDENTIFIER", tokDelimited: "IDENTIFIER", tokString: "STRING",
	tokInteger: "INTEGER", tokNumber: "DECIMAL", tokParameter: "PARAMETER",
	tokAnd: "AND", tokOr: "OR", tokNot: "NOT", tokIs: "IS", tokNull: "NULL", tokIn: "IN",
	tokLike: "LIKE", tokEscape: "ESCAPE",
	tokExists: "EXISTS", tokTrue: "TRUE", tokFalse: "FALSE", tokSet: "SET", tokRemove: "REMOVE",
	tokBetween: "BETWEEN",
	tokOpen:    "'('", tokClose: "')'", tokComma: "','", tokDot: "'.'", tokSemicolon: "';'",
	tokPlus: "'+'", tokMinus: "'-'",
	tokStar: "'*'", tokSlash: "'/'", tokPercent: "'%'", tokEqual: "'='", tokNotEqual: "'<>'", tokLess: "'<'",
	tokLessOrEqual: "'<='", tokGreater: "'>'", tokGreaterOrEqual: "'>='",
}

func (k tokenKind) String() string { return tokenNames[k] }

// keywords are reserved in any spelling of upper and lower case.
var keywords = func() map[string]tokenKind {
	words := make(map[string]tokenKind)
	for k := tokAnd; k <= tokRemove; k++ {
		words[tokenNames[k]] = k
	}
	return words
}()

// keyword returns the kind of a word: a keyword's or an identifier's.
func keyword(word string) tokenKind {
	if k, ok := keywords[strings.ToUpper(word)]; ok {
		return k
	}
	return tokIdentifier
}

// token is one word of a text.
type token struct {
	kind      tokenKind
	raw       string // as it was written
	text      string // the name or the string, without its quotes
	magnitude uint64 // of an integer
	number    float64
	detail    string // why a token is illegal
	line      int    // from 1
	column    int    // from 0, in UTF-16 units
}

// is reports whether the token is the unquoted name, in any spelling of upper and lower case.
func (t token) is(name string) bool {
	return t.kind == tokIdentifier && strings.EqualFold(t.raw, name)
}
