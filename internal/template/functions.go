package template

import (
	"encoding/base64"
	"math"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"minibus/internal/jsontree"
)

// functions are those whose arguments must all be known. They return nil for arguments that they don't take.
var functions = map[string]func([]*Node) *Node{
	"true":  func([]*Node) *Node { return boolValue(true) },
	"false": func([]*Node) *Node { return boolValue(false) },
	"null":  func([]*Node) *Node { return &Node{} },
	"not": func(args []*Node) *Node {
		if len(args) != 1 {
			return nil
		}
		return boolValue(!Truth(args[0]))
	},
	"less":            compared(func(sign int) bool { return sign < 0 }),
	"lessorequals":    compared(func(sign int) bool { return sign <= 0 }),
	"greater":         compared(func(sign int) bool { return sign > 0 }),
	"greaterorequals": compared(func(sign int) bool { return sign >= 0 }),
	"add":             exactly((*big.Int).Add),
	"sub":             exactly((*big.Int).Sub),
	"mul":             exactly((*big.Int).Mul),
	"div":             divided((*big.Int).Quo),
	"mod":             divided((*big.Int).Rem),
	"min":             extreme(func(x, y int64) int64 { return min(x, y) }),
	"max":             extreme(func(x, y int64) int64 { return max(x, y) }),
	"int": func(args []*Node) *Node {
		if len(args) != 1 {
			return nil
		}
		n, err := strconv.ParseInt(args[0].Text, 10, 64)
		if err != nil {
			return nil
		}
		return numberValue(n)
	},
	"bool": func(args []*Node) *Node {
		if len(args) != 1 {
			return nil
		}
		return boolValue(Truth(args[0]) || args[0].Text == "1")
	},
	"json": func(args []*Node) *Node {
		if len(args) != 1 || args[0].Kind != jsontree.String {
			return nil
		}
		n, err := jsontree.ParseUpTo(args[0].Text, maxWeight)
		if err != nil {
			return nil
		}
		Unplace(n)
		Weigh(n)
		return n
	},
	"empty": func(args []*Node) *Node {
		return boolValue(len(args) == 0 || args[0].Kind == jsontree.Null || lengthOf(args[0]) == 0)
	},
	"startswith": func(args []*Node) *Node {
		if len(args) != 2 {
			return nil
		}
		return boolValue(strings.HasPrefix(strings.ToLower(args[0].Text), strings.ToLower(args[1].Text)))
	},
	"endswith": func(args []*Node) *Node {
		if len(args) != 2 {
			return nil
		}
		return boolValue(strings.HasSuffix(strings.ToLower(args[0].Text), strings.ToLower(args[1].Text)))
	},
	"indexof":      found(strings.Index),
	"lastindexof":  found(strings.LastIndex),
	"indexfromend": indexFromEnd,
	"tryindexfromend": func(args []*Node) *Node {
		if n := indexFromEnd(args); n != nil {
			return n
		}
		return &Node{}
	},
	"padleft":   padLeft,
	"take":      func(args []*Node) *Node { return cutPart(args, func(n, length int) (int, int) { return 0, n }) },
	"skip":      func(args []*Node) *Node { return cutPart(args, func(n, length int) (int, int) { return n, length }) },
	"substring": substring,
	"range": func(args []*Node) *Node {
		if len(args) != 2 {
			return nil
		}
		from, ok := jsontree.Whole(args[0])
		count, both := jsontree.Whole(args[1])
		if !ok || !both || count < 0 || count > 10_000 || from > math.MaxInt64-count {
			return nil
		}
		var all []*Node
		for i := range count {
			all = append(all, numberValue(from+i))
		}
		return arrayValue(all)
	},
	"array": func(args []*Node) *Node {
		if len(args) == 1 && args[0].Kind == jsontree.Array {
			return args[0]
		}
		return arrayValue(args)
	},
	"flatten": func(args []*Node) *Node {
		if len(args) != 1 || args[0].Kind != jsontree.Array {
			return nil
		}
		all := arrayValue(nil)
		for _, item := range args[0].Items {
			if item.Kind == jsontree.Array {
				all.Items = append(all.Items, item.Items...)
			} else {
				all.Items = append(all.Items, item)
			}
		}
		return all
	},
	"objectkeys": func(args []*Node) *Node {
		if len(args) != 1 || args[0].Kind != jsontree.Object {
			return nil
		}
		all := arrayValue(nil)
		for _, m := range args[0].Members {
			all.Items = append(all.Items, textValue(m.Key))
		}
		return all
	},
	"guid":         guid,
	"uniquestring": uniqueString,
	"base64":       onText(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
	"base64tostring": func(args []*Node) *Node {
		text, ok := decoded(args)
		if !ok {
			return nil
		}
		return textValue(text)
	},
	"base64tojson": func(args []*Node) *Node {
		text, ok := decoded(args)
		if !ok {
			return nil
		}
		n, err := jsontree.ParseUpTo(text, maxWeight)
		if err != nil {
			return nil
		}
		Unplace(n)
		Weigh(n)
		return n
	},
	"uricomponent": onText(func(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }),
	"uricomponenttostring": func(args []*Node) *Node {
		if len(args) != 1 {
			return nil
		}
		text, err := url.PathUnescape(args[0].Text)
		if err != nil {
			return nil
		}
		return textValue(text)
	},
	"uri": func(args []*Node) *Node {
		if len(args) != 2 {
			return nil
		}
		base, err := url.Parse(args[0].Text)
		if err != nil {
			return nil
		}
		whole, err := base.Parse(args[1].Text)
		if err != nil {
			return nil
		}
		return textValue(whole.String())
	},
	"datetimeadd":       dateTimeAdd,
	"datetimefromepoch": dateTimeFromEpoch,
	"datetimetoepoch":   dateTimeToEpoch,
	"items": func(args []*Node) *Node {
		if len(args) != 1 || args[0].Kind != jsontree.Object {
			return nil
		}
		members := slices.Clone(args[0].Members)
		slices.SortFunc(members, func(a, b jsontree.Member) int {
			return strings.Compare(strings.ToLower(a.Key), strings.ToLower(b.Key))
		})
		var all []*Node
		for _, m := range members {
			item := &Node{Kind: jsontree.Object}
			item.Put("key", textValue(m.Key))
			item.Put("value", m.Value)
			item.Weight = 3 + m.Value.Weight
			all = append(all, item)
		}
		return arrayValue(all)
	},
}

// measured are those of them that compare values with each other.
var measured = map[string]func(*Budget, []*Node) *Node{
	"equals": func(b *Budget, args []*Node) *Node {
		if len(args) != 2 {
			return nil
		}
		return boolValue(b.equal(args[0], args[1]))
	},
	"contains": func(b *Budget, args []*Node) *Node {
		if len(args) != 2 {
			return nil
		}
		switch in := args[0]; in.Kind {
		case jsontree.Array:
			return boolValue(slices.ContainsFunc(in.Items, func(n *Node) bool { return b.equal(n, args[1]) }))
		case jsontree.Object:
			b.search(args[1].Text, len(in.Members))
			return boolValue(in.Member(args[1].Text) != nil)
		}
		return boolValue(strings.Contains(args[0].Text, args[1].Text))
	},
	"intersection": intersection,
}

// unmeasured returns a function that takes no more work than its arguments and its result have.
func unmeasured(f func([]*Node) *Node) func(*Budget, []*Node) *Node {
	return func(_ *Budget, args []*Node) *Node { return f(args) }
}

// acceptUnknown are the functions whose result may have unknown parts in it. They return nil for arguments that they
// don't take.
var acceptUnknown = map[string]func(*Budget, []*Node) *Node{
	"concat": func(b *Budget, args []*Node) *Node {
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
		parts, ok := texts(args)
		if !ok {
			return Unknown(tooLarge)
		}
		return joinedTexts(parts, "")
	},
	"createarray": func(b *Budget, args []*Node) *Node { return arrayValue(args) },
	"createobject": func(b *Budget, args []*Node) *Node {
		if len(args)%2 != 0 {
			return nil
		}
		n := &Node{Kind: jsontree.Object}
		for i := 0; i < len(args); i += 2 {
			n.Put(TextOf(args[i]), args[i+1])
		}
		return n
	},
	"format":  unmeasured(formatted),
	"tolower": unmeasured(onText(strings.ToLower)),
	"toupper": unmeasured(onText(strings.ToUpper)),
	"trim":    unmeasured(onText(strings.TrimSpace)),
	"string": func(b *Budget, args []*Node) *Node {
		if len(args) != 1 {
			return nil
		}
		return Composed(TextOf(args[0]))
	},
	"replace": func(b *Budget, args []*Node) *Node {
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
	"split": func(b *Budget, args []*Node) *Node {
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
	"join": func(b *Budget, args []*Node) *Node {
		if len(args) != 2 {
			return nil
		}
		if args[0].Kind != jsontree.Array {
			return unknownOf(args)
		}
		parts, ok := texts(args[0].Items)
		if !ok {
			return Unknown(tooLarge)
		}
		return joinedTexts(parts, TextOf(args[1]))
	},
	"length": func(b *Budget, args []*Node) *Node {
		if len(args) != 1 || args[0].Unknown != "" {
			return unknownOf(args)
		}
		return numberValue(int64(lengthOf(args[0])))
	},
	"first": func(b *Budget, args []*Node) *Node { return part(args, 0, 1) },
	"last":  func(b *Budget, args []*Node) *Node { return part(args, -1, 1) },
	"union": func(b *Budget, args []*Node) *Node { return union(b, args, true) },
	"shallowmerge": func(b *Budget, args []*Node) *Node {
		if len(args) != 1 || args[0].Kind != jsontree.Array {
			return unknownOf(args)
		}
		return union(b, args[0].Items, false)
	},
}
