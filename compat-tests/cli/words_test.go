package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

	"minibus/compat-tests/harness"
)

// TestMisspelt wants a guess, or the commands that list what there is, for an entity that does not exist, and a guess for a command.
func TestMisspelt(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("orders"), harness.Topic{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "audit"}}}})
	for _, line := range []string{"why %s", "message ls %s", "fault add throttle --entity %s", "sessions ls %s", "purge %s --scheduled --yes"} {
		b.fails(3, []string{"could not be found. Did you mean orders?"}, strings.Fields(fmt.Sprintf(line, "ordrs"))...)
		b.fails(3, []string{"could not be found; minibus queue ls, minibus topic ls and minibus sub ls list what there is"}, strings.Fields(fmt.Sprintf(line, "unlike"))...)
	}
	for _, line := range []string{"peek %s", "send %s x", "queue show %s", "receive %s", "dlq ls %s", "purge %s --yes", "queue rm %s --yes", "queue update %s --status Active"} {
		b.fails(3, []string{"; did you mean orders?"}, strings.Fields(fmt.Sprintf(line, "ordrs"))...)
		b.fails(3, []string{" list"}, strings.Fields(fmt.Sprintf(line, "unlike"))...)
	}
	b.fails(3, []string{"; did you mean events/audit?"}, "sub", "show", "events/audti")
	b.fails(3, []string{"Did you mean events/Subscriptions/audit?"}, "why", "events/audti")
	b.fails(2, []string{`there is no command "sned", did you mean send?`}, "sned", "orders", "hello")
}

// TestErrorsNameFlags wants the words of the command line in errors of the control API.
func TestErrorsNameFlags(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("orders"))
	b.fails(2, []string{`list the messages of orders: --state: expected value to be one of "active, locked`}, "message", "ls", "orders", "--state", "lost")
	b.fails(2, []string{`inject the fault: KIND: expected value to be one of "throttle`}, "fault", "add", "flood")
	b.fails(2, []string{`inject the fault: --operation: expected value`}, "fault", "add", "throttle", "--operation", "fly")
	b.fails(2, []string{"--probability: expected number <= 1"}, "fault", "add", "throttle", "--probability", "2")
	b.fails(2, []string{`--limits: no profile of limits is called "none"`}, "namespace", "create", "x", "--limits", "none")
	document := b.file("fault.json", `{"kind": "flood"}`)
	b.fails(2, []string{"body.kind: expected value"}, "fault", "add", "--json", document)
}

// TestTooLarge says what the entity takes, and how to raise that.
func TestTooLarge(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("orders"), harness.Topic{Name: "events"})
	big := b.file("big", strings.Repeat("a", 300<<10))
	for entity, kind := range map[string]string{"orders": "queue", "events": "topic"} {
		fix := fmt.Sprintf("minibus %s update %s --max-message-size-in-kilobytes", kind, entity)
		b.fails(1, []string{"larger than the 256 KiB that the " + kind + " " + entity + " takes", fix}, "send", entity, "--file", big)
		b.run(append(strings.Fields(fix)[1:], "512")...)
		b.run("send", entity, "--file", big)
	}
}

// TestOwnName wants the commands to be known by a short name, under which others find them.
func TestOwnName(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("orders"))
	b.run("send", "orders", "hello")
	if out := b.run("history", "--kind", "sent"); !strings.Contains(out, "minibus-cli-") {
		t.Errorf("the history is %s", out)
	}
	b.fails(3, nil, "peek", "nothing")
	if out := b.run("conn", "refused"); !strings.Contains(out, "minibus-cli-") {
		t.Errorf("what was refused: %s", out)
	}
}

// TestDoctorTriesTheConnectionString of the environment, and looks at the server that it names.
func TestDoctorTriesTheConnectionString(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("orders"), harness.Topic{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "audit"}}}})
	receiver, err := b.client.NewReceiverForQueue("events", nil)
	b.must("make a receiver", err)
	if _, err := receiver.PeekMessages(b.ctx, 1, nil); err == nil {
		t.Error("a topic was received from")
	}
	at := func(connection string, code int) map[string]finding {
		cmd := b.command("doctor", "-o", "jsonl", "-c", connection)
		cmd.Env = append(os.Environ(), "SERVICEBUS_CONNECTION_STRING=", "MINIBUS_EPHEMERAL=true")
		r := b.finish(cmd)
		if r.code != code {
			t.Errorf("doctor ended with %d, want %d: %s%s", r.code, code, r.out, r.errors)
		}
		all := make(map[string]finding)
		for _, f := range lines[finding](b, r.out) {
			all[f.About] = f
		}
		return all
	}
	all := at(b.connection, 0)
	b.says(all, "connection", "good", "--connection names ")
	b.says(all, "server", "good", "is ready")
	b.says(all, "refused", "note", "minibus sub ls events lists them")
	b.says(at(nowhere, 1), "connection", "wrong", "nothing listens")
	b.says(at("Endpoint=sb://x", 1), "connection", "wrong", "--connection: ")
}

// TestWhyOfATopic gives advice that is about its subscriptions.
func TestWhyOfATopic(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, nil, harness.Topic{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "audit"}}}})
	b.run("rule", "rm", "events/audit", "$Default")
	b.run("rule", "create", "events/audit", "red", "--sql", "color = 'red'")
	sender, err := b.client.NewSender("events", nil)
	b.must("make a sender", err)
	b.must("send", sender.SendMessage(b.ctx, &azservicebus.Message{}, nil))
	if out := b.run("why", "events"); !strings.Contains(out, "-> Receive from a subscription, and ask about that one. To send messages to events/Subscriptions/audit") {
		t.Errorf("why says %s", out)
	}
	b.fails(5, []string{"not met after 100ms: no messages"}, "wait", "events/audit", "--dead-letter", "1", "--timeout", "100ms")
}

// TestNothingIsMissed of what a program writes: the second of two members of one name, bytes that are no text, and keys of a file that mean nothing.
func TestNothingIsMissed(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("orders"))
	for line, want := range map[string]string{
		`{"body":"a","body":"b"}`: `line 1: not a message in JSON: found "body" twice in one object`,
		`{"Body":"a"}`:            `unknown field "Body", did you mean body?`,
		"{\"body\":\"\xff\"}":     "the text is not UTF-8",
		`{"priority":300}`:        "priority: found 300; allowed: a whole number from 0 to 255",
	} {
		b.failed(b.finish(feeding(b.command("send", "orders", "--jsonl"), line+"\n")), 2, []string{want}, "send", "--jsonl")
	}
	if all := b.peek("orders"); len(all) > 0 {
		t.Errorf("sent: %+v", all)
	}
	b.fails(2, []string{`found "kind" twice in one object`}, "fault", "add", "--json", b.file("fault.json", `{"kind":"throttle","kind":"drop"}`))
	r := b.try("config", "diff", b.file("Config.json", `{"UserConfig":{"Namespaces":[{"Name":"sbemulatorns","Queues":[{"Name":"orders","Properties":{"LockDurtion":"PT1M"}}]}]}}`))
	if !strings.Contains(r.errors, `found the unknown key "LockDurtion", it is ignored; did you mean LockDuration?`) {
		t.Errorf("config diff says %q", r.errors)
	}
}

// TestErrorsSayWhatWorks: where forwarded dead letters are, how to send an empty body, and nothing that only the service's support reads.
func TestErrorsSayWhatWorks(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, []harness.Queue{{Name: "orders", ForwardDeadLettersTo: "failed"}, {Name: "failed"}, {Name: "passing", ForwardTo: "failed"}, {Name: "sessions", RequiresSession: true}})
	for _, line := range []string{"dlq ls orders", "peek orders --dlq", "receive orders/$DeadLetterQueue", "dlq purge orders"} {
		b.fails(1, []string{"its dead letters are forwarded to failed: look there, with minibus peek failed"}, strings.Fields(line)...)
	}
	b.fails(1, []string{"its messages are forwarded to failed"}, "receive", "passing")
	if r := b.try("queue", "create", "x", "--lock-duration", "10m"); r.code != 1 || strings.Contains(r.errors, "TrackingId") || !strings.Contains(r.errors, "maximum of '5' minutes") {
		t.Errorf("queue create says %q", r.errors)
	}
	b.fails(2, []string{"standard input is empty; for a message without a body give ''"}, "send", "failed")
	b.run("send", "failed", "")
	b.run("send", "sessions", "one", "--session", "a")
	b.run("send", "sessions", "two", "--session", "b")
	b.wantBodies("of all sessions", b.peek("sessions"), "one", "two")
	array := b.run("queue", "ls", "-o", "json")
	if !strings.HasPrefix(array, "[\n  {\n    \"kind\": \"queue\",\n") || !strings.HasSuffix(array, "\n  }\n]\n") {
		t.Errorf("the array is %s", array)
	}
}

// TestDryRun says how many messages are meant, and changes nothing.
func TestDryRun(t *testing.T) {
	harness.NeedAll(t, "to try every --dry-run")
	b := start(t, []harness.Queue{{Name: "orders"}, {Name: "sessions", RequiresSession: true}})
	b.send("orders", "a", "b", "c", "d", "e")
	b.run("receive", "orders", "-n", "2", "--dead-letter", "--reason", "bad")
	b.run("send", "orders", "later", "--schedule", "1h")
	b.run("send", "sessions", "s", "--session", "a")
	b.run("snapshot", "save", "kept")
	for line, want := range map[string]string{
		"purge orders": "would have purged 3 messages from orders; nothing changed", "purge orders -n 2": "purged 2 messages", "purge sessions": "purged 1 message from sessions",
		"purge orders --where user.x='y'": "purged 0 messages", "purge orders --scheduled": "purged 1 message from", "purge orders --number 4": "purged 1 message from",
		"dlq purge orders": "purged 2 messages from orders/$DeadLetterQueue", "dlq purge orders --reason bad": "purged 2 messages", "dlq purge orders --reason good": "purged 0 messages",
		"dlq resubmit orders": "would have resubmitted 2 dead letters from orders/$DeadLetterQueue to orders; nothing changed", "dlq resubmit orders --number 1": "resubmitted 1 dead letter from",
		"dlq resubmit orders --subject new --reason bad": "resubmitted 2 dead letters", "queue rm orders": "would have deleted queue orders, with 3 active messages, 2 dead letters, 1 scheduled message; nothing changed",
		"message rm orders 3 4": "would have deleted 2 messages from orders; nothing changed", "snapshot rm kept": "would have deleted the snapshot kept: messages: 7, entities: 2; nothing changed",
		"namespace rm sbemulatorns":        "would have deleted namespace sbemulatorns, with entities: 2, messages: 7; nothing changed",
		"namespace rm nothing --if-exists": "", "snapshot rm nothing --if-exists": "",
	} {
		if out := b.run(append(strings.Fields(line), "--dry-run")...); !strings.Contains(out, want) {
			t.Errorf("minibus %s --dry-run prints %q, want %q in it", line, out, want)
		}
	}
	if got := decode[struct {
		DryRun bool
		Purged int
	}](b, b.run("purge", "orders", "--dry-run", "-o", "json")); !got.DryRun || got.Purged != 3 {
		t.Errorf("as JSON it is %+v", got)
	}
	b.fails(3, []string{"there is no such queue"}, "queue", "rm", "unlike", "--dry-run")
	b.fails(3, []string{"number 99"}, "message", "rm", "orders", "3", "99", "--dry-run")
	b.fails(3, []string{"nothing"}, "namespace", "rm", "nothing", "--dry-run")
	b.fails(3, []string{"nothing"}, "snapshot", "rm", "nothing", "--dry-run")
	if n, dead := len(b.peek("orders")), len(b.peek("orders", "--dlq")); n != 4 || dead != 2 {
		t.Errorf("afterwards there are %d messages and %d dead letters", n, dead)
	}
}
