package template

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"minibus/internal/jsontree"
)

// doubled returns variables v0 to vN, each of which has the one before twice.
func doubled(n int, first, form string) string {
	all := []string{`"v0": ` + first}
	for i := range n {
		all = append(all, fmt.Sprintf(`"v%d": "[`+form+`]"`, i+1, i))
	}
	return strings.Join(all, ", ")
}

// TestWorkIsCharged: what these would take is far more than the budget, which is not far below zero after them.
func TestWorkIsCharged(t *testing.T) {
	key := strings.Repeat("k", 4_000)
	var keys, short []string
	for i := range 500 {
		keys = append(keys, fmt.Sprintf(`"%s%04d": 1`, key, i))
		short = append(short, fmt.Sprintf(`"%d"`, i))
	}
	object, list := `{`+strings.Join(keys, ", ")+`}`, `[`+strings.Join(short, ", ")+`]`
	long := "if(true(), 1, concat(" + strings.Repeat("'aaaaaaaaaaaaaaaaaaaa', ", 1_000) + "''))"
	for name, bomb := range map[string]struct{ variables, functions, expression string }{
		"groups of groups": {doubled(40, `["a", "b"]`, "groupBy(createArray(variables('v%[2]d'), variables('v%[2]d')), lambda('i', 'k'))"),
			"", "length(string(variables('v40')))"},
		"objects of objects": {doubled(40, `{"a": 1}`, "toObject(createArray('a', 'b'), lambda('k', lambdaVariables('k')), lambda('k', variables('v%[2]d')))"),
			"", "length(string(variables('v40')))"},
		"a large key":     {`"o": {"` + strings.Repeat("k", 3_900_000) + `": 1}`, "", "length(concat(" + strings.Repeat("variables('o'), ", 1_000) + "''))"},
		"keys compared":   {`"o": ` + object, "", "map(range(0, 10000), lambda('i', equals(variables('o'), variables('o'))))"},
		"keys looked for": {`"o": ` + object, "", "map(range(0, 10000), lambda('i', variables('o')['" + key + "0499']))"},
		"items compared":  {`"l": ` + list, "", "map(range(0, 10000), lambda('i', union(variables('l'), variables('l'))))"},
		"items crossed":   {`"l": ` + list, "", "map(range(0, 10000), lambda('i', intersection(variables('l'), variables('l'))))"},
		"a long expression": {"", `{"namespace": "n", "members": {"f": {"parameters": [], "output": {"type": "int", "value": "[` + long + `]"}}}}`,
			"map(range(0, 1000), lambda('i', map(range(0, 1000), lambda('j', n.f()))))"},
		"turns": {"", "", "map(range(0, 10000), lambda('a', map(range(0, 10000), lambda('b', map(range(0, 10000), lambda('c', 1))))))"},
	} {
		budget := &Budget{Work: 100_000}
		tpl := New(parsed(t, `{"variables": {`+bomb.variables+`}, "functions": [`+bomb.functions+`]}`), nil, nil, budget)
		if got := evaluated(tpl, bomb.expression); got != "!"+tooLarge {
			t.Errorf("%s: %.80s", name, got)
		}
		if budget.Work < -200_000 {
			t.Errorf("%s: the work is at %d", name, budget.Work)
		}
	}
}

// TestEachTextIsParsedOnce however often it is evaluated.
func TestEachTextIsParsedOnce(t *testing.T) {
	budget := NewBudget()
	tpl := New(parsed(t, `{"functions": [{"namespace": "n", "members": {"f": {"parameters": [], "output": {"value": "[add(1, 1)]"}}}}]}`), nil, nil, budget)
	if got := evaluated(tpl, "map(range(0, 3), lambda('i', n.f()))"); got != `[2,2,2]` {
		t.Fatal(got)
	}
	if len(budget.parsed) != 2 {
		t.Errorf("%d expressions, want 2", len(budget.parsed))
	}
	if got := evaluated(tpl, "add(1"); got != evaluated(tpl, "add(1") || !strings.HasPrefix(got, "!it is no expression") {
		t.Error(got)
	}
}

// TestWorkEndsWithItsContext soon, and says so.
func TestWorkEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	turns := 0
	host := Host{"list": func(*Template, string, []*Node) *Node {
		if turns++; turns == 100 {
			cancel()
		}
		return numberValue(1)
	}}
	budget := NewBudget()
	budget.Context = ctx
	tpl := New(parsed(t, `{}`), nil, host, budget)
	if got := evaluated(tpl, "map(range(0, 10000), lambda('i', list('x')))"); got != "!"+tooLong {
		t.Errorf("%.80s", got)
	}
	if turns < 100 || turns > 100+often {
		t.Errorf("%d turns", turns)
	}
}

// TestObjectsAreEqualInAnyOrder also with keys in upper and lower case.
func TestObjectsAreEqualInAnyOrder(t *testing.T) {
	for pair, want := range map[[2]string]bool{
		{`{"a": 1, "b": [2]}`, `{"B": [2], "A": 1}`}: true,
		{`{"a": 1, "b": [2]}`, `{"a": 1, "b": [3]}`}: false,
		{`{"a": 1}`, `{"b": 1}`}:                     false,
		{`{}`, `[]`}:                                 false,
	} {
		if got := NewBudget().equal(parsed(t, pair[0]), parsed(t, pair[1])); got != want {
			t.Errorf("%v: %v", pair, got)
		}
	}
	if new(Budget).equal(&Node{Kind: jsontree.Object}, &Node{Kind: jsontree.Object}) {
		t.Error("equal without work")
	}
}
