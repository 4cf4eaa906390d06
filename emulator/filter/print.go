package filter

import (
	"math"
	"strconv"
	"strings"
)

// writer prints a syntax tree in its canonical form: one space around operators, keywords in capitals, parentheses only
// where they are needed. The text of a tree parses to the same tree.
type writer struct{ out strings.Builder }

// text appends a piece of the text.
func (w *writer) text(s string) { w.out.WriteString(s) }

// canonical returns the canonical text of a node.
func canonical(n node) string {
	var w writer
	n.write(&w)
	return w.out.String()
}

// The precedence of operands, low to high.
const (
	levelSum = iota
	levelProduct
	levelSign
	levelPrimary
)

func level(n operand) int {
	switch n := n.(type) {
	case arithmetic:
		if n.op == opAdd || n.op == opSub {
			return levelSum
		}
		return levelProduct
	case signed:
		return levelSign
	default:
		return levelPrimary
	}
}

// operand writes a value, in parentheses if its precedence is below atLeast.
func (w *writer) operand(n operand, atLeast int) {
	if level(n) >= atLeast {
		n.write(w)
		return
	}
	w.text("(")
	n.write(w)
	w.text(")")
}

// not writes NOT inside a test.
func (w *writer) not(not bool) {
	if not {
		w.text("NOT ")
	}
}

func (n literal) write(w *writer) {
	switch v := n.value; v.kind {
	case KindNull:
		w.text("NULL")
	case KindBool:
		w.text(strings.ToUpper(v.String()))
	case KindFloat64:
		w.text(numberText(v.Float()))
	case KindString:
		w.text("'" + strings.ReplaceAll(v.str, "'", "''") + "'")
	default:
		w.text(v.String())
	}
}

// numberText writes a double so that it does not parse as an integer.
func numberText(f float64) string {
	if f != 0 && (math.Abs(f) >= 1e21 || math.Abs(f) < 1e-6) {
		return strconv.FormatFloat(f, 'E', -1, 64)
	}
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

func (n parameter) write(w *writer) { w.text("@" + n.name) }

func (n property) write(w *writer) {
	if n.exact {
		w.name(n.name)
		return
	}
	if n.sys {
		w.text("sys.")
	}
	if isRegular(n.name) {
		w.text(n.name)
		return
	}
	w.text("[" + strings.ReplaceAll(n.name, "]", "]]") + "]")
}

// name writes a name of a selector.
func (w *writer) name(name string) {
	if tokens := lex(name, selectors); tokens[0].kind == tokIdentifier && tokens[0].raw == name {
		w.text(name)
		return
	}
	w.text(`"` + strings.ReplaceAll(name, `"`, `""`) + `"`)
}

// isRegular reports whether a name needs no delimiters.
func isRegular(name string) bool {
	tokens := lex(name, sql)
	return tokens[0].kind == tokIdentifier && tokens[0].raw == name
}

func (newidCall) write(w *writer) { w.text("newid()") }

func (n propertyCall) write(w *writer) {
	w.text("property(")
	n.name.write(w)
	w.text(")")
}

func (n signed) write(w *writer) {
	if n.minus {
		w.text("-")
	} else {
		w.text("+")
	}
	w.operand(n.x, levelSign)
}

func (n arithmetic) write(w *writer) {
	w.operand(n.x, level(n))
	w.text(" " + n.op.String() + " ")
	w.operand(n.y, level(n)+1)
}

func (n comparison) write(w *writer) {
	n.x.write(w)
	w.text(" " + n.op.String() + " ")
	n.y.write(w)
}

func (n membership) write(w *writer) {
	n.x.write(w)
	w.text(" ")
	w.not(n.not)
	w.text("IN (")
	for i, item := range n.items {
		if i > 0 {
			w.text(", ")
		}
		item.write(w)
	}
	w.text(")")
}

func (n likeness) write(w *writer) {
	n.x.write(w)
	w.text(" ")
	w.not(n.not)
	w.text("LIKE ")
	n.pattern.write(w)
	if n.escape != nil {
		w.text(" ESCAPE ")
		n.escape.write(w)
	}
}

func (n nullness) write(w *writer) {
	n.x.write(w)
	w.text(" IS ")
	w.not(n.not)
	w.text("NULL")
}

func (n existence) write(w *writer) {
	w.text("EXISTS(")
	n.x.write(w)
	w.text(")")
}

func (n negation) write(w *writer) {
	w.text("NOT ")
	w.term(n.x)
}

func (n junction) write(w *writer) {
	word := " AND "
	if n.or {
		word = " OR "
	}
	for i, term := range n.terms {
		if i > 0 {
			w.text(word)
		}
		if inner, ok := term.(junction); ok && !inner.or {
			inner.write(w) // AND binds tighter than OR
			continue
		}
		w.term(term)
	}
}

// term writes a predicate where a junction needs parentheses.
func (w *writer) term(n predicate) {
	if _, ok := n.(junction); ok {
		w.text("(")
		n.write(w)
		w.text(")")
		return
	}
	n.write(w)
}

func (n assignment) write(w *writer) {
	w.text("SET ")
	n.target.write(w)
	w.text(" = ")
	n.value.write(w)
}

func (n removal) write(w *writer) {
	w.text("REMOVE ")
	n.target.write(w)
}
