package docs

import (
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
