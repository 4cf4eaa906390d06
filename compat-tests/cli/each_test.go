package cli

import (
	"testing"

	"minibus/compat-tests/harness"
)

// TestJSONOfCommandsThatChange wants a document from each command that changes something, with what it has done.
func TestJSONOfCommandsThatChange(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, []harness.Queue{{Name: "orders"}, {Name: "tables", RequiresSession: true}})
	b.run("send", "orders", "one")
	b.run("send", "orders", "two", "--schedule", "1h")
	b.run("snapshot", "save", "seeded")
	b.run("namespace", "create", "worker-1")
	config := b.file("Config.json", b.run("config", "print"))
	holder, err := b.client.AcceptSessionForQueue(b.ctx, "tables", "held", nil)
	b.must("hold a session", err)
	defer func() { _ = holder.Close(b.ctx) }()
	for _, test := range []struct {
		key, value string
		args       []string
	}{
		{"name", "q", []string{"queue", "create", "q"}},
		{"name", "q", []string{"queue", "update", "q", "--max-delivery-count", "7"}},
		{"deleted", "q", []string{"queue", "rm", "q", "--yes"}},
		{"name", "t", []string{"topic", "create", "t"}},
		{"name", "t", []string{"topic", "update", "t", "--status", "Disabled"}},
		{"name", "s", []string{"sub", "create", "t/s"}},
		{"name", "s", []string{"sub", "update", "t/s", "--max-delivery-count", "7"}},
		{"sql", "a=1", []string{"rule", "create", "t/s", "r", "--sql", "a=1"}},
		{"sql", "a=2", []string{"rule", "update", "t/s", "r", "--sql", "a=2"}},
		{"deleted", "r", []string{"rule", "rm", "t/s", "r"}},
		{"deleted", "t/s", []string{"sub", "rm", "t/s", "--yes"}},
		{"deleted", "t", []string{"topic", "rm", "t", "--yes"}},
		{"to", "orders", []string{"dlq", "resubmit", "orders"}},
		{"entity", "orders/$DeadLetterQueue", []string{"dlq", "purge", "orders", "--yes"}},
		{"deleted", "worker-1", []string{"namespace", "rm", "worker-1", "--yes"}},
		{"entity", "orders", []string{"message", "rm", "orders", "1"}},
		{"scheduledEnqueueTime", "2099-01-01T00:00:00Z", []string{"message", "reschedule", "orders", "2", "2099-01-01T00:00:00Z"}},
		{"session", "a", []string{"sessions", "set", "tables", "a", "state"}},
		{"session", "a", []string{"sessions", "clear", "tables", "a"}},
		{"session", "held", []string{"sessions", "break", "tables", "held"}},
		{"deleted", "seeded", []string{"snapshot", "rm", "seeded"}},
	} {
		if got := decode[map[string]any](b, b.run(append(test.args, "-o", "json")...)); got[test.key] != test.value {
			t.Errorf("minibus %q says %v, want %s %q in it", test.args, got, test.key, test.value)
		}
	}
	if printed := decode[map[string]any](b, b.run("config", "print", "-o", "json")); printed["UserConfig"] == nil {
		t.Errorf("the configuration is %v", printed)
	}
	if same := decode[shownDiff](b, b.run("config", "diff", config, "-o", "json")); !same.Same {
		t.Errorf("the configuration of the start differs: %+v", same)
	}
}

// TestCommandsThatMeetNothing wants each to say so.
func TestCommandsThatMeetNothing(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, queue("orders"), harness.Topic{Name: "events"})
	b.fails(1, []string{"it exists"}, "topic", "create", "events")
	b.fails(3, []string{"no message with the sequence number 99"}, "message", "body", "orders", "99")
	for _, args := range [][]string{
		{"topic", "show", "nothing"}, {"topic", "update", "nothing", "--status", "Disabled"}, {"topic", "rm", "nothing", "--yes"},
		{"sub", "update", "events/nothing", "--max-delivery-count", "7"}, {"sub", "rm", "events/nothing", "--yes"},
		{"sessions", "clear", "nothing", "a"},
	} {
		b.fails(3, []string{"nothing"}, args...)
	}
	for _, second := range []string{"freeze", "resume"} {
		b.fails(6, []string{"nothing listens"}, "-c", nowhere, "clock", second)
	}
}
