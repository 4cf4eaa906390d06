package compat

import (
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

// The Go SDK has no calls for rules on the data plane, so these tests make the requests of the other SDKs.

// shownRule is a rule as enumerate-rules returns it: codes of the descriptors and the values in them.
type shownRule struct {
	name       string
	filterCode uint64
	filter     []any
	actionCode uint64
	action     []any
	created    time.Time
}

// The descriptors of filters and actions.
const (
	sqlFilterCode, trueFilterCode, correlationCode = uint64(0x1370000006), uint64(0x1370000007), uint64(0x1370000009)
	noActionCode, sqlActionCode                    = uint64(0x13700000005), uint64(0x13700000006)
)

// described takes a described list apart. go-amqp does not export the type into which it decodes one.
func described(value any) (code uint64, list []any) {
	v := reflect.Indirect(reflect.ValueOf(value))
	if v.Kind() != reflect.Struct {
		return 0, nil
	}
	code, _ = v.FieldByName("Descriptor").Interface().(uint64)
	list, _ = v.FieldByName("Value").Interface().([]any)
	return code, list
}

// rules returns a page of rules.
func (m *manager) rules(skip, top int32) []shownRule {
	m.b.Helper()
	a := m.ask("enumerate-rules", map[string]any{"skip": skip, "top": top})
	if a.status == 204 {
		if a.condition != "com.microsoft:rules-not-found" || a.description != "No rules found" {
			m.b.Errorf("the empty page has condition %s (%s)", a.condition, a.description)
		}
		return nil
	}
	items, ok := a.body["rules"].([]any)
	if a.status != 200 || !ok {
		m.b.Fatalf("enumerate rules: status %d, %s (%s), body %v", a.status, a.condition, a.description, a.body)
	}
	var list []shownRule
	for _, item := range items {
		fields, _ := item.(map[string]any)
		code, rule := described(fields["rule-description"])
		if code != 0x13700000004 || len(rule) != 4 {
			m.b.Fatalf("rule is %#x with %d fields", code, len(rule))
		}
		var r shownRule
		r.filterCode, r.filter = described(rule[0])
		r.actionCode, r.action = described(rule[1])
		r.name, _ = rule[2].(string)
		r.created, _ = rule[3].(time.Time)
		list = append(list, r)
	}
	return list
}

// names returns the rules' names, page by page.
func (m *manager) names(top int32) []string {
	m.b.Helper()
	var names []string
	for {
		page := m.rules(int32(len(names)), top)
		if len(page) > int(top) {
			m.b.Fatalf("a page of %d has %d rules", top, len(page))
		}
		if len(page) == 0 {
			return names
		}
		for _, r := range page {
			names = append(names, r.name)
		}
	}
}

// add returns the body of add-rule.
func add(name string, description map[string]any) map[string]any {
	return map[string]any{"rule-name": name, "rule-description": description}
}

func expression(text string) map[string]any { return map[string]any{"expression": text} }

func sqlRule(text string) map[string]any { return map[string]any{"sql-filter": expression(text)} }

func remove(name string) map[string]any { return map[string]any{"rule-name": name} }

// subManager opens the node of a subscription of the topic.
func (b *bench) subManager(name string) *manager {
	b.Helper()
	return b.manage(b.dial(), topicName+"/Subscriptions/"+name)
}

func TestTOP4_TOP7_TOP8_TOP16_RuleManager(t *testing.T) {
	b := serveTopic(t, []harness.Subscription{subscription("s")})
	m := b.subManager("s")
	rules := m.rules(0, 100)
	if len(rules) != 1 || rules[0].name != "$Default" || rules[0].filterCode != trueFilterCode || rules[0].actionCode != noActionCode {
		b.Fatalf("a new subscription has %+v", rules)
	}
	if created := rules[0].created; created.Before(b.began.Add(-time.Minute)) || created.After(time.Now()) {
		b.Errorf("$Default was created at %v", created)
	}
	b.put(topicName, message("to all"))
	m.want("remove-rule", remove("$Default"), 200, "")
	m.want("enumerate-rules", map[string]any{"skip": int32(0), "top": int32(100)}, 204, "")
	b.put(topicName, message("to nobody")) // TOP-7: no rule wants it
	m.want("add-rule", add("b-sql", map[string]any{"sql-filter": expression("n = 1"), "sql-rule-action": expression("SET seen = 1")}), 200, "")
	m.want("add-rule", add("C-label", map[string]any{"correlation-filter": map[string]any{
		"label": "x", "properties": map[string]any{"tenant": int32(7)}}}), 200, "")
	m.want("add-rule", add("a-true", sqlRule("1=1")), 200, "")
	m.want("remove-rule", remove("A-TRUE"), 200, "") // names are compared without case
	b.put(topicName, labelled("x", with("labelled", "tenant", int32(7))), labelled("x", with("other", "tenant", int32(8))), with("numbered", "n", 1.0))
	got := b.wantFrom("s", stamps{body: "to all", seq: 1, first: 1}, stamps{body: "labelled", seq: 2, first: 3}, stamps{body: "numbered", seq: 3, first: 5})
	b.wantProperty(got[2], "seen", int64(1))
	b.wantProperty(got[2], "RuleName", "b-sql")

	rules = m.rules(0, 1<<31-1) // as JavaScript and Java ask
	if len(rules) != 2 || rules[0].name != "C-label" || rules[1].name != "b-sql" {
		b.Fatalf("rules %+v, want C-label and b-sql in ordinal order", rules)
	}
	if r := rules[0]; r.filterCode != correlationCode || len(r.filter) != 9 || r.filter[4] != "x" || r.actionCode != noActionCode ||
		fmt.Sprint(r.filter[8]) != fmt.Sprint(map[string]any{"tenant": int32(7)}) {
		b.Errorf("correlation rule is %+v", r)
	}
	if r := rules[1]; r.filterCode != sqlFilterCode || fmt.Sprint(r.filter) != "[n = 1 20]" || r.actionCode != sqlActionCode || fmt.Sprint(r.action) != "[SET seen = 1 20]" {
		b.Errorf("SQL rule is %+v", r)
	}
}

func TestTOP16_PagesOfRules(t *testing.T) {
	b := serveTopic(t, []harness.Subscription{subscription("s")})
	m := b.subManager("s")
	for _, name := range []string{"c", "a", "B", "d"} {
		m.want("add-rule", add(name, sqlRule("1=0")), 200, "")
	}
	for _, top := range []int32{1, 2, 3, 5, 100} {
		b.wantTexts(fmt.Sprintf("pages of %d", top), m.names(top), "$Default", "B", "a", "c", "d")
	}
}

func TestTOP8_ERR6_RefusalsOfRules(t *testing.T) {
	b := serveTopic(t, []harness.Subscription{subscription("s")}, harness.Queue{Name: queueName})
	m := b.subManager("s")
	m.want("add-rule", add("r", sqlRule("n = 1")), 200, "")
	for _, tt := range []struct {
		what, operation string
		body            map[string]any
		status          int32
		condition, text string
	}{
		{"second of a name", "add-rule", add("R", sqlRule("1=1")), 409, "com.microsoft:entity-already-exists",
			"The messaging entity '" + b.server.Name() + ":Topic:prices|s|R' already exists."},
		{"unknown name", "remove-rule", remove("missing"), 404, "amqp:not-found",
			"The messaging entity '" + b.server.Name() + ":Topic:prices|s|missing' could not be found."},
		{"its tracker", "remove-rule", remove("missing"), 404, "amqp:not-found", ", SystemTracker:" + b.server.Name() + ":Topic:prices|s|missing, "},
		{"bad filter", "add-rule", add("bad", sqlRule("n = = 1")), 400, "com.microsoft:argument-error",
			"There was an error parsing the SQL expression. [Token line=1, column=4, Token in error= =, Additional details= "},
		{"bad action", "add-rule", add("bad", map[string]any{"sql-filter": expression("1=1"), "sql-rule-action": expression("SET")}), 400,
			"com.microsoft:argument-error", "There was an error parsing the SQL expression."},
		{"no filter", "add-rule", add("bad", map[string]any{}), 400, "com.microsoft:argument-error", "no filter"},
	} {
		a := m.want(tt.operation, tt.body, tt.status, tt.condition)
		b.wantErrorText(tt.what, errors.New(a.description), tt.text)
	}
	b.wantTexts("rules after all refusals", m.names(100), "$Default", "r")
	queue := b.manage(b.dial(), queueName)
	if a := queue.ask("add-rule", add("r", sqlRule("1=1"))); a.status < 400 {
		b.Errorf("a queue took a rule with status %d", a.status)
	}
}

// Added rules are there after kill -9 and removed ones are not, although the configuration does not say so.
func TestTOP8_DEC21_RulesSurviveKill9(t *testing.T) {
	t.Parallel()
	o := harness.Options{Config: topicConfig(t, []harness.Subscription{subscription("s")}), Data: filepath.Join(t.TempDir(), "minibus.db")}
	b := startServer(t, o)
	m := b.subManager("s")
	m.want("add-rule", add("even", map[string]any{"sql-filter": expression("n % 2 = 0"), "sql-rule-action": expression("SET seen = TRUE")}), 200, "")
	m.want("remove-rule", remove("$Default"), 200, "")
	b.put(topicName, with("1", "n", int32(1)), with("2", "n", int32(2)))
	began := b.began
	b.server.Kill(t)
	b = startServer(t, o)
	b.began = began
	b.wantTexts("rules after the restart", b.subManager("s").names(100), "even")
	b.put(topicName, with("3", "n", int32(3)), with("4", "n", int32(4)))
	for _, got := range b.wantFrom("s", stamps{body: "2", seq: 1, first: 2}, stamps{body: "4", seq: 2, first: 4}) {
		b.wantProperty(got, "seen", true)
	}
}
