package template

import (
	"cmp"
	"strconv"
	"strings"

	"minibus/internal/jsontree"
)

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

// unknownOf returns an argument that is not known, for a function that can't do without; nil if all are.
func unknownOf(args []*Node) *Node {
	for _, a := range args {
		if a.Unknown != "" {
			return Unknown(a.Unknown)
		}
	}
	return nil
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

// Unplace forgets where a value stands: it is not in the template.
func Unplace(n *Node) {
	n.Pos, n.Path = jsontree.Position{}, ""
	for _, item := range n.Items {
		Unplace(item)
	}
	for _, m := range n.Members {
		Unplace(m.Value)
	}
}
