package harness

import (
	"os"
	"testing"
)

// NeedNightly is NeedAll for a test that takes too long for .ci/run. .ci/nightly, which runs it, sets MINIBUS_NIGHTLY too.
func NeedNightly(t testing.TB, what string) {
	t.Helper()
	NeedAll(t, what)
	if os.Getenv("MINIBUS_NIGHTLY") == "" {
		t.Skip("set MINIBUS_NIGHTLY=1 " + what)
	}
}
