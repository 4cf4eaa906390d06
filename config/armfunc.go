package config

import (
	"cmp"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

func textValue(s string) *node { return &node{kind: kindString, text: s} }

func boolValue(b bool) *node { return &node{kind: kindBool, boolean: b} }

func numberValue(n int64) *node { return &node{kind: kindNumber, text: strconv.FormatInt(n, 10)} }

func arrayValue(items []*node) *node { return &node{kind: kindArray, items: items} }

// textOf returns a value as text, as string() does with simple ones.
func textOf(n *node) string {
	switch n.kind {
	case kindBool:
		if n.boolean {
			return "True"
		}
		return "False"
	case kindNull:
		return ""
	}
	return n.text
}

func truth(n *node) bool {
	return n.kind == kindBool && n.boolean || n.kind == kindString && strings.EqualFold(n.text, "true")
}

// composed returns a text that is made of others, some of which may be unknown.
func composed(text string) *node {
	n := textValue(text)
	n.unknown = unknownIn(text)
	return n
}

// inAzure are functions whose results only Azure knows. Those that begin with list are among them.
var inAzure = []string{"uniquestring", "guid", "newguid", "utcnow", "resourcegroup", "subscription", "tenant",
	"deployment", "deployer",
	"managementgroup", "environment", "reference", "references", "resourceid", "subscriptionresourceid",
	"tenantresourceid", "managementgroupresourceid", "extensionresourceid", "pickzones", "providers", "getsecret"}

// call returns what a function makes of its arguments.
func (t *template) call(name string, args []*node) *node {
	for _, a := range args {
		t.found.work += max(a.weight, 1)
	}
	if t.found.work > maxARMWork {
		return unknownValue("it is too large")
	}
	return t.weigh(t.result(name, args))
}

func (t *template) result(name string, args []*node) *node {
	lower := strings.ToLower(name)
	if slices.Contains(inAzure, lower) || strings.HasPrefix(lower, "list") {
		return unknownValue("the result of " + name + "() is only known in Azure")
	}
	if f, ok := composing[lower]; ok {
		if v := f(args); v != nil {
			return v
		}
		return unknownValue("the arguments of " + name + "() are not what it takes")
	}
	arg := func(i int) *node {
		if i < len(args) {
			return args[i]
		}
		return &node{}
	}
	switch lower {
	case "if":
		if c := arg(0); c.unknown != "" {
			return unknownValue(c.unknown)
		} else if truth(c) {
			return arg(1)
		}
		return arg(2)
	case "createarray":
		return arrayValue(args)
	case "createobject":
		n := &node{kind: kindObject}
		for i := 0; i+1 < len(args); i += 2 {
			n.put(textOf(args[i]), args[i+1])
		}
		return n
	case "coalesce":
		for _, a := range args {
			if a.kind != kindNull {
				return a
			}
		}
		return &node{}
	case "tryget":
		v := arg(0)
		for _, key := range args[min(1, len(args)):] {
			v = pick(v, key, true)
		}
		return v
	}
	f, ok := functions[lower]
	if !ok && lower != "parameters" && lower != "variables" && lower != "copyindex" {
		return unknownValue(notEvaluatedHere(name))
	}
	for _, a := range args {
		if a.unknown != "" {
			return unknownValue(a.unknown)
		}
	}
	switch lower {
	case "parameters":
		return t.parameter(arg(0).text)
	case "variables":
		return t.variable(arg(0).text)
	case "copyindex":
		return t.copyIndex(args)
	}
	if v := f(args); v != nil {
		return v
	}
	return unknownValue("the arguments of " + name + "() are not what it takes")
}

// lambdas are functions that take a lambda, and what is in one.
var lambdas = []string{"filter", "groupby", "lambda", "lambdavariables", "map", "mapvalues", "reduce",
	"sort", "toobject"}

const hereNotEvaluated = "Minibus does not evaluate "

// notEvaluatedHere says which function is not known.
func notEvaluatedHere(name string) string {
	switch {
	case slices.Contains(lambdas, strings.ToLower(name)):
		return hereNotEvaluated + "lambdas, such as that of " + clip(name) + "()"
	case strings.Contains(name, "."):
		return hereNotEvaluated + clip(name) + "(), a user-defined function"
	}
	return hereNotEvaluated + clip(name) + "()"
}

// copyIndex returns where a loop stands: the innermost, or that of a name, and how much to add.
func (t *template) copyIndex(args []*node) *node {
	name, offset := "", int64(0)
	for _, a := range args {
		if n, ok := wholeNumber(a); ok {
			offset = n
		} else {
			name = a.text
		}
	}
	for _, x := range slices.Backward(t.indexes) {
		if name == "" || strings.EqualFold(x.name, name) {
			return numberValue(int64(x.at) + offset)
		}
	}
	return unknownValue("copyIndex() is in no loop " + quote(name))
}

// composing are the functions whose result may have unknown parts in it. They return nil for arguments that they don't
// take.
var composing = map[string]func([]*node) *node{
	"concat": func(args []*node) *node {
		if len(args) > 0 && args[0].kind == kindArray {
			var all []*node
			for _, a := range args {
				if a.kind != kindArray {
					return unknownOf([]*node{a})
				}
				all = append(all, a.items...)
			}
			return arrayValue(all)
		}
		text := ""
		for _, a := range args {
			text += textOf(a)
		}
		return composed(text)
	},
	"format":  formatted,
	"tolower": onText(strings.ToLower),
	"toupper": onText(strings.ToUpper),
	"trim":    onText(strings.TrimSpace),
	"string": func(args []*node) *node {
		if len(args) != 1 || args[0].kind >= kindArray {
			return nil
		}
		return composed(textOf(args[0]))
	},
	"replace": func(args []*node) *node {
		if len(args) != 3 {
			return nil
		}
		if textOf(args[1]) == "" {
			return unknownValue(noNeedle)
		}
		return composed(strings.ReplaceAll(textOf(args[0]), textOf(args[1]), textOf(args[2])))
	},
	"split": func(args []*node) *node {
		if len(args) != 2 {
			return nil
		}
		var parts []*node
		for part := range strings.SplitSeq(textOf(args[0]), textOf(args[1])) {
			parts = append(parts, composed(part))
		}
		return arrayValue(parts)
	},
	"join": func(args []*node) *node {
		if len(args) != 2 {
			return nil
		}
		if args[0].kind != kindArray {
			return unknownOf(args)
		}
		var parts []string
		for _, item := range args[0].items {
			parts = append(parts, textOf(item))
		}
		return composed(strings.Join(parts, textOf(args[1])))
	},
	"length": func(args []*node) *node {
		if len(args) != 1 || args[0].unknown != "" {
			return unknownOf(args)
		}
		return numberValue(int64(lengthOf(args[0])))
	},
	"first": func(args []*node) *node { return part(args, 0, 1) },
	"last":  func(args []*node) *node { return part(args, -1, 1) },
	"union": func(args []*node) *node {
		if len(args) == 0 {
			return nil
		}
		all := &node{kind: args[0].kind}
		for _, a := range args {
			if a.unknown != "" {
				return unknownValue(a.unknown)
			}
			if len(all.items)+len(all.members)+len(a.items)+len(a.members) > maxARMMembers {
				return nil
			}
			for _, item := range a.items {
				if !slices.ContainsFunc(all.items, func(x *node) bool { return equalNodes(x, item) }) {
					all.items = append(all.items, item)
				}
			}
			for _, m := range a.members {
				all = all.with(m.key, m.value)
			}
		}
		return all
	},
}

// unknownOf returns an argument that is not known, for a function that can't do without; nil if all are.
func unknownOf(args []*node) *node {
	for _, a := range args {
		if a.unknown != "" {
			return unknownValue(a.unknown)
		}
	}
	return nil
}

// part returns an item of an array, or a character of a text.
func part(args []*node, at, n int) *node {
	if len(args) != 1 || args[0].unknown != "" && args[0].kind != kindArray {
		return unknownOf(args)
	}
	length := lengthOf(args[0])
	if at < 0 {
		at += length
	}
	switch {
	case length == 0:
		return &node{}
	case args[0].kind == kindArray:
		return args[0].items[at]
	}
	return textValue(string([]rune(args[0].text)[at : at+n]))
}

func lengthOf(n *node) int {
	switch n.kind {
	case kindArray:
		return len(n.items)
	case kindObject:
		return len(n.members)
	}
	return utf8.RuneCountInString(n.text)
}

// onText returns a function of one text.
func onText(change func(string) string) func([]*node) *node {
	return func(args []*node) *node {
		if len(args) != 1 || args[0].kind != kindString {
			return nil
		}
		return composed(change(args[0].text))
	}
}

// formatted is format(): {0} stands for the first argument behind the text, {{ for a brace.
func formatted(args []*node) *node {
	if len(args) == 0 || args[0].kind != kindString {
		return nil
	}
	var b strings.Builder
	for form := args[0].text; form != ""; {
		switch {
		case strings.HasPrefix(form, "{{"), strings.HasPrefix(form, "}}"):
			b.WriteByte(form[0])
			form = form[2:]
		case form[0] == '{':
			number, rest, _ := strings.Cut(form[1:], "}")
			i, err := strconv.Atoi(number)
			if err != nil || i < 0 || i+1 >= len(args) {
				return unknownValue("format() has " + quote("{"+number+"}") + ", which is not known here")
			}
			b.WriteString(textOf(args[i+1]))
			form = rest
		default:
			b.WriteByte(form[0])
			form = form[1:]
		}
	}
	return composed(b.String())
}

// equalNodes is equals().
func equalNodes(a, b *node) bool {
	if a.kind != b.kind || a.boolean != b.boolean || len(a.items) != len(b.items) ||
		len(a.members) != len(b.members) || len(a.members) > maxARMMembers {
		return false
	}
	if a.kind == kindNumber {
		x, _ := wholeNumber(a)
		y, _ := wholeNumber(b)
		return x == y
	}
	for i := range a.items {
		if !equalNodes(a.items[i], b.items[i]) {
			return false
		}
	}
	for _, m := range a.members {
		if other := b.member(m.key); other == nil || !equalNodes(m.value, other) {
			return false
		}
	}
	return a.text == b.text
}

// order compares two numbers or two texts.
func order(args []*node) (sign int, ok bool) {
	if len(args) != 2 {
		return 0, false
	}
	x, isNumber := wholeNumber(args[0])
	y, both := wholeNumber(args[1])
	if isNumber && both {
		return cmp.Compare(x, y), true
	}
	return strings.Compare(args[0].text, args[1].text), args[0].kind == kindString && args[1].kind == kindString
}

func compared(good func(sign int) bool) func([]*node) *node {
	return func(args []*node) *node {
		sign, ok := order(args)
		if !ok {
			return nil
		}
		return boolValue(good(sign))
	}
}

// What an expression can't mean, in Azure either: an error wherever it stands.
const (
	divides   = "it divides by zero"
	overflows = "its result has more than 64 bits"
	noNeedle  = "replace() has no text to look for"
)

// isFault reports whether a value is unknown because of one of those.
func isFault(why string) bool { return why == divides || why == overflows || why == noNeedle }

// arithmetic returns a function of two numbers. f says what is wrong with them.
func arithmetic(f func(x, y int64) (result int64, wrong string)) func([]*node) *node {
	return func(args []*node) *node {
		if len(args) != 2 {
			return nil
		}
		x, ok := wholeNumber(args[0])
		y, both := wholeNumber(args[1])
		if !ok || !both {
			return nil
		}
		n, wrong := f(x, y)
		if wrong != "" {
			return unknownValue(wrong)
		}
		return numberValue(n)
	}
}

// exactly is arithmetic whose result may have too many bits.
func exactly(f func(result, x, y *big.Int) *big.Int) func([]*node) *node {
	return arithmetic(func(x, y int64) (int64, string) {
		n := f(new(big.Int), big.NewInt(x), big.NewInt(y))
		if !n.IsInt64() {
			return 0, overflows
		}
		return n.Int64(), ""
	})
}

// divided is arithmetic that divides by the second number.
func divided(f func(result, x, y *big.Int) *big.Int) func([]*node) *node {
	divide := exactly(f)
	return func(args []*node) *node {
		if len(args) == 2 {
			if y, ok := wholeNumber(args[1]); ok && y == 0 {
				return unknownValue(divides)
			}
		}
		return divide(args)
	}
}
