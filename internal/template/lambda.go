package template

import (
	"slices"
	"strings"

	"minibus/internal/jsontree"
)

// function is a lambda that can be called.
type function func(args ...*Node) *Node

// lambdaOf returns the lambda that an argument is, with the number of its variables; nil if it is none.
func (t *Template) lambdaOf(e *expression, l *locals) (f function, takes int) {
	if !strings.EqualFold(e.name, "lambda") || len(e.args) == 0 {
		return nil, 0
	}
	takes = len(e.args) - 1
	var names []string
	for _, a := range e.args[:takes] {
		names = append(names, t.value(a, l).Text)
	}
	return func(args ...*Node) *Node {
		inner := l
		for i, name := range names {
			inner = inner.with(name, args[i])
		}
		return t.value(e.args[takes], inner)
	}, takes
}

// overItems evaluates the first argument, a list, and the second, a lambda of at most so many variables. v is the
// result if there is nothing to go over; all of them are nil for what the function does not take.
func (t *Template) overItems(args []*expression, l *locals, kind jsontree.Kind, most int) (list *Node, f function,
	takes int, v *Node) {
	if len(args) < 2 {
		return nil, nil, 0, nil
	}
	list = t.value(args[0], l)
	f, takes = t.lambdaOf(args[1], l)
	switch {
	case list.Unknown != "":
		return nil, nil, 0, Unknown(list.Unknown)
	case list.Kind != kind || f == nil || takes < 1 || takes > most:
		return nil, nil, 0, nil
	}
	return list, f, takes, nil
}

// turn calls a lambda with an item and, if it takes two variables, its index.
func (f function) turn(takes int, item *Node, i int) *Node {
	if takes == 2 {
		return f(item, numberValue(int64(i)))
	}
	return f(item)
}

func mapArray(t *Template, args []*expression, l *locals) *Node {
	list, f, takes, v := t.overItems(args, l, jsontree.Array, 2)
	if list == nil {
		return v
	}
	all := arrayValue(nil)
	for i, item := range list.Items {
		all.Items = append(all.Items, f.turn(takes, item, i))
	}
	return all
}

func filterArray(t *Template, args []*expression, l *locals) *Node {
	list, f, takes, v := t.overItems(args, l, jsontree.Array, 2)
	if list == nil {
		return v
	}
	all := arrayValue(nil)
	for i, item := range list.Items {
		yes := f.turn(takes, item, i)
		if yes.Unknown != "" {
			return Unknown(yes.Unknown)
		}
		if Truth(yes) {
			all.Items = append(all.Items, item)
		}
	}
	return all
}

func mapValues(t *Template, args []*expression, l *locals) *Node {
	list, f, _, v := t.overItems(args, l, jsontree.Object, 1)
	if list == nil {
		return v
	}
	all := &Node{Kind: jsontree.Object}
	for _, m := range list.Members {
		all.Put(m.Key, f(m.Value))
	}
	return all
}

// reduceArray is reduce(list, first, lambda(so far, item[, index])).
func reduceArray(t *Template, args []*expression, l *locals) *Node {
	if len(args) != 3 {
		return nil
	}
	list, sofar := t.value(args[0], l), t.value(args[1], l)
	f, takes := t.lambdaOf(args[2], l)
	switch {
	case list.Unknown != "":
		return Unknown(list.Unknown)
	case list.Kind != jsontree.Array || f == nil || takes < 2 || takes > 3:
		return nil
	}
	for i, item := range list.Items {
		if takes == 3 {
			sofar = f(sofar, item, numberValue(int64(i)))
		} else {
			sofar = f(sofar, item)
		}
	}
	return sofar
}

// sortArray is sort(list, lambda(a, b)), which says whether a comes before b.
func sortArray(t *Template, args []*expression, l *locals) *Node {
	if len(args) != 2 {
		return nil
	}
	list := t.value(args[0], l)
	f, takes := t.lambdaOf(args[1], l)
	switch {
	case list.Unknown != "":
		return Unknown(list.Unknown)
	case list.Kind != jsontree.Array || len(list.Items) > maxMembers || f == nil || takes != 2:
		return nil
	}
	items, unknown := slices.Clone(list.Items), ""
	before := func(a, b *Node) bool {
		v := f(a, b)
		if v.Unknown != "" {
			unknown = v.Unknown
		}
		return Truth(v)
	}
	slices.SortStableFunc(items, func(a, b *Node) int {
		switch {
		case before(a, b):
			return -1
		case before(b, a):
			return 1
		}
		return 0
	})
	if unknown != "" {
		return Unknown(unknown)
	}
	return arrayValue(items)
}

// toObject is toObject(list, lambda(item) of the key[, lambda(item) of the value]).
func toObject(t *Template, args []*expression, l *locals) *Node {
	list, key, _, v := t.overItems(args, l, jsontree.Array, 1)
	if list == nil {
		return v
	}
	value := function(func(args ...*Node) *Node { return args[0] })
	if len(args) > 2 {
		f, takes := t.lambdaOf(args[2], l)
		if f == nil || takes != 1 {
			return nil
		}
		value = f
	}
	if len(list.Items) > maxMembers {
		return Unknown(tooLarge)
	}
	all := &Node{Kind: jsontree.Object}
	for _, item := range list.Items {
		k := TextOf(key(item))
		if !t.budget.search(k, len(all.Members)) {
			return Unknown(t.budget.Exceeded())
		}
		all = all.With(k, value(item))
	}
	return all
}

// groupBy is groupBy(list, lambda(item) of the key).
func groupBy(t *Template, args []*expression, l *locals) *Node {
	list, key, _, v := t.overItems(args, l, jsontree.Array, 1)
	if list == nil {
		return v
	}
	if len(list.Items) > maxMembers {
		return Unknown(tooLarge)
	}
	all := &Node{Kind: jsontree.Object}
	for _, item := range list.Items {
		k := TextOf(key(item))
		if !t.budget.search(k, len(all.Members)) {
			return Unknown(t.budget.Exceeded())
		}
		group := all.Member(k)
		if group == nil {
			group = arrayValue(nil)
			all.Put(k, group)
		}
		group.Items = append(group.Items, item)
	}
	return all
}
