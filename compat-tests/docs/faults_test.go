package docs

import (
	"regexp"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

const faultsPage = "docs/faults.md"

// TestTheRequestsAboutFaults gives those of the page, each with the status of its answer.
func TestTheRequestsAboutFaults(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	requests := regexp.MustCompile(`(?m)^ {4}(curl .*?) +# (\d{3})$`).FindAllStringSubmatch(moved(s, harness.ReadPage(t, faultsPage)), -1)
	if len(requests) != 8 {
		t.Fatalf("the page has %d requests", len(requests))
	}
	answered(t, requests)
}

// TestTheCommandsAboutFaults runs those of the page against a Minibus with the queue that they name. The program between them sends a message whose answer is lost.
func TestTheCommandsAboutFaults(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	t.Setenv("SERVICEBUS_CONNECTION_STRING", s.ConnectionString())
	middle := strings.Replace(blockOf(t, faultsPage, "minibus fault add drop"), "\n", "\nminibus send orders x\nminibus queue show orders -o json\n", 1)
	lines := "set -e\nminibus queue create orders\n" + blockOf(t, faultsPage, "minibus fault add throttle") + middle + blockOf(t, "docs/cli.md", "minibus fault add throttle")
	out, err := shell(t, t.TempDir(), lines)
	if err != nil || !strings.Contains(out, "injected fault 1: throttle hits send\n") || !strings.Contains(out, "delay 500ms") || strings.Count(out, "removed all faults") != 3 ||
		!strings.Contains(out, `"active": 2`) {
		t.Errorf("%v: the lines print\n%s", err, out)
	}
}
