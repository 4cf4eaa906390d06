package template

import (
	"encoding/base64"
	"math"
	"math/big"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

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
	"equals": func(args []*Node) *Node {
		if len(args) != 2 {
			return nil
		}
		return boolValue(Equal(args[0], args[1]))
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
	"contains": func(args []*Node) *Node {
		if len(args) != 2 {
			return nil
		}
		switch in := args[0]; in.Kind {
		case jsontree.Array:
			return boolValue(slices.ContainsFunc(in.Items, func(n *Node) bool { return Equal(n, args[1]) }))
		case jsontree.Object:
			return boolValue(in.Member(args[1].Text) != nil)
		}
		return boolValue(strings.Contains(args[0].Text, args[1].Text))
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
	"intersection": intersection,
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

// found is a function that looks for a text in another, in upper and lower case.
func found(index func(text, part string) int) func([]*Node) *Node {
	return func(args []*Node) *Node {
		if len(args) != 2 || args[0].Kind != jsontree.String || args[1].Kind != jsontree.String {
			return nil
		}
		text := strings.ToLower(args[0].Text)
		at := index(text, strings.ToLower(args[1].Text))
		if at > 0 {
			at = utf8.RuneCountInString(text[:at])
		}
		return numberValue(int64(at))
	}
}

func padLeft(args []*Node) *Node {
	if len(args) < 2 || args[0].Kind > jsontree.String {
		return nil
	}
	text, with := TextOf(args[0]), " "
	if len(args) > 2 {
		with = TextOf(args[2])
	}
	length, ok := jsontree.Whole(args[1])
	if !ok || length < 0 || length > maxText || utf8.RuneCountInString(with) != 1 {
		return nil
	}
	return textValue(strings.Repeat(with, max(0, int(length)-utf8.RuneCountInString(text))) + text)
}

func substring(args []*Node) *Node {
	if len(args) < 2 || args[0].Kind != jsontree.String {
		return nil
	}
	text := []rune(args[0].Text)
	from, ok := jsontree.Whole(args[1])
	count := int64(len(text)) - from
	if len(args) > 2 {
		count, _ = jsontree.Whole(args[2])
	}
	if !ok || from < 0 || count < 0 || from > int64(len(text)) || count > int64(len(text))-from {
		return nil
	}
	return textValue(string(text[from : from+count]))
}

// indexFromEnd returns the last item of an array, or one before: the last is 1.
func indexFromEnd(args []*Node) *Node {
	if len(args) != 2 || args[0].Kind != jsontree.Array {
		return nil
	}
	n, ok := jsontree.Whole(args[1])
	if !ok || n < 1 || n > int64(len(args[0].Items)) {
		return nil
	}
	return args[0].Items[int64(len(args[0].Items))-n]
}

// extreme returns a function of numbers, or of an array of them.
func extreme(of func(x, y int64) int64) func([]*Node) *Node {
	return func(args []*Node) *Node {
		if len(args) == 1 && args[0].Kind == jsontree.Array {
			args = args[0].Items
		}
		if len(args) == 0 {
			return nil
		}
		most, ok := jsontree.Whole(args[0])
		for _, a := range args[1:] {
			n, whole := jsontree.Whole(a)
			ok = ok && whole
			most = of(most, n)
		}
		if !ok {
			return nil
		}
		return numberValue(most)
	}
}

// intersection returns what all arrays, or all objects, have.
func intersection(args []*Node) *Node {
	if len(args) == 0 || args[0].Kind < jsontree.Array {
		return nil
	}
	all := copyOf(args[0])
	for _, a := range args {
		if a.Kind != all.Kind || len(a.Items)+len(a.Members) > maxMembers {
			return nil
		}
		all.Items = slices.DeleteFunc(slices.Clone(all.Items), func(x *Node) bool {
			return !slices.ContainsFunc(a.Items, func(y *Node) bool { return Equal(x, y) })
		})
		all.Members = slices.DeleteFunc(slices.Clone(all.Members), func(x jsontree.Member) bool {
			y := a.Member(x.Key)
			return y == nil || !Equal(x.Value, y)
		})
	}
	return all
}

// decoded returns the text in one of base64.
func decoded(args []*Node) (text string, ok bool) {
	if len(args) != 1 || args[0].Kind != jsontree.String {
		return "", false
	}
	b, err := base64.StdEncoding.DecodeString(args[0].Text)
	return string(b), err == nil && utf8.Valid(b)
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
