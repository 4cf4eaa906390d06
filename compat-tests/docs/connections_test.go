package docs

import (
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

const connectionsPage = "docs/connections.md"

// TestWhyNothingIsReceived runs the first lines of the page, which print what it shows below them.
func TestWhyNothingIsReceived(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	lines, shown, found := strings.Cut(blockOf(t, connectionsPage, "minibus queue create parcels"), "\n\n")
	if !found {
		t.Fatal("the page does not show what the lines print")
	}
	t.Setenv("SERVICEBUS_CONNECTION_STRING", s.ConnectionString())
	out, err := shell(t, t.TempDir(), lines+"\n")
	if err != nil || !strings.HasSuffix(out, shown) {
		t.Errorf("%v: the lines print\n%s", err, out)
	}
}

// TestTheCommandsAboutTheHistory runs those of docs/history.md.
func TestTheCommandsAboutTheHistory(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	t.Setenv("SERVICEBUS_CONNECTION_STRING", s.ConnectionString())
	lines := blockOf(t, "docs/history.md", "minibus send queue.1") + blockOf(t, "docs/history.md", "minibus wait queue.1")
	out, err := shell(t, t.TempDir(), "set -e\n"+lines)
	if err != nil || strings.Count(out, "because of invalid") != 4 || strings.Count(out, "met: ") != 4 {
		t.Errorf("%v: the lines print\n%s", err, out)
	}
}
