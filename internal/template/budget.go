package template

import (
	"context"

	"minibus/internal/jsontree"
)

// Budget bounds what is evaluated, so that a few lines that double each other take neither the memory nor the time.
type Budget struct {
	Work    int             // that may still be done, about in values that are looked at
	Context context.Context // its end is that of the work too; nil: none
	// Made is called with the name in lower case, the arguments and the result of each function that has one that is
	// known, and whose arguments were evaluated first. Nil: nobody asks.
	Made func(function string, args []*Node, v *Node)

	deep   int // calls that are running
	since  int // units since a look at the context
	late   bool
	parsed map[string]*expression // by their texts; those that are none too
	wrong  map[string]string      // why a text is no expression
}

// NewBudget returns one that suffices for a file.
func NewBudget() *Budget { return &Budget{Work: 2_000_000} }

// often is after how many units of work the context is looked at.
const often = 1_000

// Spend takes some work from the budget, and reports whether it may be done.
func (b *Budget) Spend(units int) bool {
	b.Work -= units
	if b.since += units; b.since >= often && b.Context != nil {
		b.since = 0
		if b.Context.Err() != nil {
			b.Work, b.late = -1, true
		}
	}
	return b.Work >= 0
}

// Exceeded says why no work may be done any more.
func (b *Budget) Exceeded() string {
	if b.late {
		return tooLong
	}
	return tooLarge
}

// search takes the work of a look for a text among so many.
func (b *Budget) search(text string, among int) bool { return b.Spend(1 + among*(8+len(text)/8)/64) }

// parse reads an expression, each text once. It costs something to find it too.
func (b *Budget) parse(text string) (e *expression, wrong string) {
	if !b.Spend(1 + len(text)/256) {
		return nil, b.Exceeded()
	}
	if e, ok := b.parsed[text]; ok {
		return e, b.wrong[text]
	}
	if !b.Spend(len(text) / 16) {
		return nil, b.Exceeded()
	}
	if b.parsed == nil {
		b.parsed, b.wrong = make(map[string]*expression), make(map[string]string)
	}
	e, wrong = parse(text)
	b.parsed[text] = e
	if wrong != "" {
		wrong = "it is no expression: " + wrong
		b.wrong[text] = wrong
	}
	return e, wrong
}

// equal is equals(). Without work that is left nothing is equal.
func (b *Budget) equal(x, y *Node) bool {
	if !b.Spend(1+len(x.Text)/64) || x.Kind != y.Kind || x.Bool != y.Bool || len(x.Items) != len(y.Items) ||
		len(x.Members) != len(y.Members) || len(x.Members) > maxMembers {
		return false
	}
	if x.Kind == jsontree.Number {
		m, _ := jsontree.Whole(x)
		n, _ := jsontree.Whole(y)
		return m == n
	}
	for i := range x.Items {
		if !b.equal(x.Items[i], y.Items[i]) {
			return false
		}
	}
	for i, m := range x.Members {
		other := y.Members[i].Value // most often they are in the same order
		if !b.Spend(len(m.Key)/64) || y.Members[i].Key != m.Key {
			if !b.search(m.Key, len(y.Members)) {
				return false
			}
			other = y.Member(m.Key)
		}
		if other == nil || !b.equal(m.Value, other) {
			return false
		}
	}
	return x.Text == y.Text
}

// texts returns values as texts, unless they become too large together.
func texts(nodes []*Node) (parts []string, ok bool) {
	length := 0
	for _, n := range nodes {
		part := TextOf(n)
		if length += len(part); length > 2*maxText {
			return nil, false
		}
		parts = append(parts, part)
	}
	return parts, true
}
