package template

import (
	"testing"
	"unicode/utf8"

	"minibus/internal/jsontree"
)

// FuzzTemplate evaluates the parameters, variables and outputs of anything: no panic, no end of time or memory, and a
// value or a reason.
func FuzzTemplate(f *testing.F) {
	for _, text := range []string{
		`{"variables": {"a": "[concat('x', parameters('p'))]", "copy": [{"name": "l", "count": 3, "input": "[copyIndex()]"}]}, "parameters": {"p": {"type": "string", "defaultValue": "[newGuid()]"}},
			"outputs": {"o": {"type": "array", "copy": {"count": 2, "input": "[variables('l')[copyIndex()]]"}}}}`,
		`{"outputs": {"o": {"value": "[reduce(map(range(0, 9), lambda('x', format('{0:D3}{{', lambdaVariables('x')))), '', lambda('a', 'b', union(createArray(lambdaVariables('a')), split(lambdaVariables('b'), createArray('0')))))]"}}}`,
		`{"definitions": {"d": {"type": "object", "properties": {"x": {"$ref": "#/definitions/d", "nullable": true}}}}, "parameters": {"p": {"$ref": "#/definitions/d", "defaultValue": {"x": {"x": "[json('{\"a\":[1]}')]"}}}}}`,
		`{"functions": [{"namespace": "n", "members": {"f": {"parameters": [{"name": "x", "type": "int"}], "output": {"value": "[if(equals(parameters('x'), 0), 1, mul(parameters('x'), n.f(sub(parameters('x'), 1))))]"}}}}],
			"outputs": {"o": {"value": "[n.f(20)]"}, "p": {"value": "[dateTimeAdd('2020-01-01', '-P1Y2DT3H', 'o')]"}, "q": {"value": "[uri('http://x', padLeft(substring('abc', 1), 5, '%'))]"}}}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, err := jsontree.ParseBare(text, 10_000)
		if err != nil || root.Kind != jsontree.Object {
			return
		}
		_ = Check(root, nil)
		budget := &Budget{Work: 200_000}
		values, problem := New(root, nil, nil, budget).Parameters()
		if problem != nil && (problem.At == nil || problem.Text == "") {
			t.Fatalf("problem %+v", problem)
		}
		tpl := New(root, values, nil, budget)
		for _, key := range []string{"variables", "outputs"} {
			list := root.Get(key)
			if list == nil {
				continue
			}
			for _, m := range list.Members {
				v := tpl.Evaluate(m.Value)
				if key == "outputs" {
					v, _ = tpl.Output(m.Value)
				}
				if v == nil {
					continue
				}
				if b, err := v.MarshalJSON(); err != nil || utf8.ValidString(text) && !utf8.Valid(b) {
					t.Fatalf("%q %v", b, err)
				}
			}
		}
	})
}
