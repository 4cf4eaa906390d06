package template

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"minibus/internal/jsontree"
)

// parsed reads a document.
func parsed(t *testing.T, text string) *Node {
	t.Helper()
	n, err := jsontree.Parse(text)
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return n
}

// evaluated returns the value of an expression as JSON, or why it is unknown behind a !.
func evaluated(tpl *Template, expression string) string {
	v := tpl.Evaluate(&Node{Kind: jsontree.String, Text: "[" + expression + "]"})
	if u := FirstUnknown(v); u != nil {
		return "!" + u.Unknown
	}
	text, _ := v.MarshalJSON()
	return string(text)
}

// TestUniqueStringAndGuidAreAzures has the vectors that others have published.
func TestUniqueStringAndGuidAreAzures(t *testing.T) {
	tpl := New(parsed(t, `{}`), nil, nil, NewBudget())
	for expression, want := range map[string]string{
		"uniqueString('fu')":       `"6rkxbspxjmsho"`,
		"uniqueString('fubar')":    `"cj2xpqsiwjfne"`,
		"uniqueString('fu','bar')": `"q5wxoscxs5j6k"`,
		"uniqueString('/subscriptions/00000000-0000-0000-0000-000000000000','resource-id')": `"cwvxuqg24sifi"`,
		"guid('a', 'b', 'c')": `"` + uuid.NewSHA1(uuid.MustParse("11fb06fb-712d-4ddd-98c7-e71bbd588830"), []byte("a-b-c")).String() + `"`,
	} {
		if got := evaluated(tpl, expression); got != want {
			t.Errorf("%s = %s, want %s", expression, got, want)
		}
	}
}

func TestFunctions(t *testing.T) {
	tpl := New(parsed(t, `{"variables": {"list": [3, 1, 2], "object": {"b": {"x": 1}, "a": null}},
		"functions": [{"namespace": "contoso", "members": {
			"twice": {"parameters": [{"name": "s", "type": "string"}], "output": {"type": "string", "value": "[concat(parameters('s'), parameters('s'))]"}},
			"four": {"parameters": [{"name": "s", "type": "string"}], "output": {"type": "string", "value": "[contoso.twice(contoso.twice(parameters('s')))]"}},
			"for-ever": {"parameters": [], "output": {"type": "string", "value": "x"}},
			"ever": {"parameters": [], "output": {"type": "string", "value": "[contoso.ever()]"}}}}]}`), nil, nil, NewBudget())
	for expression, want := range map[string]string{
		"map(variables('list'), lambda('x', mul(lambdaVariables('x'), 2)))":                                                          `[6,2,4]`,
		"map(variables('list'), lambda('x', 'i', add(lambdaVariables('x'), lambdaVariables('i'))))":                                  `[3,2,4]`,
		"filter(variables('list'), lambda('x', greater(lambdaVariables('x'), 1)))":                                                   `[3,2]`,
		"reduce(variables('list'), 0, lambda('a', 'b', add(lambdaVariables('a'), lambdaVariables('b'))))":                            `6`,
		"sort(variables('list'), lambda('a', 'b', less(lambdaVariables('a'), lambdaVariables('b'))))":                                `[1,2,3]`,
		"toObject(createArray('a', 'b'), lambda('x', lambdaVariables('x')), lambda('x', toUpper(lambdaVariables('x'))))":             `{"a":"A","b":"B"}`,
		"groupBy(createArray('ab', 'ac', 'b'), lambda('x', first(lambdaVariables('x'))))":                                            `{"a":["ab","ac"],"b":["b"]}`,
		"mapValues(createObject('a', 1), lambda('v', add(lambdaVariables('v'), 1)))":                                                 `{"a":2}`,
		"map(createArray('a'), lambda('x', map(createArray('b'), lambda('y', concat(lambdaVariables('x'), lambdaVariables('y'))))))": `[["ab"]]`,
		"contoso.four('ab')":                    `"abababab"`,
		"contoso.ever()":                        "!functions call each other without an end",
		"contoso.twice(1)":                      "!contoso.twice(): The provided value for the template parameter 's' is not valid. Expected a value of type 'String', but received a value of type 'Integer'.",
		"if(true(), 'a', fail('never'))":        `"a"`,
		"if(false(), json('{'), 'b')":           `"b"`,
		"or(true(), fail('never'))":             `true`,
		"and(false(), fail('never'))":           `false`,
		"coalesce(null(), 'a', fail('never'))":  `"a"`,
		"fail('stop')":                          `!the template fails: stop`,
		"tryGet(variables('object'), 'b', 'x')": `1`,
		"tryGet(variables('object'), 'c', 'x')": `null`,
		"variables('object').?c.?d":             `null`,
		"union(createObject('a', createObject('x', 1)), createObject('a', createObject('y', 2), 'b', 3))":             `{"a":{"x":1,"y":2},"b":3}`,
		"shallowMerge(createArray(createObject('a', createObject('x', 1)), createObject('a', createObject('y', 2))))": `{"a":{"y":2}}`,
		"union(createArray(1, 2), createArray(2, 3))":                                                                 `[1,2,3]`,
		"intersection(createArray(1, 2), createArray(2, 3))":                                                          `[2]`,
		"flatten(createArray(createArray(1), createArray(2, 3)))":                                                     `[1,2,3]`,
		"objectKeys(variables('object'))":                                                                             `["b","a"]`,
		"string(variables('object'))":                                                                                 `"{\"b\":{\"x\":1},\"a\":null}"`,
		"format('{0:D3}-{1:X4}-{2}', 7, 255, true())":                                                                 `"007-00FF-True"`,
		"split('a,b;c', createArray(',', ';'))":                                                                       `["a","b","c"]`,
		"base64('hello')":                                                                                             `"aGVsbG8="`,
		"base64ToString('aGVsbG8=')":                                                                                  `"hello"`,
		"uriComponent('a b/c')":                                                                                       `"a%20b%2Fc"`,
		"uri('https://contoso.org/firstpath', 'azuredeploy.json')":                                                    `"https://contoso.org/azuredeploy.json"`,
		"min(createArray(3, 1, 2))":                                                                                   `1`,
		"max(3, 1, 2)":                                                                                                `3`,
		"dateTimeAdd('2020-04-07 14:53:14Z', 'P3Y', 'yyyy-MM-dd')":                                                    `"2023-04-07"`,
		"dateTimeAdd('2020-04-07T14:53:14Z', '-PT1H')":                                                                `"2020-04-07T13:53:14Z"`,
		"dateTimeToEpoch('1970-01-01T00:01:00Z')":                                                                     `60`,
		"dateTimeFromEpoch(60)":                                                                                       `"1970-01-01T00:01:00Z"`,
		"first('')":                                                                                                   `""`,
		"sys.concat('a', 'b')":                                                                                        `"ab"`,
		"resourceGroup().id":                                                                                          `!the result of resourceGroup() is only known in Azure`,
		"listKeys('x', 'y')":                                                                                          `!the result of listKeys() is only known in Azure`,
		"nothing('x')":                                                                                                `!Minibus does not evaluate nothing()`,
	} {
		if got := evaluated(tpl, expression); got != want {
			t.Errorf("%s = %s, want %s", expression, got, want)
		}
	}
}

// TestParametersAreChecked has types, ranges, allowed values and definitions of the template's own.
func TestParametersAreChecked(t *testing.T) {
	const text = `{"languageVersion": "2.0", "definitions": {
			"name": {"type": "string", "minLength": 3, "maxLength": 5},
			"queue": {"type": "object", "properties": {"name": {"$ref": "#/definitions/name"}, "size": {"type": "int", "nullable": true, "maxValue": 9}}, "additionalProperties": false},
			"loop": {"$ref": "#/definitions/loop"},
			"pet": {"type": "object", "discriminator": {"propertyName": "kind", "mapping": {"cat": {"type": "object", "properties": {"kind": {"type": "string", "allowedValues": ["cat"]}, "lives": {"type": "int"}}}}}}},
		"parameters": {"name": {"$ref": "#/definitions/name", "defaultValue": "abc"}, "queues": {"type": "array", "items": {"$ref": "#/definitions/queue"}, "nullable": true},
			"sku": {"type": "string", "allowedValues": ["Standard", "Premium"], "defaultValue": "Standard"}, "key": {"type": "secureString", "minLength": 8, "nullable": true, "allowedValues": ["topsecret"]},
			"pet": {"$ref": "#/definitions/pet", "nullable": true}, "needed": {"type": "int", "minValue": 2}, "circle": {"$ref": "#/definitions/loop", "nullable": true}}}`
	for given, want := range map[string]string{
		`{"needed": 3}`:                              "",
		`{}`:                                         "The value for the template parameter 'needed' is not provided",
		`{"needed": 3, "SKU": "premium"}`:            "",
		`{"needed": 3, "sku": "Basic"}`:              "The value 'Basic' is not part of the allowed value(s): 'Standard,Premium'.",
		`{"needed": 1}`:                              "The value should be greater than or equal to '2'.",
		`{"needed": "3"}`:                            "Expected a value of type 'Integer', but received a value of type 'String'.",
		`{"needed": 2.5}`:                            "'Float'",
		`{"needed": 3, "name": "ab"}`:                "Length of the value should be greater than or equal to '3'.",
		`{"needed": 3, "name": "abcdef"}`:            "Length of the value should be less than or equal to '5'.",
		`{"needed": 3, "name": null}`:                "received a value of type 'Null'",
		`{"needed": 3, "queues": null}`:              "",
		`{"needed": 3, "queues": [{"name": "abc"}]}`: "",
		`{"needed": 3, "queues": [{"name": "abc", "size": 10}]}`:  "'queues[0].size' is not valid. The value should be less than or equal to '9'.",
		`{"needed": 3, "queues": [{"size": 1}]}`:                  "'queues[0]' is not valid. It lacks the property 'name'.",
		`{"needed": 3, "queues": [{"name": "abc", "colour": 1}]}`: "It has the property 'colour', which its type lacks.",
		`{"needed": 3, "pet": {"kind": "cat", "lives": 9}}`:       "",
		`{"needed": 3, "pet": {"kind": "cat"}}`:                   "It lacks the property 'lives'.",
		`{"needed": 3, "pet": {"kind": "dog"}}`:                   "There is no variant 'dog' of its type.",
		`{"needed": 3, "circle": 1}`:                              `there is no type "#/definitions/loop"`,
		`{"needed": 3, "other": 1}`:                               "The template parameters 'other' in the parameters file are not valid",
		`{"needed": 3, "key": "hunter22"}`:                        "The value is not part of the allowed value(s)",
	} {
		values := make(map[string]*Node)
		for _, m := range parsed(t, given).Members {
			values[strings.ToLower(m.Key)] = m.Value
		}
		_, problem := New(parsed(t, text), values, nil, NewBudget()).Parameters()
		switch {
		case want == "" && problem != nil:
			t.Errorf("%s: %s", given, problem.Text)
		case want != "" && (problem == nil || !strings.Contains(problem.Text, want)):
			t.Errorf("%s: %+v, want %s", given, problem, want)
		case problem != nil && strings.Contains(problem.Text, "hunter22"):
			t.Errorf("%s: a secret in %q", given, problem.Text)
		}
	}
}

// TestCheckFindsWhatIsMissing also in a branch that is not taken.
func TestCheckFindsWhatIsMissing(t *testing.T) {
	for text, want := range map[string]string{
		`{"resources": [{"condition": false, "name": "[frobnicate()]"}]}`:                          `$.resources[0].name: found the function "frobnicate", which Minibus does not evaluate`,
		`{"variables": {"x": "[concat('a'"}}`:                                                      "",
		`{"variables": {"x": "[concat('a']"}}`:                                                     `$.variables.x: found "[concat('a']", which is no expression: found no ) of concat at character`,
		`{"metadata": {"x": "[Required. Text]"}}`:                                                  "",
		`{"functions": [{"namespace": "a", "members": {"b": {}}}], "variables": {"x": "[A.b()]"}}`: "",
		`{"variables": {"x": "[if(true(), '', map(x, lambda('y', nothing())))]"}}`:                 "x",
		`{"variables": {"x": "['` + strings.Repeat("x", 25_000) + `']"}}`:                          "found an expression of 25004 characters; it may have 24576",
		`{"variables": {"x": "[` + strings.Repeat("not(", 150) + `"}}`:                             "",
		`{"variables": {"x": "[` + strings.Repeat("not(", 150) + `]"}}`:                            "more nesting than 100",
	} {
		got := ""
		if p := Check(parsed(t, text), nil); p != nil {
			got = p.At.Path + ": " + p.Text
		}
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%.200s: %q, want %q", text, got, want)
		}
	}
}

// TestBombsStaySmall: each of these would take gigabytes or hours.
func TestBombsStaySmall(t *testing.T) {
	big := strings.Repeat("x", 1000)
	doubling := []string{`"v0": "` + big + `"`}
	for i := range 10 {
		doubling = append(doubling, fmt.Sprintf(`"v%d": "[concat(variables('v%[2]d'), variables('v%[2]d'))]"`, i+1, i))
	}
	variables := strings.Join(doubling, ",") // v10 has a megabyte
	for _, bomb := range []string{
		"format('" + strings.Repeat("{0}", 7000) + "', variables('v9'))",
		"replace(variables('v9'), 'x', variables('v9'))",
		"concat(" + strings.Repeat("variables('v9'), ", 1000) + "'')",
		"length(split(variables('v9'), ''))",
		"join(range(0, 10000), variables('v9'))",
		"map(range(0, 10000), lambda('x', map(range(0, 10000), lambda('y', range(0, 10000)))))",
		"reduce(range(0, 1000), 'x', lambda('a', 'b', concat(lambdaVariables('a'), lambdaVariables('a'))))",
		"sort(range(0, 1000), lambda('a', 'b', contains(range(0, 10000), lambdaVariables('a'))))",
		"padLeft('x', 100000000)",
	} {
		budget := NewBudget()
		got := evaluated(New(parsed(t, `{"variables": {`+variables+`}}`), nil, nil, budget), bomb)
		if !strings.HasPrefix(got, "!") {
			t.Errorf("%.80s: %.80s", bomb, got)
		}
		if all := NewBudget().Work; budget.Work < -2*all { // a list is charged where its items are made, and once more as a whole
			t.Errorf("%.80s: of %d units of work, %d are left", bomb, all, budget.Work)
		}
	}
}

// TestLoopsInVariablesAndValues also within each other, and with a name.
func TestLoopsInVariablesAndValues(t *testing.T) {
	tpl := New(parsed(t, `{"variables": {"copy": [{"name": "all", "count": 3, "input": {"n": "[copyIndex('all', 1)]",
		"copy": [{"name": "in", "count": 2, "input": "[concat(copyIndex('all'), '-', copyIndex('in'))]"}]}}]}}`), nil, nil, NewBudget())
	const want = `[{"n":1,"in":["0-0","0-1"]},{"n":2,"in":["1-0","1-1"]},{"n":3,"in":["2-0","2-1"]}]`
	if got := evaluated(tpl, "variables('all')"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	v, _ := tpl.Output(parsed(t, `{"copy": {"count": 801, "input": 1}}`))
	if u := FirstUnknown(v); u == nil || !strings.Contains(u.Unknown, "no number from 0 to 800") {
		t.Errorf("801 turns: %+v", u)
	}
}
