package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

const entitiesPage = "docs/entities.md"

// TestTheCommandsAboutConfigurations runs those of the page with a file that changes a queue. What differs is printed as the page shows it.
func TestTheCommandsAboutConfigurations(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	t.Setenv("SERVICEBUS_CONNECTION_STRING", s.ConnectionString())
	dir := t.TempDir()
	const config = `{"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", "Queues": [{"Name": "orders", "Properties": {"MaxDeliveryCount": 7}}, {"Name": "bulk"},
		{"Name": "sessions", "Properties": {"RequiresSession": true}}], "Topics": []}]}}`
	if err := os.WriteFile(filepath.Join(dir, "Config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	before := "set -e\nminibus queue rm queue.1\nminibus topic rm topic.1\nminibus queue create orders --max-delivery-count 3 --default-message-time-to-live 1h\nminibus queue create old\nminibus queue create sessions\n"
	shown := blockOf(t, entitiesPage, "~ queue orders")
	out, err := shell(t, dir, before+"minibus config diff Config.json --prune || [ $? = 1 ]\nminibus queue rm sessions\n")
	for line := range strings.Lines(shown) {
		if !strings.Contains(out, strings.TrimRight(line, "\n")) {
			t.Errorf("the command does not print %q", line)
		}
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
	lines := strings.Replace(blockOf(t, entitiesPage, "minibus config check"), "minibus config diff", "! minibus config diff", 1)
	out, err = shell(t, dir, "set -e\n"+lines+"minibus config diff Config.json\n")
	if err != nil || !strings.HasSuffix(strings.TrimSpace(out), "the same: 3") && !strings.Contains(out, "the same: 3\n") {
		t.Errorf("%v: the lines print\n%s", err, out)
	}
}
