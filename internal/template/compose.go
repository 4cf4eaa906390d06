package template

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"minibus/internal/jsontree"
	"minibus/internal/printable"
)

// clip shortens a user's text for a message.
func clip(s string) string { return printable.Clip(s, 60) }

// quote returns a user's text in quotes, for a message.
func quote(s string) string { return strconv.Quote(clip(s)) }

func textValue(s string) *Node { return &Node{Kind: jsontree.String, Text: s} }

func boolValue(b bool) *Node { return &Node{Kind: jsontree.Bool, Bool: b} }

func numberValue(n int64) *Node { return &Node{Kind: jsontree.Number, Text: strconv.FormatInt(n, 10)} }

func arrayValue(items []*Node) *Node { return &Node{Kind: jsontree.Array, Items: items} }

// TextOf returns a value as text, as string() does: arrays and objects as JSON.
func TextOf(n *Node) string {
	switch n.Kind {
	case jsontree.Bool:
		if n.Bool {
			return "True"
		}
		return "False"
	case jsontree.Null:
		return ""
	case jsontree.Array, jsontree.Object:
		text, _ := n.MarshalJSON() // it never fails
		return string(text)
	}
	return n.Text
}

// Truth reports whether a value counts as true.
func Truth(n *Node) bool {
	return n.Kind == jsontree.Bool && n.Bool || n.Kind == jsontree.String && strings.EqualFold(n.Text, "true")
}

// Composed returns a text that is made of others, some of which may be unknown.
func Composed(text string) *Node {
	n := textValue(text)
	n.Unknown = UnknownIn(text)
	return n
}

// composing are the functions whose result may have unknown parts in it. They return nil for arguments that they don't
// take.
var composing = map[string]func([]*Node) *Node{
	"concat": func(args []*Node) *Node {
		if len(args) > 0 && args[0].Kind == jsontree.Array {
			var all []*Node
			for _, a := range args {
				if a.Kind != jsontree.Array {
					return unknownOf([]*Node{a})
				}
				all = append(all, a.Items...)
			}
			return arrayValue(all)
		}
		var parts []string
		for _, a := range args {
			parts = append(parts, TextOf(a))
		}
		return joinedTexts(parts, "")
	},
	"createarray": func(args []*Node) *Node { return arrayValue(args) },
	"createobject": func(args []*Node) *Node {
		if len(args)%2 != 0 {
			return nil
		}
		n := &Node{Kind: jsontree.Object}
		for i := 0; i < len(args); i += 2 {
			n.Put(TextOf(args[i]), args[i+1])
		}
		return n
	},
	"format":  formatted,
	"tolower": onText(strings.ToLower),
	"toupper": onText(strings.ToUpper),
	"trim":    onText(strings.TrimSpace),
	"string": func(args []*Node) *Node {
		if len(args) != 1 {
			return nil
		}
		return Composed(TextOf(args[0]))
	},
	"replace": func(args []*Node) *Node {
		if len(args) != 3 {
			return nil
		}
		text, old, with := TextOf(args[0]), TextOf(args[1]), TextOf(args[2])
		switch {
		case old == "":
			return Unknown(noNeedle)
		case len(text)+strings.Count(text, old)*len(with) > 2*maxText:
			return Unknown(tooLarge)
		}
		return Composed(strings.ReplaceAll(text, old, with))
	},
	"split": func(args []*Node) *Node {
		if len(args) != 2 {
			return nil
		}
		delimiters := []string{TextOf(args[1])}
		if args[1].Kind == jsontree.Array {
			delimiters = nil
			for _, d := range args[1].Items {
				delimiters = append(delimiters, TextOf(d))
			}
		}
		texts := []string{TextOf(args[0])}
		for _, d := range delimiters {
			var parts []string
			for _, text := range texts {
				if len(parts)+strings.Count(text, d) > maxWeight {
					return Unknown(tooLarge)
				}
				parts = append(parts, strings.Split(text, d)...)
			}
			texts = parts
		}
		var parts []*Node
		for _, text := range texts {
			parts = append(parts, Composed(text))
		}
		return arrayValue(parts)
	},
	"join": func(args []*Node) *Node {
		if len(args) != 2 {
			return nil
		}
		if args[0].Kind != jsontree.Array {
			return unknownOf(args)
		}
		var parts []string
		for _, item := range args[0].Items {
			parts = append(parts, TextOf(item))
		}
		return joinedTexts(parts, TextOf(args[1]))
	},
	"length": func(args []*Node) *Node {
		if len(args) != 1 || args[0].Unknown != "" {
			return unknownOf(args)
		}
		return numberValue(int64(lengthOf(args[0])))
	},
	"first": func(args []*Node) *Node { return part(args, 0, 1) },
	"last":  func(args []*Node) *Node { return part(args, -1, 1) },
	"union": func(args []*Node) *Node { return union(args, true) },
	"shallowmerge": func(args []*Node) *Node {
		if len(args) != 1 || args[0].Kind != jsontree.Array {
			return unknownOf(args)
		}
		return union(args[0].Items, false)
	},
}

// joinedTexts joins texts, unless that becomes too large.
func joinedTexts(parts []string, separator string) *Node {
	length := len(separator) * len(parts)
	for _, part := range parts {
		length += len(part)
	}
	if length > 2*maxText {
		return Unknown(tooLarge)
	}
	return Composed(strings.Join(parts, separator))
}

// union returns the items or members of all. deep: objects in objects are united too.
func union(args []*Node, deep bool) *Node {
	if len(args) == 0 {
		return nil
	}
	all := &Node{Kind: args[0].Kind}
	for _, a := range args {
		switch {
		case a.Unknown != "":
			return Unknown(a.Unknown)
		case a.Kind == jsontree.Null:
			continue
		case all.Kind == jsontree.Null:
			all.Kind = a.Kind
		}
		if a.Kind != all.Kind || a.Kind < jsontree.Array ||
			len(all.Items)+len(all.Members)+len(a.Items)+len(a.Members) > maxMembers {
			return nil
		}
		for _, item := range a.Items {
			if !slices.ContainsFunc(all.Items, func(x *Node) bool { return Equal(x, item) }) {
				all.Items = append(all.Items, item)
			}
		}
		for _, m := range a.Members {
			at := slices.IndexFunc(all.Members, func(x jsontree.Member) bool { return strings.EqualFold(x.Key, m.Key) })
			switch {
			case at < 0:
				all.Members = append(all.Members, m)
				continue
			case deep && all.Members[at].Value.Kind == jsontree.Object && m.Value.Kind == jsontree.Object:
				if m.Value = union([]*Node{all.Members[at].Value, m.Value}, true); m.Value == nil {
					return nil
				}
			}
			all.Members[at].Value = m.Value
		}
	}
	Weigh(all)
	return all
}

// unknownOf returns an argument that is not known, for a function that can't do without; nil if all are.
func unknownOf(args []*Node) *Node {
	for _, a := range args {
		if a.Unknown != "" {
			return Unknown(a.Unknown)
		}
	}
	return nil
}

// part returns an item of an array, or a character of a text.
func part(args []*Node, at, n int) *Node {
	if len(args) != 1 || args[0].Unknown != "" && args[0].Kind != jsontree.Array {
		return unknownOf(args)
	}
	length := lengthOf(args[0])
	if at < 0 {
		at += length
	}
	switch {
	case length == 0 && args[0].Kind == jsontree.String:
		return textValue("")
	case length == 0:
		return &Node{}
	case args[0].Kind == jsontree.Array:
		return args[0].Items[at]
	}
	return textValue(string([]rune(args[0].Text)[at : at+n]))
}

func lengthOf(n *Node) int {
	switch n.Kind {
	case jsontree.Array:
		return len(n.Items)
	case jsontree.Object:
		return len(n.Members)
	}
	return utf8.RuneCountInString(n.Text)
}

// onText returns a function of one text.
func onText(change func(string) string) func([]*Node) *Node {
	return func(args []*Node) *Node {
		if len(args) != 1 || args[0].Kind != jsontree.String {
			return nil
		}
		return Composed(change(args[0].Text))
	}
}

// formatted is format(): {0} stands for the first argument behind the text, {{ for a brace.
func formatted(args []*Node) *Node {
	if len(args) == 0 || args[0].Kind != jsontree.String {
		return nil
	}
	var b strings.Builder
	for form := args[0].Text; form != ""; {
		switch {
		case strings.HasPrefix(form, "{{"), strings.HasPrefix(form, "}}"):
			b.WriteByte(form[0])
			form = form[2:]
		case form[0] == '{':
			place, rest, _ := strings.Cut(form[1:], "}")
			number, style, _ := strings.Cut(place, ":")
			i, err := strconv.Atoi(number)
			if err != nil || i < 0 || i+1 >= len(args) {
				return Unknown(badFormat(place))
			}
			text, ok := styled(args[i+1], style)
			if !ok {
				return Unknown(badFormat(place))
			}
			if b.Len()+len(text) > 2*maxText {
				return Unknown(tooLarge)
			}
			b.WriteString(text)
			form = rest
		default:
			b.WriteByte(form[0])
			form = form[1:]
		}
	}
	return Composed(b.String())
}

func badFormat(place string) string {
	return "format() has " + quote("{"+place+"}") + ", which is not known here"
}

// styled returns a value as format() writes it: D4 is a number with four digits, X one in hexadecimal.
func styled(n *Node, style string) (text string, ok bool) {
	if style == "" {
		return TextOf(n), true
	}
	number, whole := jsontree.Whole(n)
	digits, err := strconv.Atoi("0" + style[1:])
	if !whole || err != nil || digits > 99 {
		return "", false
	}
	switch style[0] {
	case 'D', 'd':
		if number < 0 {
			digits++
		}
		return fmt.Sprintf("%0*d", digits, number), true
	case 'X':
		return fmt.Sprintf("%0*X", digits, uint64(number)), true
	case 'x':
		return fmt.Sprintf("%0*x", digits, uint64(number)), true
	}
	return "", false
}

// Equal is equals().
func Equal(a, b *Node) bool {
	if a.Kind != b.Kind || a.Bool != b.Bool || len(a.Items) != len(b.Items) ||
		len(a.Members) != len(b.Members) || len(a.Members) > maxMembers {
		return false
	}
	if a.Kind == jsontree.Number {
		x, _ := jsontree.Whole(a)
		y, _ := jsontree.Whole(b)
		return x == y
	}
	for i := range a.Items {
		if !Equal(a.Items[i], b.Items[i]) {
			return false
		}
	}
	for _, m := range a.Members {
		if other := b.Member(m.Key); other == nil || !Equal(m.Value, other) {
			return false
		}
	}
	return a.Text == b.Text
}

// order compares two numbers or two texts.
func order(args []*Node) (sign int, ok bool) {
	if len(args) != 2 {
		return 0, false
	}
	x, isNumber := jsontree.Whole(args[0])
	y, both := jsontree.Whole(args[1])
	if isNumber && both {
		return cmp.Compare(x, y), true
	}
	texts := args[0].Kind == jsontree.String && args[1].Kind == jsontree.String
	return strings.Compare(args[0].Text, args[1].Text), texts
}

func compared(good func(sign int) bool) func([]*Node) *Node {
	return func(args []*Node) *Node {
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

// IsFault reports whether a value is unknown because of one of those.
func IsFault(why string) bool { return why == divides || why == overflows || why == noNeedle }

// arithmetic returns a function of two numbers. f says what is wrong with them.
func arithmetic(f func(x, y int64) (result int64, wrong string)) func([]*Node) *Node {
	return func(args []*Node) *Node {
		if len(args) != 2 {
			return nil
		}
		x, ok := jsontree.Whole(args[0])
		y, both := jsontree.Whole(args[1])
		if !ok || !both {
			return nil
		}
		n, wrong := f(x, y)
		if wrong != "" {
			return Unknown(wrong)
		}
		return numberValue(n)
	}
}

// exactly is arithmetic whose result may have too many bits.
func exactly(f func(result, x, y *big.Int) *big.Int) func([]*Node) *Node {
	return arithmetic(func(x, y int64) (int64, string) {
		n := f(new(big.Int), big.NewInt(x), big.NewInt(y))
		if !n.IsInt64() {
			return 0, overflows
		}
		return n.Int64(), ""
	})
}

// divided is arithmetic that divides by the second number.
func divided(f func(result, x, y *big.Int) *big.Int) func([]*Node) *Node {
	divide := exactly(f)
	return func(args []*Node) *Node {
		if len(args) == 2 {
			if y, ok := jsontree.Whole(args[1]); ok && y == 0 {
				return Unknown(divides)
			}
		}
		return divide(args)
	}
}
