package config

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// functions are those whose arguments must all be known. They return nil for arguments that they don't take.
var functions = map[string]func([]*node) *node{
	"true":  func([]*node) *node { return boolValue(true) },
	"false": func([]*node) *node { return boolValue(false) },
	"null":  func([]*node) *node { return &node{} },
	"not": func(args []*node) *node {
		if len(args) != 1 {
			return nil
		}
		return boolValue(!truth(args[0]))
	},
	"and": func(args []*node) *node {
		return boolValue(!slices.ContainsFunc(args, func(n *node) bool { return !truth(n) }))
	},
	"or": func(args []*node) *node { return boolValue(slices.ContainsFunc(args, truth)) },
	"equals": func(args []*node) *node {
		if len(args) != 2 {
			return nil
		}
		return boolValue(equalNodes(args[0], args[1]))
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
	"min":             arithmetic(func(x, y int64) (int64, string) { return min(x, y), "" }),
	"max":             arithmetic(func(x, y int64) (int64, string) { return max(x, y), "" }),
	"int": func(args []*node) *node {
		if len(args) != 1 {
			return nil
		}
		n, err := strconv.ParseInt(args[0].text, 10, 64)
		if err != nil {
			return nil
		}
		return numberValue(n)
	},
	"bool": func(args []*node) *node {
		if len(args) != 1 {
			return nil
		}
		return boolValue(truth(args[0]) || args[0].text == "1")
	},
	"json": func(args []*node) *node {
		if len(args) != 1 || args[0].kind != kindString {
			return nil
		}
		n, err := parseJSON(args[0].text)
		if err != nil {
			return nil
		}
		n.weighAll()
		return n
	},
	"empty": func(args []*node) *node {
		return boolValue(len(args) == 0 || args[0].kind == kindNull || lengthOf(args[0]) == 0)
	},
	"contains": func(args []*node) *node {
		if len(args) != 2 {
			return nil
		}
		switch in := args[0]; in.kind {
		case kindArray:
			return boolValue(slices.ContainsFunc(in.items, func(n *node) bool { return equalNodes(n, args[1]) }))
		case kindObject:
			return boolValue(in.member(args[1].text) != nil)
		}
		return boolValue(strings.Contains(args[0].text, args[1].text))
	},
	"startswith": func(args []*node) *node {
		if len(args) != 2 {
			return nil
		}
		return boolValue(strings.HasPrefix(strings.ToLower(args[0].text), strings.ToLower(args[1].text)))
	},
	"endswith": func(args []*node) *node {
		if len(args) != 2 {
			return nil
		}
		return boolValue(strings.HasSuffix(strings.ToLower(args[0].text), strings.ToLower(args[1].text)))
	},
	"indexof":     found(strings.Index),
	"lastindexof": found(strings.LastIndex),
	"indexfromend": func(args []*node) *node {
		if len(args) != 2 || args[0].kind != kindArray {
			return nil
		}
		n, ok := wholeNumber(args[1])
		if !ok || n < 1 || n > int64(len(args[0].items)) {
			return nil
		}
		return args[0].items[int64(len(args[0].items))-n]
	},
	"padleft":   padLeft,
	"take":      func(args []*node) *node { return cutPart(args, func(n, length int) (int, int) { return 0, n }) },
	"skip":      func(args []*node) *node { return cutPart(args, func(n, length int) (int, int) { return n, length }) },
	"substring": substring,
	"range": func(args []*node) *node {
		if len(args) != 2 {
			return nil
		}
		from, ok := wholeNumber(args[0])
		count, both := wholeNumber(args[1])
		if !ok || !both || count < 0 || count > 10_000 || from > math.MaxInt64-count {
			return nil
		}
		var all []*node
		for i := range count {
			all = append(all, numberValue(from+i))
		}
		return arrayValue(all)
	},
	"array": func(args []*node) *node {
		if len(args) == 1 && args[0].kind == kindArray {
			return args[0]
		}
		return arrayValue(args)
	},
	"items": func(args []*node) *node {
		if len(args) != 1 || args[0].kind != kindObject {
			return nil
		}
		members := slices.Clone(args[0].members)
		slices.SortFunc(members, func(a, b member) int {
			return strings.Compare(strings.ToLower(a.key), strings.ToLower(b.key))
		})
		var all []*node
		for _, m := range members {
			item := &node{kind: kindObject}
			item.put("key", textValue(m.key))
			item.put("value", m.value)
			item.weight = 3 + m.value.weight
			all = append(all, item)
		}
		return arrayValue(all)
	},
}

// weighAll weighs a value that was read whole.
func (n *node) weighAll() {
	n.weight = 1 + len(n.text)/64
	for _, item := range n.items {
		item.weighAll()
		n.weight += item.weight
	}
	for _, m := range n.members {
		m.value.weighAll()
		n.weight += m.value.weight
	}
}

// cutPart returns some of the items or characters, as take() and skip() do.
func cutPart(args []*node, ends func(n, length int) (from, to int)) *node {
	if len(args) != 2 {
		return nil
	}
	n, ok := wholeNumber(args[1])
	if !ok || args[0].kind != kindArray && args[0].kind != kindString {
		return nil
	}
	length := lengthOf(args[0])
	from, to := ends(int(min(max(n, 0), int64(length))), length)
	if args[0].kind == kindArray {
		return arrayValue(args[0].items[from:to])
	}
	return textValue(string([]rune(args[0].text)[from:to]))
}

// found is a function that looks for a text in another, in upper and lower case.
func found(index func(text, part string) int) func([]*node) *node {
	return func(args []*node) *node {
		if len(args) != 2 || args[0].kind != kindString || args[1].kind != kindString {
			return nil
		}
		text := strings.ToLower(args[0].text)
		at := index(text, strings.ToLower(args[1].text))
		if at > 0 {
			at = utf8.RuneCountInString(text[:at])
		}
		return numberValue(int64(at))
	}
}

func padLeft(args []*node) *node {
	if len(args) < 2 || args[0].kind > kindString {
		return nil
	}
	text, with := textOf(args[0]), " "
	if len(args) > 2 {
		with = textOf(args[2])
	}
	length, ok := wholeNumber(args[1])
	if !ok || length < 0 || length > maxARMText || utf8.RuneCountInString(with) != 1 {
		return nil
	}
	return textValue(strings.Repeat(with, max(0, int(length)-utf8.RuneCountInString(text))) + text)
}

func substring(args []*node) *node {
	if len(args) < 2 || args[0].kind != kindString {
		return nil
	}
	text := []rune(args[0].text)
	from, ok := wholeNumber(args[1])
	count := int64(len(text)) - from
	if len(args) > 2 {
		count, _ = wholeNumber(args[2])
	}
	if !ok || from < 0 || count < 0 || from > int64(len(text)) || count > int64(len(text))-from {
		return nil
	}
	return textValue(string(text[from : from+count]))
}
