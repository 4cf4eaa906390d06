package js

import (
	"path/filepath"
	"testing"

	"minibus/compat-tests/harness"
)

// TestJavaScriptControl steers a server with the typed client of clients/typescript, with the SDK on the other side.
func TestJavaScriptControl(t *testing.T) {
	t.Parallel()
	r := newest(t)
	client := "MINIBUS_CLIENT=" + filepath.Join(harness.Clients(t), "typescript", "index.mjs")
	r.test(t, harness.Start(t, harness.Options{Alone: true}), []string{client}, "control.test.mjs")
}
