package docs

import (
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

const messagesPage = "docs/messages.md"

// TestTheCommandsAboutMessages runs those of the page against a Minibus with what they name.
func TestTheCommandsAboutMessages(t *testing.T) {
	s := harness.Start(t, harness.Options{Alone: true})
	t.Setenv("SERVICEBUS_CONNECTION_STRING", s.ConnectionString())
	lines := "set -e\nminibus queue create orders\nminibus send orders '{\"id\":7}' -p size=int:5\nminibus send orders later --schedule 1h\n" + blockOf(t, messagesPage, "minibus message ls") + "cat body.json\n"
	out, err := shell(t, t.TempDir(), lines)
	if err != nil || !strings.Contains(out, "becomes active at") || !strings.Contains(out, "deleted 1 message from orders") || !strings.HasSuffix(out, `{"id":7}`) || !strings.Contains(out, `{"int":5}`) {
		t.Errorf("%v: the lines print\n%s", err, out)
	}
}
