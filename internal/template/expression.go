package template

import (
	"strconv"
	"strings"

	"minibus/internal/jsontree"
)

// maxDepth bounds the nesting of an expression.
const maxDepth = 100

// expression is one that was read: a value, a call, or what is picked from another.
type expression struct {
	value *Node         // a value that is written out
	name  string        // of a function
	args  []*expression // of the function; without one, from what something is picked, and its key
	safe  bool          // picking what is missing gives null
	at    int           // where it begins, for messages
}

// expressionOf returns the expression in a text: [...], but not [[..., which is a text.
func expressionOf(text string) (expression string, is bool) {
	if len(text) < 2 || text[0] != '[' || text[1] == '[' || text[len(text)-1] != ']' {
		return "", false
	}
	return text[1 : len(text)-1], true
}

// parse reads an expression. wrong says why it is none.
func parse(text string) (e *expression, wrong string) {
	r := &reader{text: text}
	e = r.value(0)
	if r.space(); r.at < len(r.text) {
		r.fail("found " + strconv.Quote(clip(r.text[r.at:])))
	}
	return e, r.wrong
}

// reader reads an expression. After the first error it is at the end of the text.
type reader struct {
	text  string
	at    int
	wrong string
}

func (r *reader) fail(found string) *expression {
	if r.wrong == "" {
		r.wrong = found + " at character " + strconv.Itoa(r.at+2)
	}
	r.at = len(r.text)
	return &expression{value: &Node{}}
}

func (r *reader) space() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// next reports whether this comes next, and skips it.
func (r *reader) next(token string) bool {
	if r.space(); strings.HasPrefix(r.text[r.at:], token) {
		r.at += len(token)
		return true
	}
	return false
}

// word reads a name.
func (r *reader) word(more string) string {
	begin := r.at
	for r.at < len(r.text) && (isAlnum(r.text[r.at]) || strings.IndexByte(more, r.text[r.at]) >= 0) {
		r.at++
	}
	return r.text[begin:r.at]
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// value reads a value with what is picked from it.
func (r *reader) value(depth int) *expression {
	if depth > maxDepth {
		return r.fail("found more nesting than " + strconv.Itoa(maxDepth))
	}
	e := r.primary(depth)
	for r.wrong == "" {
		at := r.at
		picked := func(key *expression, safe bool) {
			e = &expression{args: []*expression{e, key}, safe: safe, at: at}
		}
		switch {
		case r.next(".?"):
			picked(&expression{value: textValue(r.word("_"))}, true)
		case r.next("."):
			picked(&expression{value: textValue(r.word("_"))}, false)
		case r.next("[?"), r.next("["):
			safe := r.text[r.at-1] == '?'
			key := r.value(depth + 1)
			if !r.next("]") {
				return r.fail("found no ]")
			}
			picked(key, safe)
		default:
			return e
		}
	}
	return e
}

func (r *reader) primary(depth int) *expression {
	r.space()
	if r.at >= len(r.text) {
		return r.fail("found the end")
	}
	switch c := r.text[r.at]; {
	case c == '\'':
		return r.quoted()
	case c == '-' || c >= '0' && c <= '9':
		begin := r.at
		r.at++
		r.word(".")
		n := &Node{Kind: jsontree.Number, Text: r.text[begin:r.at]}
		if _, ok := jsontree.Whole(n); !ok {
			return r.fail("found " + strconv.Quote(clip(n.Text)))
		}
		return &expression{value: n}
	case isAlnum(c) || c == '_':
		at := r.at
		name := r.word("_.")
		if !r.next("(") {
			return r.fail("found " + strconv.Quote(clip(name)) + " without (")
		}
		return r.call(name, at, depth)
	}
	return r.fail("found " + strconv.Quote(clip(r.text[r.at:])))
}

// quoted reads a text, in which two quotation marks stand for one.
func (r *reader) quoted() *expression {
	var b strings.Builder
	for r.at++; r.at < len(r.text); r.at++ {
		if r.text[r.at] == '\'' {
			if r.at++; r.at >= len(r.text) || r.text[r.at] != '\'' {
				return &expression{value: textValue(b.String())}
			}
		}
		b.WriteByte(r.text[r.at])
	}
	return r.fail("found a text that never ends")
}

// call reads the arguments of a function.
func (r *reader) call(name string, at, depth int) *expression {
	e := &expression{name: name, at: at}
	for !r.next(")") {
		if len(e.args) > 0 && !r.next(",") {
			return r.fail("found no ) of " + clip(name))
		}
		arg := r.value(depth + 1)
		if r.wrong != "" {
			return arg
		}
		e.args = append(e.args, arg)
	}
	return e
}
