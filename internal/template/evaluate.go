package template

import (
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"minibus/internal/jsontree"
)

// Node is a value of a template, before or after it is evaluated.
type Node = jsontree.Node

// Template is a document, with what its expressions mean.
type Template struct {
	root       *Node
	given      map[string]*Node // values of parameters, by lower-case name
	host       Host
	budget     *Budget
	evaluating map[string]bool  // parameters and variables
	evaluated  map[string]*Node // those that are known already
	indexes    []copyIndex      // of loops, the innermost last
	inDefault  int              // how many defaults of parameters it is in
}

// Host has the functions whose results depend on where and when a template is deployed, by lower-case name. "list" is
// called for every function whose name begins so. A function that it lacks is only known in Azure. One that is called
// with what it does not take returns nil.
type Host map[string]func(t *Template, name string, args []*Node) *Node

const (
	maxWeight  = 50_000
	maxText    = 1 << 20
	maxMembers = 1_000 // of what is compared with each other
	maxCalls   = 500   // that run within each other
)

// copyIndex is where a loop stands.
type copyIndex struct {
	name string
	at   int
}

// New returns the template in a document, with the values that were given for its parameters, by lower-case name.
func New(root *Node, given map[string]*Node, host Host, budget *Budget) *Template {
	return &Template{root: root, given: given, host: host, budget: budget, evaluating: make(map[string]bool),
		evaluated: make(map[string]*Node)}
}

// At does something in a turn of a loop.
func (t *Template) At(loop string, turn int, do func()) {
	t.indexes = append(t.indexes, copyIndex{loop, turn})
	do()
	t.indexes = t.indexes[:len(t.indexes)-1]
}

// Turns is where loops stand.
type Turns []copyIndex

// Turns returns where the loops stand, for [Template.Within].
func (t *Template) Turns() Turns { return slices.Clone(t.indexes) }

// Within does something where the loops stood.
func (t *Template) Within(turns Turns, do func()) {
	before := t.indexes
	t.indexes = slices.Clone(turns)
	do()
	t.indexes = before
}

// What is unknown stands in a text between two code points that are no characters: why it is unknown, in hexadecimal
// digits, which no function for texts changes.
var unknownPart = regexp.MustCompile("\uFFFF([0-9A-Fa-f]*)\uFFFE")

// Unknown returns a value that is not known, and why.
func Unknown(why string) *Node {
	return &Node{Kind: jsontree.String, Text: "\uFFFF" + hex.EncodeToString([]byte(why)) + "\uFFFE", Unknown: why}
}

// UnknownIn returns why a part of a text is not known; empty if all of it is.
func UnknownIn(text string) string {
	if !strings.ContainsAny(text, "\uFFFF\uFFFE") {
		return ""
	}
	if part := unknownPart.FindStringSubmatch(text); part != nil {
		if why, err := hex.DecodeString(part[1]); err == nil && len(why) > 0 {
			return string(why)
		}
	}
	return "a part of it is only known in Azure"
}

// FirstUnknown returns what is unknown in a value; nil if all of it is known.
func FirstUnknown(n *Node) *Node {
	if n.Unknown != "" {
		return n
	}
	for _, item := range n.Items {
		if u := FirstUnknown(item); u != nil {
			return u
		}
	}
	for _, m := range n.Members {
		if why := UnknownIn(m.Key); why != "" {
			return &Node{Kind: jsontree.String, Text: m.Key, Unknown: why, Pos: m.Pos}
		}
		if u := FirstUnknown(m.Value); u != nil {
			return u
		}
	}
	return nil
}

// weigh returns n, or an unknown value if it has become too large.
func (t *Template) weigh(n *Node) *Node {
	n.Weight = 0
	if !t.budget.Spend(weightOf(n)) {
		return Unknown(t.budget.Exceeded())
	}
	if n.Weight > maxWeight || len(n.Text) > maxText {
		return Unknown(tooLarge)
	}
	return n
}

// weightOf returns the weight of a value. What is in it is weighed once.
func weightOf(n *Node) int {
	if n.Weight > 0 {
		return n.Weight
	}
	weight := 1 + len(n.Text)/64
	for _, item := range n.Items {
		weight += weightOf(item)
	}
	for _, m := range n.Members {
		weight += len(m.Key)/64 + weightOf(m.Value)
	}
	n.Weight = weight
	return weight
}

// Weigh weighs a value that was read whole.
func Weigh(n *Node) {
	for _, item := range n.Items {
		Weigh(item)
	}
	for _, m := range n.Members {
		Weigh(m.Value)
	}
	n.Weight = 0
	weightOf(n)
}

// Evaluate returns a value with what its expressions mean. Its places are those in the document.
func (t *Template) Evaluate(n *Node) *Node {
	if t.budget.Work < 0 {
		v := Unknown(t.budget.Exceeded())
		v.Pos, v.Path = n.Pos, n.Path
		return v
	}
	v := t.weigh(t.evaluate(n))
	v.Pos, v.Path = n.Pos, n.Path
	return v
}

func (t *Template) evaluate(n *Node) *Node {
	v := *n
	switch n.Kind {
	case jsontree.String:
		expression, is := expressionOf(n.Text)
		if !is {
			if strings.HasPrefix(n.Text, "[[") {
				v.Text = n.Text[1:]
			}
			v.Unknown = UnknownIn(v.Text)
			return &v
		}
		v = *t.expression(expression)
		v.Pos, v.Path = n.Pos, n.Path
		placeInner(&v, n)
		if v.Unknown != "" && v.Kind == jsontree.String {
			v.Source = n.Text
		}
	case jsontree.Array:
		v.Items = nil
		for _, item := range n.Items {
			v.Items = append(v.Items, t.Evaluate(item))
		}
	case jsontree.Object:
		v.Members = nil
		for _, m := range n.Members {
			if loops := m.Value; m.Key == "copy" && loops.Kind == jsontree.Array {
				v.Members = append(v.Members, t.loops(loops)...)
				continue
			}
			key := m.Key
			if expression, is := expressionOf(key); is {
				key = TextOf(t.expression(expression))
			}
			v.Members = append(v.Members, jsontree.Member{Key: key, Pos: m.Pos, Value: t.Evaluate(m.Value)})
		}
	}
	return &v
}

// placeInner gives what a function has made the place of its expression.
func placeInner(n, at *Node) {
	inner := n.Items
	for _, m := range n.Members {
		inner = append(inner[:len(inner):len(inner)], m.Value)
	}
	for _, x := range inner {
		if x.Pos.Line == 0 {
			x.Pos, x.Path = at.Pos, at.Path
			placeInner(x, at)
		}
	}
}

// expression returns the value of an expression. What is wrong with it makes it unknown.
func (t *Template) expression(text string) *Node {
	e, wrong := t.budget.parse(text)
	if wrong != "" {
		return Unknown(wrong)
	}
	return t.value(e, nil)
}

// MaxCount is the most turns of a loop, and the most resources of a deployment.
const MaxCount = 800

// Count returns how many turns a loop has. wrong is a value that is unknown, or that is none of the numbers that a loop
// may have.
func (t *Template) Count(loop *Node) (turns int, wrong *Node) {
	at := loop.Get("count")
	if at == nil {
		return 0, &Node{Pos: loop.Pos, Path: loop.Path}
	}
	count := t.Evaluate(at)
	n, ok := jsontree.Whole(count)
	if count.Unknown != "" || !ok || n < 0 || n > MaxCount {
		return 0, count
	}
	return int(n), nil
}

// loops returns the arrays that loops in an object make.
func (t *Template) loops(list *Node) (made []jsontree.Member) {
	for _, loop := range list.Items {
		if name := loop.Get("name"); name != nil {
			made = append(made, jsontree.Member{Key: name.Text, Pos: loop.Pos, Value: t.Loop(name.Text, loop)})
		}
	}
	return made
}

// Loop returns the array that a loop with a count and an input makes.
func (t *Template) Loop(name string, loop *Node) *Node {
	input := loop.Member("input")
	turns, wrong := t.Count(loop)
	switch {
	case input == nil:
		return Unknown("the loop " + quote(name) + " has no input")
	case wrong != nil && wrong.Unknown != "":
		return wrong
	case wrong != nil:
		return Unknown("the count of the loop " + quote(name) + " is no number from 0 to " + strconv.Itoa(MaxCount))
	}
	all := &Node{Kind: jsontree.Array, Pos: loop.Pos, Path: loop.Path}
	for i := range turns {
		t.At(name, i, func() { all.Items = append(all.Items, t.Evaluate(input)) })
	}
	return t.weigh(all)
}

// parameter returns the value of a parameter: one that was given, or its default.
func (t *Template) parameter(name string) *Node {
	if v := t.given[strings.ToLower(name)]; v != nil {
		return v
	}
	p := t.root.Get("parameters").Get(name)
	if p == nil {
		return Unknown("there is no parameter " + quote(name))
	}
	if fallback := p.Member("defaultValue"); fallback != nil {
		t.inDefault++
		defer func() { t.inDefault-- }()
		return t.once("parameter "+strings.ToLower(name), func() *Node { return t.Evaluate(fallback) })
	}
	if t.nullable(p) {
		return &Node{}
	}
	return Unknown("the parameter " + quote(name) + " has no default value")
}

// InDefault reports whether the default of a parameter is being evaluated: only there may a function give another
// result each time.
func (t *Template) InDefault() bool { return t.inDefault > 0 }

// variable returns the value of a variable.
func (t *Template) variable(name string) *Node {
	variables := t.root.Get("variables")
	if v := variables.Member(name); v != nil {
		return t.once("variable "+strings.ToLower(name), func() *Node { return t.Evaluate(v) })
	}
	if loops := variables.Get("copy"); loops != nil && loops.Kind == jsontree.Array {
		for _, loop := range loops.Items {
			if n := loop.Get("name"); n != nil && strings.EqualFold(n.Text, name) {
				return t.once("variable "+strings.ToLower(name), func() *Node { return t.Loop(n.Text, loop) })
			}
		}
	}
	return Unknown("there is no variable " + quote(name))
}

// once evaluates what a parameter or a variable is, unless that leads back to itself.
func (t *Template) once(name string, evaluate func() *Node) *Node {
	if v := t.evaluated[name]; v != nil {
		return v
	}
	if t.evaluating[name] {
		return Unknown("the " + name + " leads back to itself")
	}
	t.evaluating[name] = true
	defer delete(t.evaluating, name)
	t.evaluated[name] = evaluate()
	return t.evaluated[name]
}
