package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

const snapshotsPage = "docs/snapshots.md"

// TestTheCommandsAboutSnapshots runs those of the page: what was purged is there again.
func TestTheCommandsAboutSnapshots(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	t.Setenv("SERVICEBUS_CONNECTION_STRING", s.ConnectionString())
	lines := "set -e\nminibus queue create orders\n" + blockOf(t, snapshotsPage, "minibus send orders") + "\nminibus peek orders -o jsonl\n"
	out, err := shell(t, t.TempDir(), lines)
	if err != nil || !strings.Contains(out, "restored the snapshot seeded: messages: 1, ") || !strings.Contains(out[strings.LastIndex(out, "deleted the snapshot"):], "two coffees") {
		t.Errorf("%v: the lines print\n%s", err, out)
	}
}

// TestTheCommandsAboutSeeds starts with the file of the page, saves it and sends it again.
func TestTheCommandsAboutSeeds(t *testing.T) {
	const page = "docs/seed.md"
	dir := t.TempDir()
	file := filepath.Join(dir, "first.jsonl")
	if err := os.WriteFile(file, []byte(blockOf(t, page, `{"entity": "orders"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	config := harness.WriteTopology(t, []harness.Queue{{Name: "orders"}}, nil)
	s := harness.Start(t, harness.Options{Alone: true, Config: config, Args: []string{"--seed", file}})
	t.Setenv("SERVICEBUS_CONNECTION_STRING", s.ConnectionString())
	out, err := shell(t, dir, "set -e\n"+blockOf(t, page, "minibus seed save --dir")+"\ncat seed/orders.jsonl\n")
	if err != nil || !strings.Contains(out, "saved 2 messages in 1 file of seed") || strings.Count(out, "sent 2 messages") != 2 ||
		!strings.Contains(out, `"scheduledEnqueueTime":"{{now+`) || !strings.Contains(out, `"messageId":"order-1"`) {
		t.Errorf("%v: the lines print\n%s", err, out)
	}
}
