package js

import (
	"testing"

	"minibus/compat-tests/harness"
)

// TestJavaScriptControl steers a server with the typed client of clients/typescript, with the SDK on the other side.
func TestJavaScriptControl(t *testing.T) {
	r := newest(t)
	harness.InstallNodeModules(t, "../../clients/typescript")
	r.test(t, harness.Start(t, harness.Options{Alone: true}), nil, "control.test.mjs")
}
