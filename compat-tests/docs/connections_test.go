package docs

import (
	"regexp"
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

// TestTheRequestsAboutConnections gives those of the page, each with the status of its answer.
func TestTheRequestsAboutConnections(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	requests := regexp.MustCompile(`(?m)^(curl .*?) +# (\d{3})$`).FindAllStringSubmatch(moved(s, blockOf(t, connectionsPage, "curl ")), -1)
	if len(requests) < 4 {
		t.Fatalf("the page has %d requests", len(requests))
	}
	answered(t, requests)
}

// TestTheRequestsAboutTheHistory sends those of docs/history.md.
func TestTheRequestsAboutTheHistory(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	requests := regexp.MustCompile(`(?m)^ {4}(curl .*?) +# (\d{3})(?:, .*)?$`).FindAllStringSubmatch(moved(s, harness.ReadPage(t, "docs/history.md")), -1)
	if len(requests) != 7 {
		t.Fatalf("the page has %d requests", len(requests))
	}
	answered(t, requests)
}

// TestTheCommandsAboutTheHistory runs those of docs/history.md.
func TestTheCommandsAboutTheHistory(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	t.Setenv("SERVICEBUS_CONNECTION_STRING", s.ConnectionString())
	lines := blockOf(t, "docs/history.md", "minibus send queue.1") + blockOf(t, "docs/history.md", "minibus wait queue.1")
	out, err := shell(t, t.TempDir(), "set -e\n"+lines)
	if err != nil || strings.Count(out, "because of spoilt") != 4 || strings.Count(out, "met: ") != 4 {
		t.Errorf("%v: the lines print\n%s", err, out)
	}
}

// answered sends requests and fails unless each has the status behind it.
func answered(t *testing.T, requests [][]string) {
	t.Helper()
	for _, r := range requests {
		out, err := shell(t, t.TempDir(), r[1]+" -s -o answer -w '%{http_code}'\n")
		if err != nil || !strings.HasSuffix(strings.TrimSpace(out), r[2]) {
			t.Errorf("%s: %v, %s", r[0], err, out)
		}
	}
}
