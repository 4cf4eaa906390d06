package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// matched has what these tests read of an answer.
type matched struct {
	Reached       []string
	Subscriptions []struct {
		Name   string
		Copies []struct{ Rule string }
		Rules  []struct {
			Name, Outcome string
			Reasons       []struct{ Text string }
		}
	}
}

// TestRuleTest asks rules about messages, and compares what it says with what the SDK's messages do.
func TestRuleTest(t *testing.T) {
	b := start(t, queue("billing"), harness.Topic{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "audit"}}, {Queue: harness.Queue{Name: "large"}}}})
	b.run("rule", "rm", "events/large", "$Default")
	b.run("rule", "create", "events/large", "amount", "--sql", "amount > 1000 AND sys.Label = 'order'", "--action", "SET priority = 'high'")
	b.run("sub", "update", "events/audit", "--forward-to", "billing")

	want := "audit: reached\n  a copy by rule $Default\n    goes on to billing\nlarge: not reached\n  rule amount is false\n" +
		"    amount > 1000 is false: amount is 7\n    sys.Label = 'order' is unknown: sys.Label is NULL\n"
	if got := b.run("rule", "test", "events", "-p", "amount=int:7"); got != want {
		t.Errorf("rule test prints\n%s\nwant\n%s", got, want)
	}
	want = "large: reached\n  a copy by rule amount\n    RuleName: none -> \"amount\"\n    priority: none -> \"high\"\n"
	if got := b.run("rule", "test", "events/large", "-p", "amount=long:1500", "--subject", "order", "--ttl", "1h"); got != want {
		t.Errorf("rule test prints\n%s\nwant\n%s", got, want)
	}
	m := decode[matched](b, b.run("rule", "test", "events", "-p", "amount=5000", "--subject", "order", "-o", "json"))
	if !slices.Equal(m.Reached, []string{"audit"}) || m.Subscriptions[1].Rules[0].Reasons[0].Text != "amount > 1000 is unknown: amount is '5000', string > long: the types do not fit" {
		t.Errorf("rule test answers %+v", m)
	}

	sender, err := b.client.NewSender("events", nil)
	b.must("make a sender", err)
	for _, amount := range []any{int64(7), int64(1500), "5000"} {
		b.must("send", sender.SendMessage(b.ctx, &azservicebus.Message{Subject: new("order"), ApplicationProperties: map[string]any{"amount": amount}}, nil))
	}
	large := b.peek("events/large")
	if len(large) != 1 || large[0].ApplicationProperties["priority"] != "high" {
		t.Errorf("the subscription has %+v", large)
	}
	answers := lines[matched](b, b.feed(b.run("peek", "events/large", "-o", "jsonl")+"\n"+`{"applicationProperties":{"amount":1}}`, "rule", "test", "events", "--jsonl", "-o", "jsonl"))
	if len(answers) != 2 || len(answers[0].Reached) != 2 || len(answers[1].Reached) != 1 {
		t.Errorf("of lines rule test answers %+v", answers)
	}
}

// TestRuleTestTriesRules asks rules that are not stored, and refuses what is wrong.
func TestRuleTestTriesRules(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("q"), harness.Topic{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "audit"}}}})
	for _, entity := range []string{"events", "events/audit", "events/Subscriptions/audit"} {
		m := decode[matched](b, b.run("rule", "test", entity, "-p", "size=int:3", "--sql", "size IN (1, 2)", "-o", "json"))
		if len(m.Reached) != 0 || len(m.Subscriptions) != 1 || m.Subscriptions[0].Rules[0].Outcome != "false" {
			t.Errorf("%s: %+v", entity, m)
		}
	}
	file := filepath.Join(t.TempDir(), "rule.json")
	b.must("write a rule", os.WriteFile(file, []byte(`{"Properties": {"FilterType": "Correlation", "CorrelationFilter": {"Properties": {"size": {"Type": "int", "Value": 3}}}}}`), 0o600))
	if m := decode[matched](b, b.run("rule", "test", "events/audit", "-p", "size=int:3", "--rule", file, "-o", "json")); !slices.Equal(m.Reached, []string{"audit"}) {
		t.Errorf("a rule in a file: %+v", m)
	}
	if rules := b.run("rule", "ls", "events/audit"); strings.Count(rules, "\n") != 2 || !strings.Contains(rules, "$Default") {
		t.Errorf("the rules are now %s", rules)
	}
	b.fails(2, []string{"Token line=1, column=7"}, "rule", "test", "events", "--sql", "size > > 1")
	b.fails(2, []string{"--sql and --rule"}, "rule", "test", "events", "--sql", "1=1", "--rule", file)
	b.fails(2, []string{"--action belongs"}, "rule", "test", "events", "--action", "SET a = 1")
	b.fails(2, []string{"add --jsonl"}, "rule", "test", "events", "-f", file)
	b.fails(2, []string{"line 1", "colour"}, "rule", "test", "events", "--jsonl", "-f", b.file("lines", `{"colour": "red"}`))
	b.fails(2, []string{"needs TOPIC"}, "rule", "test")
	b.fails(3, []string{"could not be found"}, "rule", "test", "nothing")
	b.fails(1, []string{"has no rules"}, "rule", "test", "q")
	b.fails(6, []string{"nothing listens"}, "-c", nowhere, "rule", "test", "events")
}
