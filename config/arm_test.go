package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"minibus/emulator"
)

// arm reads a template with these resources.
func arm(t *testing.T, text string) (*Topology, *Report) {
	t.Helper()
	return Parse("main.json", []byte(text), ProfileRelaxed)
}

// queueTemplate is a template with a queue, to which more can be added.
func queueTemplate(parameters, name, properties string) string {
	return `{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#", "contentVersion": "1.0.0.0",
		"parameters": {` + parameters + `}, "variables": {}, "resources": [
		{"type": "Microsoft.ServiceBus/namespaces/queues", "apiVersion": "2021-11-01", "name": "` + name + `", "properties": {` + properties + `}}]}`
}

// TestExportAndBicepRoundTrip reads what bicep build makes of an export, which must have the entities of the Config.json of the same namespace, but
// for what templates can't say.
func TestExportAndBicepRoundTrip(t *testing.T) {
	text, err := os.ReadFile("testdata/azure.arm.json")
	if err != nil {
		t.Fatal(err)
	}
	got, report := arm(t, string(text))
	if got == nil || report.Count(Warning) > 0 {
		t.Fatalf("%v", report.Findings)
	}
	want, wrong, err := Load([]string{"../export/testdata/azure.json"}, ProfileRelaxed)
	if err != nil || want == nil {
		t.Fatal(err, wrong.Findings)
	}
	if got.Namespace != DefaultNamespace {
		t.Errorf("the namespace is called %q", got.Namespace)
	}
	for _, e := range want.Entities {
		switch e.Path {
		case "circle-b":
			e.Queue.ForwardTo = "" // it closes a circle
		case "failed":
			e.Queue.UserMetadata = ""
		}
	}
	byPath := func(a, b emulator.EntityConfig) int { return strings.Compare(a.Path, b.Path) }
	rules := make(map[string]emulator.RuleOptions) // of the template
	for _, all := range []*Topology{want, got} {
		for _, e := range all.Entities {
			for i := 0; e.Topic != nil && i < len(e.Topic.Subscriptions); i++ { // parameters are written into the expressions
				sub := &e.Topic.Subscriptions[i]
				sub.Rules = slices.DeleteFunc(sub.Rules, func(r emulator.RuleOptions) bool {
					return sub.Name == "to-topic" && r.Name == "$Default" && r.SQL == "1=0" // a template can't delete it
				})
				for j := range e.Topic.Subscriptions[i].Rules {
					r := &e.Topic.Subscriptions[i].Rules[j]
					rules[r.Name] = *r
					*r = emulator.RuleOptions{Name: r.Name, SQL: "x = 1"}
				}
			}
		}
		all.Namespace = ""
		slices.SortFunc(all.Entities, byPath)
	}
	a, err := Write([]*Topology{got}, emulator.ProfileRelaxed, false)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Write([]*Topology{want}, emulator.ProfileRelaxed, false)
	if err != nil {
		t.Fatal(err)
	}
	x, y := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			t.Fatalf("line %d: the template has\n%s\nand the Config.json\n%s", i+1, strings.Join(x[max(0, i-8):min(len(x), i+3)], "\n"),
				strings.Join(y[max(0, i-8):min(len(y), i+3)], "\n"))
		}
	}
	if len(x) != len(y) {
		t.Errorf("%d lines, want %d", len(x), len(y))
	}
	f := rules["Default"].Correlation
	if rules["numbers"].SQL != "sys.ReplyToSessionId = 'r' AND [n]]] = 5 AND [b] = TRUE AND [f] = 1E30" || rules["off"].SQL != "1=0" || f == nil || *f.Label != "O'Neill" ||
		f.Properties["a b"] != "%{x}" || rules["future"].SQL != "1=0" {
		t.Errorf("rules %+v", rules)
	}
}

// TestTemplateOfTheSymbolicLanguage has loops, conditions, variables, a module, and what only Azure knows.
func TestTemplateOfTheSymbolicLanguage(t *testing.T) {
	got, report, err := Load([]string{"testdata/symbolic.arm.json"}, ProfileRelaxed)
	if err != nil || got == nil {
		t.Fatalf("%v %v", err, report.Findings)
	}
	var paths []string
	for _, e := range got.Entities {
		paths = append(paths, e.Path)
	}
	if want := "orders parcels shard-0 shard-1 dead-letters billing-dev events"; strings.Join(paths, " ") != want {
		t.Fatalf("entities %s, want %s", strings.Join(paths, " "), want)
	}
	orders, parcels, dead, billing := got.Entities[0].Queue, got.Entities[1].Queue, got.Entities[4].Queue, got.Entities[5].Queue
	if orders.RequiresSession || !parcels.RequiresSession || orders.MaxDeliveryCount != 5 || orders.DefaultMessageTimeToLive.Hours() != 7*24 ||
		orders.ForwardDeadLetteredMessagesTo != "dead-letters" || orders.LockDuration.Minutes() != 1 {
		t.Errorf("orders %+v, parcels %+v", orders, parcels)
	}
	if dead.LockDuration.Minutes() != 2 || dead.MaxDeliveryCount != 10 || dead.DefaultMessageTimeToLive != 0 || billing.MaxDeliveryCount != 7 {
		t.Errorf("Azure's defaults: %+v, %+v", dead, billing)
	}
	topic := got.Entities[6].Topic
	if len(topic.Subscriptions) != 1 || topic.Subscriptions[0].Queue.ForwardTo != "orders" || len(topic.Subscriptions[0].Rules) != 1 ||
		topic.Subscriptions[0].Rules[0].SQL != "size > 5 AND [kind] = 'x'" {
		t.Errorf("topic %+v", topic)
	}
	if got.Namespace != DefaultNamespace {
		t.Errorf("the namespace, whose name only Azure knows, is called %q", got.Namespace)
	}
	warnings := 0
	for _, f := range report.Findings {
		if f.Severity == Warning {
			warnings++
			if !strings.Contains(f.Found, `lockDuration can't be evaluated: the parameter "lockDuration" has no default value`) || f.Line == 0 {
				t.Errorf("%s", f)
			}
		}
	}
	if warnings != 1 {
		t.Errorf("%d warnings, want one for all turns of the loop: %v", warnings, report.Findings)
	}

	values := `{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentParameters.json#", "contentVersion": "1.0.0.0",
		"parameters": {"LockDuration": {"value": "PT3M"}, "environment": {"value": "Prod"}, "deadLetters": {"value": false}, "namespaceName": {"value": "contoso"}}}`
	text, err := os.ReadFile("testdata/symbolic.arm.json")
	if err != nil {
		t.Fatal(err)
	}
	got, report = newDecoder(ProfileRelaxed).assemble(Part{From: "main.json", JSON: text}, Part{From: "main.parameters.json", JSON: []byte(values)})
	if got == nil || report.Count(Warning) > 0 {
		t.Fatalf("%v", report.Findings)
	}
	paths = nil
	for _, e := range got.Entities {
		paths = append(paths, e.Path)
	}
	if want := "orders parcels shard-0 shard-1 production billing-prod events"; strings.Join(paths, " ") != want || got.Namespace != "contoso" {
		t.Errorf("with parameters %s of %s, want %s", strings.Join(paths, " "), got.Namespace, want)
	}
	wrong := strings.Replace(values, "PT3M", "PT3X", 1)
	_, report = newDecoder(ProfileRelaxed).assemble(Part{From: "main.json", JSON: text}, Part{From: "main.parameters.json", JSON: []byte(wrong)})
	if err := report.Err(); err == nil || !strings.Contains(err.Error(), `main.json:43:21: error: $.resources.queueLoop.properties: found "PT3X"`) {
		t.Errorf("a wrong parameter: %v", err)
	}
	if q := got.Entities[0].Queue; q.LockDuration.Minutes() != 3 || q.MaxDeliveryCount != 10 || q.ForwardDeadLetteredMessagesTo != "" {
		t.Errorf("with parameters %+v", q)
	}
}

// TestExpressions evaluates each as the name of a queue.
func TestExpressions(t *testing.T) {
	parameters := `"p": {"type": "object", "defaultValue": {"name": "n", "list": ["a", "b"], "empty": null}}, "none": {"type": "string"}, "maybe": {"type": "string", "nullable": true},
		"a": {"type": "string", "defaultValue": "[parameters('b')]"}, "b": {"type": "string", "defaultValue": "[parameters('a')]"}`
	for expression, want := range map[string]string{
		`concat('a', 'b', string(1))`:                                              "ab1",
		`format('{0}-{1}-{0}', 'a', 2)`:                                            "a-2-a",
		`replace('it''s', '''', '')`:                                               "its",
		`parameters('p').name`:                                                     "n",
		`parameters('P')['LIST'][1]`:                                               "b",
		`coalesce(parameters('p').empty, 'else')`:                                  "else",
		`coalesce(parameters('maybe'), 'else')`:                                    "else",
		`parameters('p').?missing.?more ?`:                                         "!it is no expression",
		`coalesce(parameters('p').?missing, 'else')`:                               "else",
		`if(and(true(), not(false())), 'yes', 'no')`:                               "yes",
		`if(or(equals(1, 2), less(1, 2)), 'yes', 'no')`:                            "yes",
		`if(contains(createArray('a', 'b'), 'b'), 'yes', 'no')`:                    "yes",
		`toLower(toUpper('aB'))`:                                                   "ab",
		`json('{"x": ["y"]}').x[0]`:                                                "y",
		`string(add(mul(2, 3), length(createArray(1, 2))))`:                        "8",
		`string(add(10, add(div(-7, 2), mod(-7, 2))))`:                             "6",
		`padLeft(7, 3, '0')`:                                                       "007",
		`concat('a', padLeft('bcd', 2))`:                                           "abcd",
		`string(indexOf('aXbx', 'x'))`:                                             "1",
		`string(lastIndexOf('éXbx', 'X'))`:                                         "3",
		`string(add(2, indexOf('a', 'b')))`:                                        "1",
		`indexFromEnd(createArray('a', 'b', 'c'), 2)`:                              "b",
		`join(split('a,b,c', ','), '-')`:                                           "a-b-c",
		`substring('abcdef', 1, 3)`:                                                "bcd",
		`last(split('a/b', '/'))`:                                                  "b",
		`first('xyz')`:                                                             "x",
		`concat(take('abc', 2), skip('abc', 2))`:                                   "abc",
		`items(createObject('z', 1, 'a', 2))[0].key`:                               "a",
		`union(createObject('x', 'old'), createObject('x', 'new')).x`:              "new",
		`if(startsWith('Abc', 'a'), if(endsWith('abc', 'BC'), 'yes', 'no'), 'no')`: "yes",

		`uniqueString('fu')`: "6rkxbspxjmsho",
		`join(map(createArray('a', 'b'), lambda('x', toUpper(lambdaVariables('x')))), '')`: "AB",

		`parameters('none')`: `!the parameter "none" has no default value`,
		`parameters('gone')`: `!there is no parameter "gone"`,
		`variables('gone')`:  `!there is no variable "gone"`,
		`parameters('a')`:    `!leads back to itself`,
		`concat('q-', uniqueString(resourceGroup().id))`: `!the result of resourceGroup() is only known in Azure`,
		`listKeys('x', 'y').z`:                           `!the result of listKeys() is only known in Azure`,
		`toLower(1)`:                                     `!the arguments of toLower() are not what it takes`,
		`frobnicate('x')`:                                `!Minibus does not evaluate frobnicate(); pass the value as a parameter`,
		`frobnicate(parameters('none'))`:                 `!Minibus does not evaluate frobnicate(); pass the value as a parameter`,
		`join(map(createArray('a'), lambda('x', parameters('none'))), '')`: `!the parameter "none" has no default value`,
		`contoso.name('x')`:                           `!Minibus does not evaluate contoso.name(), a user-defined function that the template lacks; pass the value as a parameter`,
		`copyIndex()`:                                 `!copyIndex() is in no loop`,
		`parameters('p').missing`:                     `!there is no "missing" in it`,
		`if(equals(parameters('none'), 1), 'a', 'b')`: `!the parameter "none" has no default value`,
		`concat('a'`:                                  `!it is no expression: found no ) of concat at character`,
		`string(div(7, 0))`:                           `!string(div(7, 0)))]", which can't be evaluated: it divides by zero; correct the expression`,
		`string(mod(7, 0))`:                           `!it divides by zero`,
		`string(mul(9223372036854775807, 2))`:         `!its result has more than 64 bits`,
		`string(add(9223372036854775807, 1))`:         `!its result has more than 64 bits`,
		`string(sub(-9223372036854775807, 2))`:        `!its result has more than 64 bits`,
		`replace('abc', '', '-')`:                     `!replace() has no text to look for`,
		`'a' 'b'`:                                     `!it is no expression`,
		strings.Repeat("not(", 200):                   `!more nesting than 100`,
	} {
		quoted := strings.ReplaceAll(expression, `"`, `\"`)
		got, report := arm(t, queueTemplate(parameters, "[concat(parameters('none'), '/', "+quoted+")]", ""))
		if problem, fails := strings.CutPrefix(want, "!"); fails {
			if got != nil || !strings.Contains(report.Err().Error(), "main.json:4:") || !strings.Contains(report.Err().Error(), problem) {
				t.Errorf("%s: %v, want %s", expression, report.Err(), problem)
			}
			continue
		}
		if got == nil || len(got.Entities) != 1 || got.Entities[0].Path != want {
			t.Errorf("%s: %+v %v, want %s", expression, got, report.Err(), want)
		}
	}
}

// TestNestedResourcesAndWhatIsMissing: children in their parents, a subscription whose topic is elsewhere, two namespaces.
func TestNestedResourcesAndWhatIsMissing(t *testing.T) {
	const head = `{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#", "contentVersion": "1.0.0.0", "parameters": {"none": {"type": "string"}}, "resources": [`
	got, report := arm(t, head+`{"type": "Microsoft.ServiceBus/namespaces", "name": "one", "resources": [
		{"type": "queues", "name": "q", "properties": {"lockDuration": "PT30S"}}, {"type": "topics", "name": "t", "properties": {}, "resources": [
			{"type": "subscriptions", "name": "s", "properties": {}, "resources": [{"type": "rules", "name": "r", "properties": {"correlationFilter": {"label": "x"}}}]}]}]},
		{"type": "Microsoft.ServiceBus/namespaces/topics/subscriptions", "name": "second/t/s", "properties": {}}]}`)
	if got == nil || got.Namespace != "one" || len(got.Others) != 1 || got.Others[0].Namespace != "second" {
		t.Fatalf("%+v %v", got, report.Findings)
	}
	if len(got.Entities) != 2 || got.Entities[0].Path != "q" || *got.Entities[1].Topic.Subscriptions[0].Rules[0].Correlation.Label != "x" {
		t.Errorf("%+v", got.Entities)
	}
	if len(got.Others[0].Entities) != 1 || report.Count(Warning) != 1 || !strings.Contains(report.Findings[0].Found, `no resource of the topic "t"`) {
		t.Errorf("%+v, %v", got.Others[0].Entities, report.Findings)
	}
	for text, want := range map[string]string{
		head + `{"type": "Microsoft.ServiceBus/namespaces", "name": "one"}, {"type": "Microsoft.ServiceBus/namespaces/queues", "name": "[concat(parameters('none'), 'x/q')]"}]}`:     "a second namespace, whose name can't be evaluated",
		head + `{"type": "Microsoft.ServiceBus/namespaces/queues", "name": "q"}]}`:                                                                                                   "allowed: 2 names with slashes between",
		head + `{"type": "Microsoft.ServiceBus/namespaces/queues", "name": "n/q", "copy": {"name": "x", "count": "[parameters('none')]"}}]}`:                                         `the parameter "none" has no default value`,
		head + `{"type": "Microsoft.ServiceBus/namespaces/queues", "name": "n/q", "copy": {"name": "x", "count": 801}}]}`:                                                            "found the count 801; allowed: 0 to 800",
		head + `{"type": "Microsoft.ServiceBus/namespaces/topics/subscriptions/rules", "name": "n/t/s/r", "properties": {"sqlFilter": {"sqlExpression": "[parameters('none')]"}}}]}`: `found "[parameters('none')]", which can't be evaluated`,
		head + `{"type": "Microsoft.ServiceBus/namespaces/queues", "name": "n/q", "properties": {"lockDuration": "1 minute"}}]}`:                                                     "$.resources[0].properties.lockDuration",
		head + `{"condition": "yes", "type": "Microsoft.ServiceBus/namespaces/queues", "name": "n/q"}]}`:                                                                             `main.json:1:197: error: $.resources[0].condition: found the condition "yes"; allowed: true or false`,
		head + `{"type": "Microsoft.ServiceBus/namespaces/queues", "name": "n/q"},` + "\n" + `{"type": "Microsoft.ServiceBus/namespaces/queues", "name": "n/Q"}]}`:                   `main.json:2:60: error: $.resources[1].name: found the queue "Q" a second time (first on line 1); rename or remove one of the two`,
	} {
		if got, report := arm(t, text); got != nil || !strings.Contains(report.Err().Error(), want) {
			t.Errorf("%s\n%v, want %s", text, report.Err(), want)
		}
	}
}

// TestFaultsAreErrors also where what is only known in Azure is a warning.
func TestFaultsAreErrors(t *testing.T) {
	for text, want := range map[string]string{
		queueTemplate("", "n/q", `"maxDeliveryCount": "[div(1, 0)]"`):                                                               `"[div(1, 0)]", which can't be evaluated: it divides by zero; correct the expression`,
		queueTemplate("", "[concat(replace('n', '', 'x'), '/q')]", ""):                                                              `replace() has no text to look for`,
		strings.Replace(queueTemplate("", "n/q", ""), `"name"`, `"condition": "[less(mul(9223372036854775807, 3), 2)]", "name"`, 1): `error: $.resources[0].condition: found "[less(mul(9223372036854775807, 3), 2)]"`,
	} {
		if got, report := arm(t, text); got != nil || !strings.Contains(report.Err().Error(), want) {
			t.Errorf("%s\n%v, want %s", text, report.Findings, want)
		}
	}
}

// TestConditionsThatChoose: of two resources only one is deployed, which is not known if only Azure knows the condition.
func TestConditionsThatChoose(t *testing.T) {
	for condition, want := range map[string]int{"true()": 1, "equals(resourceGroup().name, 'x')": 2} {
		queue := func(condition, count string) string {
			return `{"condition": "[` + condition + `]", "type": "Microsoft.ServiceBus/namespaces/queues", "name": "n/q", "properties": {"maxDeliveryCount": ` + count + `}}`
		}
		got, report := arm(t, `{"contentVersion": "1.0.0.0", "resources": [`+queue(condition, "1")+","+queue("not("+condition+")", "2")+`]}`)
		if got == nil || len(got.Entities) != 1 || got.Entities[0].Queue.MaxDeliveryCount != want {
			t.Errorf("%s: %+v %v", condition, got, report.Findings)
		}
	}
}

// TestFilesThatAreNone says what to give instead.
func TestFilesThatAreNone(t *testing.T) {
	dir := t.TempDir()
	parameters, queues, template := filepath.Join(dir, "main.parameters.json"), filepath.Join(dir, "a.json"), filepath.Join(dir, "main.json")
	for file, text := range map[string]string{
		parameters: `{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentParameters.json#", "parameters": {}}`,
		queues:     `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "a", "Properties": {"MaxDeliveryCount": 500}}]}]}}`,
		template:   queueTemplate("", "sbemulatorns/b", `"maxDeliveryCount": 600`),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for files, want := range map[string]string{
		parameters:                      "main.parameters.json:1:1: error: $: this is a file of parameters; give the template too, with another --config",
		parameters + "," + queues:       "this is a file of parameters",
		parameters + "," + template:     "",
		filepath.Join(dir, "all.bicep"): "all.bicep is no JSON; run az bicep build --file " + filepath.Join(dir, "all.bicep") + ", and give " + filepath.Join(dir, "all.json"),
		queues + "," + dir + string(filepath.Separator) + "." + string(filepath.Separator) + "a.json": "a.json was given twice",
	} {
		_, report, err := Load(strings.Split(files, ","), ProfileRelaxed)
		if err == nil {
			err = report.Err()
		}
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", files, err, want)
		}
	}
	_, report, err := Load([]string{queues, template}, ProfileRelaxed)
	if err != nil || report.Count(Note) != 1 || report.Findings[0].File != queues || !strings.Contains(report.Findings[0].Found, "accepted 1 value that Microsoft's emulator does not take") {
		t.Errorf("what Microsoft's emulator does not take: %v, %v", report.Findings, err)
	}
}

// TestFilesAddUp and an entity that is in two of them is an error that names both.
func TestFilesAddUp(t *testing.T) {
	part := func(from, queues string) Part {
		return Part{From: from, JSON: []byte(`{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [` + queues + `]}]}}`)}
	}
	template := Part{From: "main.json", JSON: []byte(queueTemplate("", "[concat(resourceGroup().name, '/c')]", `"forwardTo": "a"`))}
	got, report := newDecoder(ProfileRelaxed).assemble(part("a.json", `{"Name": "a", "Properties": {"ForwardTo": "b"}}`), part("b.json", `{"Name": "b"}`), template)
	if got == nil || len(got.Entities) != 3 || got.Entities[2].Path != "c" || got.Entities[2].Queue.MaxDeliveryCount != 10 || got.Entities[0].Queue.MaxDeliveryCount != 3 {
		t.Fatalf("%+v %v", got, report.Err())
	}
	got, report = newDecoder(ProfileRelaxed).assemble(part("a.json", `{"Name": "a"}`), part("b.json", `{"Name": "A"}`))
	if got != nil || !strings.Contains(report.Err().Error(), `b.json:1:`) || !strings.Contains(report.Err().Error(), `the name "A" a second time (first in a.json on line 1)`) {
		t.Errorf("%v", report.Err())
	}
}

// TestTemplatesThatDouble stay small, however few lines say how large they would be.
func TestTemplatesThatDouble(t *testing.T) {
	for _, function := range []string{"concat", "createArray", "union"} {
		variables := []string{`"v0": ["a"]`}
		if function == "concat" {
			variables = []string{`"v0": "x"`}
		}
		for i := range 60 {
			variables = append(variables, fmt.Sprintf(`"v%d": "[%s(variables('v%[3]d'), variables('v%[3]d'))]"`, i+1, function, i))
		}
		text := queueTemplate("", "[concat('namespace/', string(variables('v60')))]", "")
		began := time.Now()
		got, report := arm(t, strings.Replace(text, `"variables": {}`, `"variables": {`+strings.Join(variables, ",\n")+`}`, 1))
		why := "can't be evaluated"
		if function == "union" { // of what is the same: it stays small
			why = "found the character '['"
		}
		if got != nil || !strings.Contains(report.Err().Error(), why) {
			t.Errorf("%s: %+v, %v", function, got, report.Err())
		}
		if took := time.Since(began); took > time.Minute { // they would take years
			t.Errorf("%s took %v", function, took)
		}
	}
	nested := "'x'"
	for range 30 {
		nested = "if(true(), " + nested + ", " + nested + ")"
		if len(nested) > 1<<20 {
			break
		}
	}
	if got, report := arm(t, queueTemplate("", "[concat('namespace/', "+nested+")]", "")); got == nil {
		t.Errorf("%.300v", report.Err())
	}
}
