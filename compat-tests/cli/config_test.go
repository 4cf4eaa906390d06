package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// shownDiff has what these tests read of a diff.
type shownDiff struct {
	Same, Applied bool
	Refused       string
	Summary       map[string]int
	Entities      []struct{ Path, Action string }
}

// file writes a file and returns its path.
func (b *bench) file(name, text string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), name)
	b.must("write", os.WriteFile(path, []byte(text), 0o600))
	return path
}

const wanted = `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns",
	"Queues": [{"Name": "orders", "Properties": {"MaxDeliveryCount": 7}}, {"Name": "bulk"}],
	"Topics": [{"Name": "events", "Subscriptions": [{"Name": "large", "Properties": {"ForwardTo": "bulk"}, "Rules": [
		{"Name": "big", "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "amount > 1000"}}}]}]}]}]}}`

// TestConfig prints, compares and applies, and the SDK's administration sees the result; it is there after kill -9.
func TestConfig(t *testing.T) {
	b, again := durable(t)
	b.run("queue", "create", "extra")
	file := b.file("Config.json", wanted)
	b.run("config", "check", file, "-o", "json")
	b.fails(1, []string{"does not exist"}, "config", "check", "missing.json")
	r := b.try("config", "diff", file)
	if r.code != 1 || !strings.Contains(r.out, "~ queue orders\n    MaxDeliveryCount: 3 -> 7\n+ queue bulk\n+ topic events\n+ subscription events/Subscriptions/large\nwould create 3, change 1, delete 0; the same: 0\n") ||
		r.errors != "not in the file, and left alone without --prune: 1\n" {
		t.Errorf("config diff: %+v", r)
	}
	r = b.try("config", "diff", file, "--prune", "-o", "json")
	if d := decode[shownDiff](b, r.out); r.code != 1 || d.Summary["delete"] != 1 || d.Same || r.errors != "" {
		t.Errorf("config diff --prune: %+v", r)
	}
	if text := b.run("config", "apply", file); !strings.HasSuffix(text, "\ncreate 3, change 1, delete 0; the same: 0\n") {
		t.Errorf("config apply prints %q", text)
	}
	if text := b.run("config", "diff", file); text != "the same: 4\n" {
		t.Errorf("config diff prints %q", text)
	}
	if d := decode[shownDiff](b, b.feed(wanted, "config", "apply", "-", "--prune", "--yes", "-o", "jsonl")); !d.Applied || d.Summary["delete"] != 1 {
		t.Errorf("config apply --prune prints %+v", d)
	}
	if text := b.run("queue", "show", "orders", "-o", "json"); !strings.Contains(text, `"MaxDeliveryCount": 7`) { // the command is made with the SDK
		t.Errorf("the queue is %s", text)
	}
	again() // its Config.json has another orders, and no topic
	if text := b.run("sub", "show", "events/large", "-o", "json"); !strings.Contains(text, `bulk"`) {
		t.Errorf("the subscription is %s", text)
	}
	printed := b.run("config", "print")
	if text := b.feed(printed, "config", "diff", "-", "--prune"); text != "the same: 4\n" {
		t.Errorf("what is printed differs: %s", text)
	}
	if text := b.feed(printed, "config", "print", "-"); text != printed {
		t.Errorf("a file is printed as\n%s\nwant\n%s", text, printed)
	}
	if text := b.run("config", "check", b.file("printed.json", printed)); !strings.Contains(text, "good: ") {
		t.Errorf("config check prints %q", text)
	}
}

// TestConfigFails with an exit code that no difference has.
func TestConfigFails(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	b := start(t, []harness.Queue{{Name: "orders"}})
	fixed := b.file("fixed.json", `{"Queues": [{"Name": "orders", "Properties": {"RequiresSession": true}}, {"Name": "new"}]}`)
	r := b.try("config", "diff", fixed)
	if r.code != 1 || !strings.Contains(r.out, "! queue orders\n") || !strings.Contains(r.out, "    RequiresSession: false -> true  (fixed: delete the queue first)\n") || !strings.Contains(r.errors, "it can't be applied: The queue 'orders' exists with another RequiresSession") {
		t.Errorf("config diff: %+v", r)
	}
	b.fails(2, []string{"apply the configuration: Nothing was changed. The queue 'orders' exists with another RequiresSession"}, "config", "apply", fixed)
	if text := b.run("queue", "ls", "-o", "jsonl"); strings.Contains(text, "new") {
		t.Errorf("a refused configuration made %s", text)
	}
	wrong := b.file("wrong.json", "{\n \"Queues\": [{\"Name\": \"a\", \"Properties\": {\"LockDuration\": \"long\"}}]}")
	b.fails(2, []string{"compare the configuration: " + wrong + ":2:58: error: "}, "config", "diff", wrong)
	b.fails(2, []string{"found no UserConfig"}, "config", "print", wrong)
	b.fails(2, []string{"no such file"}, "config", "diff", filepath.Join(t.TempDir(), "none.json"))
	b.fails(2, []string{"config diff needs FILE"}, "config", "diff")
	b.fails(2, []string{"--limits: no profile"}, "config", "print", fixed, "--limits", "none")
	b.fails(6, []string{"nothing listens at localhost:1"}, "-c", "Endpoint=sb://localhost:1;SharedAccessKeyName=a;SharedAccessKey=b;UseDevelopmentEmulator=true", "config", "diff", fixed)
}

// TestControlOff: the commands that need the control API say what to do, those for entities and messages work, and so do the server's own.
func TestControlOff(t *testing.T) {
	t.Parallel()
	server := harness.Start(t, harness.Options{Config: harness.WriteTopology(t, queue("orders"), nil), Args: []string{"--control", "off"}})
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	t.Cleanup(cancel)
	b := &bench{T: t, ctx: ctx, connection: server.ConnectionString()}
	const says = "This Minibus has no control API: it was started with --control off or MINIBUS_CONTROL=off. Start it without that"
	for _, command := range []string{"clock show", "config print", "namespace ls", "conn ls", "why orders", "sessions ls orders", "reset --yes"} {
		b.fails(1, []string{says}, strings.Fields(command)...)
	}
	b.run("queue", "create", "more")
	b.run("send", "orders", "x")
	if text := b.run("receive", "orders"); !strings.Contains(text, "x") {
		t.Errorf("receive prints %q", text)
	}
	b.run("env", "json")
}
