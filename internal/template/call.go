package template

import (
	"slices"
	"strings"

	"minibus/internal/jsontree"
)

// locals are the variables of a lambda, and of those around it.
type locals struct {
	name   string
	value  *Node
	around *locals
}

func (l *locals) with(name string, value *Node) *locals {
	return &locals{strings.ToLower(name), value, l}
}

// inAzure are the functions of a [Host]. Those that begin with list are among them.
var inAzure = []string{"newguid", "utcnow", "resourcegroup", "subscription", "tenant", "deployment", "deployer",
	"managementgroup", "environment", "reference", "references", "resourceid", "subscriptionresourceid",
	"tenantresourceid", "managementgroupresourceid", "extensionresourceid", "pickzones", "providers", "getsecret"}

func isInAzure(lower string) bool {
	return slices.Contains(inAzure, lower) || strings.HasPrefix(lower, "list")
}

const (
	tooLarge   = "it is too large"
	tooLong    = "it takes too long"
	wrongStart = "the arguments of "
	wrongEnd   = "() are not what it takes"
	notHere    = "Minibus does not evaluate "
)

// IsNotHere reports whether a value is unknown because Minibus lacks a function.
func IsNotHere(why string) bool { return strings.HasPrefix(why, notHere) }

// value returns what an expression means.
func (t *Template) value(e *expression, l *locals) *Node {
	switch {
	case e.value != nil:
		return e.value
	case !t.budget.Spend(1):
		return Unknown(t.budget.Exceeded())
	case e.name == "":
		return t.pick(t.value(e.args[0], l), t.value(e.args[1], l), e.safe)
	}
	if t.budget.deep++; t.budget.deep > maxCalls {
		t.budget.deep--
		return Unknown("functions call each other without an end")
	}
	defer func() { t.budget.deep-- }()
	lower := strings.ToLower(e.name)
	lower = strings.TrimPrefix(lower, "sys.")
	if f, ok := lazy[lower]; ok {
		if v := f(t, e.args, l); v != nil {
			return t.weigh(copyOf(v))
		}
		return Unknown(wrongStart + e.name + wrongEnd)
	}
	args := make([]*Node, 0, len(e.args))
	for _, a := range e.args {
		v := t.value(a, l)
		if !t.budget.Spend(weightOf(v)) {
			return Unknown(t.budget.Exceeded())
		}
		args = append(args, v)
	}
	v := t.call(e.name, lower, args)
	if t.budget.Made != nil && v.Unknown == "" {
		t.budget.Made(lower, args, v)
	}
	return t.weigh(copyOf(v))
}

// copyOf returns a node that can be weighed and placed without a change to the one that was given.
func copyOf(n *Node) *Node {
	v := *n
	return &v
}

// call returns what a function makes of its arguments.
func (t *Template) call(name, lower string, args []*Node) *Node {
	if f, ok := acceptUnknown[lower]; ok {
		if v := f(t.budget, args); v != nil {
			return v
		}
		return Unknown(wrongStart + name + wrongEnd)
	}
	ours := t.host[lower]
	if ours == nil && strings.HasPrefix(lower, "list") {
		ours = t.host["list"]
	}
	f, known := functionOf(lower)
	user := t.userFunction(lower)
	switch {
	case ours == nil && isInAzure(lower):
		return Unknown("the result of " + name + "() is only known in Azure")
	case ours == nil && !known && user == nil && !ofTemplate[lower]:
		return Unknown(notEvaluatedHere(name))
	}
	for _, a := range args {
		if a.Unknown != "" {
			return Unknown(a.Unknown)
		}
	}
	var v *Node
	switch {
	case ours != nil:
		v = ours(t, name, args)
	case user != nil:
		v = t.callUser(name, user, args)
	case known:
		v = f(t.budget, args)
	case lower == "copyindex":
		v = t.copyIndex(args)
	case len(args) != 1 || args[0].Kind != jsontree.String:
	case lower == "parameters":
		v = t.parameter(args[0].Text)
	case lower == "variables":
		v = t.variable(args[0].Text)
	case lower == "fail":
		v = Unknown("the template fails: " + args[0].Text)
	}
	if v == nil {
		return Unknown(wrongStart + name + wrongEnd)
	}
	return v
}

// functionOf returns a function whose arguments must all be known.
func functionOf(lower string) (f func(*Budget, []*Node) *Node, known bool) {
	if f, known = measured[lower]; known {
		return f, true
	}
	plain, known := functions[lower]
	return unmeasured(plain), known
}

// ofTemplate are the functions that look into the template.
var ofTemplate = map[string]bool{"parameters": true, "variables": true, "copyindex": true, "fail": true}

func notEvaluatedHere(name string) string {
	if strings.Contains(name, ".") {
		return notHere + clip(name) + "(), a user-defined function that the template lacks"
	}
	return notHere + clip(name) + "()"
}

// copyIndex returns where a loop stands: the innermost, or that of a name, and how much to add.
func (t *Template) copyIndex(args []*Node) *Node {
	name, offset := "", int64(0)
	for _, a := range args {
		if n, ok := jsontree.Whole(a); ok {
			offset = n
		} else {
			name = a.Text
		}
	}
	for _, x := range slices.Backward(t.indexes) {
		if name == "" || strings.EqualFold(x.name, name) {
			return numberValue(int64(x.at) + offset)
		}
	}
	return Unknown("copyIndex() is in no loop " + quote(name))
}

// userFunction returns a function that the template defines: namespace.name; nil if there is none.
func (t *Template) userFunction(lower string) *Node {
	space, name, dotted := strings.Cut(lower, ".")
	list := t.root.Get("functions")
	if !dotted || list == nil {
		return nil
	}
	for _, group := range list.Items {
		if n := group.Get("namespace"); n != nil && strings.EqualFold(n.Text, space) {
			if f := group.Get("members").Get(name); f != nil {
				return f
			}
		}
	}
	return nil
}

// callUser evaluates a function of the template. It sees its own parameters and the other functions.
func (t *Template) callUser(name string, f *Node, args []*Node) *Node {
	given := make(map[string]*Node)
	parameters := f.Get("parameters")
	if parameters == nil {
		parameters = &Node{}
	}
	if len(parameters.Items) != len(args) {
		return nil
	}
	root := &Node{Kind: jsontree.Object}
	for _, key := range []string{"functions", "definitions"} {
		if n := t.root.Get(key); n != nil {
			root.Put(key, n)
		}
	}
	inner := New(root, given, t.host, t.budget)
	for i, p := range parameters.Items {
		n := p.Get("name")
		if n == nil {
			return nil
		}
		if wrong := inner.mismatch(args[i], p, n.Text, 0); wrong != "" {
			return Unknown(clip(name) + "(): " + wrong)
		}
		given[strings.ToLower(n.Text)] = args[i]
	}
	if output := f.Get("output").Member("value"); output != nil {
		return inner.Evaluate(output)
	}
	return nil
}

// pick returns a property of an object, or an item of an array.
func (t *Template) pick(of, key *Node, safe bool) *Node {
	switch {
	case of.Unknown != "" && len(of.Items)+len(of.Members) == 0:
		return Unknown(of.Unknown)
	case key.Unknown != "":
		return Unknown(key.Unknown)
	case of.Kind == jsontree.Array:
		if i, ok := jsontree.Whole(key); ok && i >= 0 && i < int64(len(of.Items)) {
			return of.Items[i]
		}
	case !t.budget.search(key.Text, len(of.Members)):
		return Unknown(t.budget.Exceeded())
	case of.Kind == jsontree.Object:
		if v := of.Member(key.Text); v != nil {
			return v
		}
	}
	if safe {
		return &Node{}
	}
	if key.Kind == jsontree.Number {
		return Unknown("there is no item " + key.Text + " in it")
	}
	return Unknown("there is no " + quote(key.Text) + " in it")
}

// lazy are the functions that evaluate their arguments by themselves: a branch that is not taken may be impossible.
// They return nil for arguments that they don't take. (It is set by init since its functions call others.)
var lazy map[string]func(t *Template, args []*expression, l *locals) *Node

func init() {
	lazy = map[string]func(t *Template, args []*expression, l *locals) *Node{
		"if": func(t *Template, args []*expression, l *locals) *Node {
			if len(args) != 3 {
				return nil
			}
			condition := t.value(args[0], l)
			switch {
			case condition.Unknown != "":
				return Unknown(condition.Unknown)
			case Truth(condition):
				return t.value(args[1], l)
			}
			return t.value(args[2], l)
		},
		"and":      junction(false),
		"or":       junction(true),
		"coalesce": coalesce,
		"tryget":   tryGet,
		"filter":   filterArray, "map": mapArray, "mapvalues": mapValues, "reduce": reduceArray, "sort": sortArray,
		"toobject": toObject, "groupby": groupBy,
		"lambda": func(*Template, []*expression, *locals) *Node {
			return Unknown("a lambda stands where none can be")
		},
		"lambdavariables": func(t *Template, args []*expression, l *locals) *Node {
			if len(args) != 1 {
				return nil
			}
			name := strings.ToLower(t.value(args[0], l).Text)
			for ; l != nil; l = l.around {
				if l.name == name {
					return l.value
				}
			}
			return Unknown("there is no variable " + quote(name) + " in a lambda around it")
		},
	}
}

// junction returns and() or or(). decisive is the value of one argument that decides.
func junction(decisive bool) func(t *Template, args []*expression, l *locals) *Node {
	return func(t *Template, args []*expression, l *locals) *Node {
		for _, a := range args {
			v := t.value(a, l)
			if v.Unknown != "" {
				return Unknown(v.Unknown)
			}
			if Truth(v) == decisive {
				return boolValue(decisive)
			}
		}
		return boolValue(!decisive)
	}
}

func coalesce(t *Template, args []*expression, l *locals) *Node {
	for _, a := range args {
		if v := t.value(a, l); v.Kind != jsontree.Null {
			return v
		}
	}
	return &Node{}
}

// tryGet picks what may be missing.
func tryGet(t *Template, args []*expression, l *locals) *Node {
	if len(args) < 2 {
		return nil
	}
	v := t.value(args[0], l)
	for _, key := range args[1:] {
		v = t.pick(v, t.value(key, l), true)
	}
	return v
}
