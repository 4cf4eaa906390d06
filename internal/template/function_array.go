package template

import (
	"slices"
	"strings"
	"unicode/utf8"

	"minibus/internal/jsontree"
)

// union returns the items or members of all. deep: objects in objects are united too.
func union(b *Budget, args []*Node, deep bool) *Node {
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
			if !b.Spend(1) {
				return Unknown(b.Exceeded())
			}
			if !slices.ContainsFunc(all.Items, func(x *Node) bool { return b.equal(x, item) }) {
				all.Items = append(all.Items, item)
			}
		}
		for _, m := range a.Members {
			if !b.search(m.Key, len(all.Members)) {
				return Unknown(b.Exceeded())
			}
			at := slices.IndexFunc(all.Members, func(x jsontree.Member) bool { return strings.EqualFold(x.Key, m.Key) })
			switch {
			case at < 0:
				all.Members = append(all.Members, m)
				continue
			case deep && all.Members[at].Value.Kind == jsontree.Object && m.Value.Kind == jsontree.Object:
				if m.Value = union(b, []*Node{all.Members[at].Value, m.Value}, true); m.Value == nil {
					return nil
				}
			}
			all.Members[at].Value = m.Value
		}
	}
	return all
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

// cutPart returns some of the items or characters, as take() and skip() do.
func cutPart(args []*Node, ends func(n, length int) (from, to int)) *Node {
	if len(args) != 2 {
		return nil
	}
	n, ok := jsontree.Whole(args[1])
	if !ok || args[0].Kind != jsontree.Array && args[0].Kind != jsontree.String {
		return nil
	}
	length := lengthOf(args[0])
	from, to := ends(int(min(max(n, 0), int64(length))), length)
	if args[0].Kind == jsontree.Array {
		return arrayValue(args[0].Items[from:to])
	}
	return textValue(string([]rune(args[0].Text)[from:to]))
}

// intersection returns what all arrays, or all objects, have.
func intersection(b *Budget, args []*Node) *Node {
	if len(args) == 0 || args[0].Kind < jsontree.Array {
		return nil
	}
	all := copyOf(args[0])
	for _, a := range args {
		if a.Kind != all.Kind || len(a.Items)+len(a.Members) > maxMembers {
			return nil
		}
		all.Items = slices.DeleteFunc(slices.Clone(all.Items), func(x *Node) bool {
			return !b.Spend(1) || !slices.ContainsFunc(a.Items, func(y *Node) bool { return b.equal(x, y) })
		})
		all.Members = slices.DeleteFunc(slices.Clone(all.Members), func(x jsontree.Member) bool {
			b.search(x.Key, len(a.Members))
			y := a.Member(x.Key)
			return y == nil || !b.equal(x.Value, y)
		})
	}
	return all
}
