package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

// TestSeed saves what an SDK sees, starts another Minibus with it, whose SDK sees the same, and sends it into a third.
func TestSeed(t *testing.T) {
	b := start(t, []harness.Queue{{Name: "orders"}, {Name: "eu/orders"}}, harness.Topic{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "all"}}}})
	b.run("send", "orders", "poison", "--session", "s1")
	b.run("receive", "orders", "--dead-letter", "--reason", "broken", "--description", "it is bad", "-o", "json")
	b.run("send", "orders", `{"id":7,"text":"{{guid}} ä"}`, "--message-id", "m1", "-p", "size=int:5", "--content-type", "application/json", "--ttl", "2h")
	b.run("send", "orders", "later", "--schedule", "90m")
	b.run("send", "events", "for all")
	b.run("send", "eu/orders", "abroad")

	dir := filepath.Join(b.TempDir(), "seed")
	if text := b.run("seed", "save", "--dir", dir, "--relative"); !regexp.MustCompile(`^saved 5 messages in 4 files of `).MatchString(text) {
		t.Errorf("save prints %q", text)
	}
	all := func(b *bench) string {
		b.Helper()
		var text strings.Builder
		for _, path := range []string{"orders", "orders/$DeadLetterQueue", "events/all", "eu/orders"} {
			for line := range strings.Lines(b.run("peek", path, "--all", "-o", "jsonl")) {
				m := decode[map[string]any](b, line)
				for _, name := range []string{"sequenceNumber", "enqueuedSequenceNumber", "enqueuedTime", "lockedUntil", "deliveryCount", "creationTime", "absoluteExpiryTime"} {
					delete(m, name)
				}
				if _, due := m["scheduledEnqueueTime"]; due {
					at, err := time.Parse(time.RFC3339, m["scheduledEnqueueTime"].(string))
					if left := time.Until(at); err != nil || left < 80*time.Minute || left > 100*time.Minute {
						t.Errorf("due at %v, %v", at, err)
					}
					delete(m, "scheduledEnqueueTime")
				}
				again, err := json.Marshal(m)
				b.must("write", err)
				text.WriteString(path + " " + string(again) + "\n")
			}
		}
		return text.String()
	}
	want := all(b)
	if strings.Count(want, "\n") != 5 || !strings.Contains(want, `"DeadLetterReason":"broken"`) {
		t.Fatalf("peek shows\n%s", want)
	}
	config := b.file("Config.json", b.run("config", "print"))
	data := filepath.Join(b.TempDir(), "minibus.db")
	options := harness.Options{Config: config, Data: data, Args: []string{"--seed", dir}}
	server := harness.Start(t, options)
	second := &bench{T: t, ctx: b.ctx, connection: server.ConnectionString()}
	if have := all(second); have != want {
		t.Errorf("seeded\n%swant\n%s", have, want)
	}
	server.Kill(t)
	server = harness.Start(t, options)
	second.connection = server.ConnectionString()
	if have := all(second); have != want {
		t.Errorf("seeded twice\n%s", have)
	}

	third := &bench{T: t, ctx: b.ctx, connection: harness.Start(t, harness.Options{Config: config}).ConnectionString()}
	if text := third.run("seed", "send", dir); text != "sent 5 messages\n" {
		t.Errorf("send prints %q", text)
	}
	if have := all(third); have != want {
		t.Errorf("sent\n%swant\n%s", have, want)
	}
	saved := third.run("seed", "save", "orders", "events")
	if n := len(lines[map[string]any](b, saved)); n != 4 || !strings.HasPrefix(saved, `{"entity":"orders",`) {
		t.Errorf("save prints\n%s", saved)
	}
	if n := decode[struct{ Sent int }](b, third.feed(saved, "seed", "send", "-", "-o", "json")).Sent; n != 4 {
		t.Errorf("sent %d again", n)
	}
	third.run("purge", "orders", "--dlq", "--yes")
	one := decode[struct {
		Saved int
		Files []string
	}](b, third.run("seed", "save", "orders/$DeadLetterQueue", "events/all", "--dir", dir, "-o", "json"))
	if one.Saved != 2 || len(one.Files) != 1 || one.Files[0] != "events/Subscriptions/all.jsonl" {
		t.Errorf("saved %+v", one)
	}
	b.fails(3, []string{"save the seed: there is no entity missing"}, "seed", "save", "missing")
	b.fails(2, []string{"read the seed: nothing.jsonl does not exist"}, "seed", "send", "nothing.jsonl")
	wrong := b.file("wrong.jsonl", "{\"entity\":\"orders\"}\n{\"entity\":\"orders\",\"body\":\"{{tomorrow}}\"}\n")
	b.fails(2, []string{"wrong.jsonl:2:28: found the placeholder {{tomorrow}}"}, "seed", "send", wrong)
	b.fails(3, []string{"nowhere.jsonl:1: send the seed to nowhere", "could not be found"}, "seed", "send", b.file("nowhere.jsonl", "{}"))
}

// TestSeed_Start stops the start at a mistake, and run has the messages for its command.
func TestSeed_Start(t *testing.T) {
	t.Parallel()
	r := runScript(t, []string{"MINIBUS_SEED=a.jsonl,more"}, []string{"--report", "s.json"}, `"$minibus" receive queue.1 -n 3`)
	for name, text := range map[string]string{"a.jsonl": `{"entity":"queue.1","body":"one"}`, "more/queue.1.jsonl": "{\"body\":\"two {{counter}}\"}\n{\"body\":\"three\"}"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(r.Dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(r.Dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code := r.code(t); code != 0 || !strings.Contains(r.out.String(), "two 2") || !strings.Contains(r.errors.String(), "3 sent, 3 delivered, 3 completed") {
		t.Errorf("exit code %d\n%s%s", code, &r.out, &r.errors)
	}
	r = runScript(t, nil, []string{"--seed", "gone.jsonl"}, `echo it ran`)
	if code := r.code(t); code != 1 || r.out.Len() > 0 || !strings.Contains(r.errors.String(), "minibus: read the seed: gone.jsonl does not exist; name a file") {
		t.Errorf("exit code %d\n%s%s", code, &r.out, &r.errors)
	}
}

// TestConfig_FilesAndTemplates: several files count together, and a template of bicep build is one of them.
func TestConfig_FilesAndTemplates(t *testing.T) {
	template := `{"$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#", "contentVersion": "1.0.0.0",
		"parameters": {"name": {"type": "string"}, "queues": {"type": "array", "defaultValue": ["parcels", "bulk"]}},
		"resources": [{"copy": {"name": "q", "count": "[length(parameters('queues'))]"}, "type": "Microsoft.ServiceBus/namespaces/queues", "apiVersion": "2021-11-01",
			"name": "[format('{0}/{1}', parameters('name'), parameters('queues')[copyIndex()])]", "properties": {"lockDuration": "PT30S"}}]}`
	b := start(t, queue("orders"))
	main, more := b.file("main.json", template), b.file("more.json", wanted)
	if text := b.run("config", "check", main, b.file("Config.json", b.run("config", "print"))); !strings.Contains(text, "good: 3 queues") {
		t.Errorf("check prints %q", text)
	}
	if r := b.try("config", "check", main, more); r.code != 1 || !strings.Contains(r.out, `the name "bulk" a second time (first in `) || !strings.Contains(r.out, "main.json on line 4)") {
		t.Errorf("check prints %+v", r)
	}
	if text := b.run("config", "print", main); !strings.Contains(text, `"Name": "parcels"`) || !strings.Contains(text, `"MaxDeliveryCount": 10`) {
		t.Errorf("print prints %s", text)
	}
	b.run("config", "apply", main, "--yes")
	second := &bench{T: t, ctx: b.ctx, connection: harness.Start(t, harness.Options{Config: main, Args: []string{"--config", b.file("o.json", strings.ReplaceAll(wanted, "bulk", "large"))}}).ConnectionString()}
	for _, b := range []*bench{b, second} {
		b.run("send", "parcels", "x")
		b.run("send", "orders", "x")
	}
	wrong := b.file("wrong.json", strings.ReplaceAll(template, "parameters('queues')[copyIndex()])]", "nothing())]"))
	if r := b.try("config", "check", wrong); r.code != 1 || !strings.Contains(r.out, "which can't be evaluated: Minibus does not evaluate nothing(); pass the value as a parameter") {
		t.Errorf("check prints %+v", r)
	}
}
