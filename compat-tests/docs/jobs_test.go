package docs

import (
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

const jobsPage = "docs/jobs.md"

// TestTheCommandsAboutSessionsAndJobs runs those of the page against a Minibus with the queue that they name.
func TestTheCommandsAboutSessionsAndJobs(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	t.Setenv("SERVICEBUS_CONNECTION_STRING", s.ConnectionString())
	sessions := strings.Replace(blockOf(t, jobsPage, "minibus sessions ls"), "minibus sessions break", "! minibus sessions break", 1)
	lines := "set -e\nminibus queue create orders --requires-session\nminibus send orders x --session table-7\n" + sessions + blockOf(t, jobsPage, "minibus purge orders")
	out, err := shell(t, t.TempDir(), lines)
	if err != nil || !strings.Contains(out, "is not locked") || !strings.Contains(out, `{"step": 2}`) && !strings.Contains(out, "wrote the state") || strings.Count(out, "from orders") != 5 {
		t.Errorf("%v: the lines print\n%s", err, out)
	}
}
