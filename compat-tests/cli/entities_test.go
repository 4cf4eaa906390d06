package cli

import (
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// entity has what these tests read of an entity.
type entity struct {
	Kind, Name, Topic string
	Counts            map[string]int
	Properties        map[string]any
}

func TestQueues(t *testing.T) {
	b := start(t, queue("orders"))
	b.send("orders", "a", "b")
	if table := b.run("queue", "ls"); !strings.HasPrefix(table, "NAME ") || !strings.Contains(table, "\norders  Active       2 ") {
		t.Errorf("queue ls prints %q", table)
	}
	b.run("queue", "create", "made", "--lock-duration", "30s", "--max-delivery-count", "3", "--requires-session",
		"--default-message-time-to-live", "14d", "--forward-dead-lettered-messages-to", "orders", "--user-metadata", "größer < &")
	b.run("queue", "update", "made", "--lock-duration=PT10S", "--status", "disabled", "--dead-lettering-on-message-expiration")
	got := decode[entity](b, b.run("queue", "show", "made", "-o", "json"))
	for name, want := range map[string]any{"LockDuration": "PT10S", "MaxDeliveryCount": 3.0, "RequiresSession": true, "DefaultMessageTimeToLive": "P14D",
		"ForwardDeadLetteredMessagesTo": "orders", "UserMetadata": "größer < &", "Status": "Disabled", "DeadLetteringOnMessageExpiration": true} {
		if got.Properties[name] != want {
			t.Errorf("%s is %v, want %v", name, got.Properties[name], want)
		}
	}
	b.run("queue", "update", "made", "--forward-dead-lettered-messages-to", "", "--status", "active")
	got = decode[entity](b, b.run("queue", "show", "made", "-o", "jsonl"))
	if target, has := got.Properties["ForwardDeadLetteredMessagesTo"]; has && target != "" || got.Properties["MaxDeliveryCount"] != 3.0 {
		t.Errorf("after the update the queue has %v", got.Properties)
	}
	if all := decode[[]entity](b, b.run("queue", "ls", "-o", "json")); len(all) != 2 || all[0].Name != "made" || all[1].Counts["active"] != 2 {
		t.Errorf("queue ls prints %+v", all)
	}
	if text := b.run("queue", "show", "made"); !strings.Contains(text, "lock-duration") || !strings.Contains(text, "PT10S") {
		t.Errorf("queue show prints %q", text)
	}
	b.run("queue", "create", "made", "--if-not-exists", "--lock-duration", "1m")
	if again := decode[entity](b, b.run("queue", "show", "made", "-o", "json")); again.Properties["LockDuration"] != "PT10S" {
		t.Errorf("--if-not-exists changed the queue: %v", again.Properties)
	}
	b.run("queue", "rm", "made", "orders")
	b.run("queue", "rm", "made", "--if-exists")
	if all := b.run("queue", "ls", "-o", "json"); strings.TrimSpace(all) != "[]" {
		t.Errorf("after rm queue ls prints %q", all)
	}
}

func TestTopicsAndSubscriptions(t *testing.T) {
	b := start(t, queue("bulk"))
	b.run("topic", "create", "events", "--requires-duplicate-detection", "--duplicate-detection-history-time-window", "20m")
	b.run("sub", "create", "events/audit", "--max-delivery-count", "5", "--dead-lettering-on-filter-evaluation-exceptions=false")
	b.run("sub", "create", "events/Subscriptions/large", "--forward-to", "bulk")
	b.run("sub", "update", "events/large", "--lock-duration", "2m")
	got := decode[entity](b, b.run("sub", "show", "events/large", "-o", "json"))
	if got.Topic != "events" || got.Name != "large" || got.Properties["ForwardTo"] != "bulk" || got.Properties["LockDuration"] != "PT2M" {
		t.Errorf("sub show prints %+v", got)
	}
	got = decode[entity](b, b.run("sub", "show", "events/audit", "-o", "json"))
	if got.Properties["DeadLetteringOnFilterEvaluationExceptions"] != false || got.Properties["MaxDeliveryCount"] != 5.0 {
		t.Errorf("sub show prints %+v", got)
	}
	b.run("send", "events", "x")
	for _, args := range [][]string{{"sub", "ls"}, {"sub", "ls", "events"}} {
		all := lines[entity](b, b.run(append(args, "-o", "jsonl")...))
		if len(all) != 2 || all[0].Name != "audit" || all[0].Counts["active"] != 1 || all[1].Name != "large" {
			t.Errorf("%v prints %+v", args, all)
		}
	}
	if all := decode[[]entity](b, b.run("topic", "ls", "-o", "json")); len(all) != 1 || all[0].Counts["subscriptions"] != 2 ||
		all[0].Properties["DuplicateDetectionHistoryTimeWindow"] != "PT20M" {
		t.Errorf("topic ls prints %+v", all)
	}
	b.run("sub", "rm", "events/audit")
	b.run("topic", "rm", "events", "-y")
	b.fails(3, []string{"events", "minibus topic ls"}, "sub", "ls", "events")
}

func TestRules(t *testing.T) {
	b := start(t, nil, harness.Topic{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "s"}}}})
	b.run("rule", "rm", "events/s", "$Default")
	b.run("rule", "create", "events/s", "big", "--sql", "amount > 1000", "--action", "SET priority = 'high'")
	b.run("rule", "create", "events/s", "red", "--correlation", "subject=red", "-p", "size=int:5")
	b.run("rule", "create", "events/s", "big", "--false", "--if-not-exists")
	type rule struct {
		Name, Filter, SQL, Action string
		Correlation               map[string]any
		ApplicationProperties     map[string]any
	}
	all := lines[rule](b, b.run("rule", "ls", "events/s", "-o", "jsonl"))
	if len(all) != 2 || all[0].SQL != "amount > 1000" || all[0].Action != "SET priority = 'high'" || all[1].Correlation["subject"] != "red" ||
		all[1].ApplicationProperties["size"] != 5.0 {
		t.Fatalf("rule ls prints %+v", all)
	}
	b.run("send", "events", "1", "-p", "amount=int:2000")
	b.run("send", "events", "2", "-p", "amount=int:200")
	b.run("send", "events", "3", "--subject", "red", "-p", "size=int:5")
	b.wantBodies("what the rules let through", b.peek("events/s"), "1", "3")
	b.run("rule", "update", "events/s", "big", "--sql", "amount > 5000")
	if got := decode[rule](b, b.run("rule", "show", "events/s", "big", "-o", "json")); got.SQL != "amount > 5000" || got.Action != "" {
		t.Errorf("rule show prints %+v", got)
	}
	b.fails(1, []string{"it exists", "--if-not-exists"}, "rule", "create", "events/s", "big", "--true")
	b.fails(3, []string{"no such rule", "minibus rule ls events/s"}, "rule", "show", "events/s", "none")
	b.fails(3, []string{"no such rule"}, "rule", "rm", "events/s", "none")
	b.fails(3, []string{"no such rule"}, "rule", "update", "events/s", "none", "--true")
	for _, args := range [][]string{{"rule", "create", "events/none", "big", "--true"}, {"rule", "update", "events/none", "big", "--true"}, {"rule", "show", "events/none", "big"},
		{"rule", "rm", "events/none", "big"}, {"rule", "create", "none/s", "big", "--true"}} {
		b.fails(3, []string{"there is no such subscription; minibus sub ls lists"}, args...)
	}
	b.run("rule", "rm", "events/s", "none", "--if-exists")
	b.fails(2, []string{"one filter"}, "rule", "create", "events/s", "two", "--true", "--sql", "a = 1")
	b.fails(2, []string{"--correlation", `"colour=red"`, "subject"}, "rule", "create", "events/s", "two", "--correlation", "colour=red")
	b.fails(1, []string{"create rule bad", "400"}, "rule", "create", "events/s", "bad", "--sql", "a >")
}

func TestMistakesAboutEntities(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("orders"))
	b.fails(1, []string{"create queue orders", "it exists", "--if-not-exists", "queue update"}, "queue", "create", "orders")
	b.fails(3, []string{"queue none", "minibus queue ls"}, "queue", "show", "none")
	b.fails(3, []string{"create subscription none/s: there is no such topic; minibus topic ls lists"}, "sub", "create", "none/s")
	for _, args := range [][]string{{"peek", "none/s"}, {"receive", "none/s"}, {"send", "none", "x"}} {
		r := b.try(args...)
		b.failed(r, 3, []string{"could not be found", "minibus sub ls"}, args...)
		if strings.Contains(r.errors, ".;") || strings.Contains(r.errors, ". (") {
			t.Errorf("minibus %v says %q", args, r.errors)
		}
	}
	b.fails(3, []string{"list the dead letters of none: ", "could not be found"}, "dlq", "ls", "none")
	b.fails(3, []string{"resubmit from none/$DeadLetterQueue: "}, "dlq", "resubmit", "none")
	b.fails(3, []string{"queue none", "minibus queue ls"}, "queue", "update", "none", "--status", "Active")
	b.fails(3, []string{"queue none", "minibus queue ls"}, "queue", "rm", "none")
	b.fails(2, []string{"--lock-duration", `"soon"`, "PT1M"}, "queue", "create", "x", "--lock-duration", "soon")
	b.fails(2, []string{"--status", `"off"`, "Disabled"}, "queue", "create", "x", "--status", "off")
	b.fails(2, []string{"--max-delivery-count", `"many"`, "number"}, "queue", "create", "x", "--max-delivery-count", "many")
	b.fails(2, []string{"--requires-session", "created"}, "queue", "update", "orders", "--requires-session")
	b.fails(2, []string{"no property"}, "queue", "update", "orders")
	b.fails(2, []string{"QUEUE"}, "queue", "show")
	b.fails(2, []string{"second word", "ls|show"}, "queue")
	b.fails(2, []string{`"lss"`, "did you mean ls?"}, "queue", "lss")
	b.fails(2, []string{"--lock-duraton", "did you mean --lock-duration?"}, "queue", "create", "x", "--lock-duraton", "1m")
	b.fails(2, []string{"--output", `"xml"`, "jsonl"}, "queue", "ls", "-o", "xml")
	b.fails(2, []string{"TOPIC/SUBSCRIPTION", `"events"`}, "sub", "show", "events")
	b.fails(2, []string{`'?'`, "orders?x"}, "queue", "rm", "orders?x")
	b.fails(1, []string{"create queue a b", "400"}, "queue", "create", "a b")
	if all := decode[[]entity](b, b.run("queue", "ls", "-o", "json")); len(all) != 1 {
		t.Errorf("after the mistakes there are %+v", all)
	}
}

// TestShowOfTheOtherKind takes a topic for a queue, and a queue for a topic.
func TestShowOfTheOtherKind(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("orders"), harness.Topic{Name: "events"})
	b.fails(3, []string{"events is a topic; see minibus topic show events"}, "queue", "show", "events")
	b.fails(3, []string{"orders is a queue; see minibus queue show orders"}, "topic", "show", "orders")
}
