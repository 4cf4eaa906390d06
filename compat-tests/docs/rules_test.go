package docs

import (
	"regexp"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

const rulesPage = "docs/rule-tests.md"

// TestTheCommandsAboutRules runs those of the page, and compares what they print.
func TestTheCommandsAboutRules(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	t.Setenv("SERVICEBUS_CONNECTION_STRING", s.ConnectionString())
	lines := blockOf(t, rulesPage, "minibus topic create")
	lines = regexp.MustCompile(`(?m)^minibus rule test.*$`).ReplaceAllString(lines, "$0; echo")
	out, err := shell(t, t.TempDir(), "set -e\n"+lines)
	want := blockOf(t, rulesPage, "audit: reached")
	if _, printed, ok := strings.Cut(out, "audit: reached"); err != nil || !ok || strings.TrimSpace("audit: reached"+printed) != strings.TrimSpace(want) {
		t.Errorf("%v: the lines print\n%s\nthe page has\n%s", err, out, want)
	}
}
