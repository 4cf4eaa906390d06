package docs

import (
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

const faultsPage = "docs/faults.md"

// TestTheCommandsAboutFaults runs those of the page against a Minibus with the queue that they name. The program between them sends a message whose answer is lost.
func TestTheCommandsAboutFaults(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	t.Setenv("SERVICEBUS_CONNECTION_STRING", s.ConnectionString())
	middle := strings.Replace(blockOf(t, faultsPage, "minibus fault add drop"), "\n", "\nminibus send orders x\nminibus queue show orders -o json\n", 1)
	lines := "set -e\nminibus queue create orders\n" + blockOf(t, faultsPage, "minibus fault add throttle") + middle
	out, err := shell(t, t.TempDir(), lines)
	if err != nil || !strings.Contains(out, "injected fault 1: throttle hits send\n") || !strings.Contains(out, "delay 500ms") || strings.Count(out, "removed all faults") != 2 ||
		!strings.Contains(out, `"active": 2`) {
		t.Errorf("%v: the lines print\n%s", err, out)
	}
}
