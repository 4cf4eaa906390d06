package js

import (
	"path/filepath"
	"testing"

	"minibus/compat-tests/harness"
)

// startAdmin runs a server on its own database, without entities, and returns the environment in which Node.js trusts it.
func startAdmin(t *testing.T, args ...string) (*harness.Server, []string) {
	t.Helper()
	needNode(t)
	server := harness.Start(t, harness.Options{Config: harness.WriteConfig(t), Data: filepath.Join(t.TempDir(), "minibus.db"), Args: args})
	return server, []string{"NODE_EXTRA_CA_CERTS=" + server.CA()}
}

// TestJavaScriptAdministration drives the SDK's administration client against a server that checks every token: the stable
// release, which insists on TLS, and the next one, which speaks http to an endpoint that its connection string calls an emulator.
func TestJavaScriptAdministration(t *testing.T) {
	t.Parallel()
	suite, err := filepath.Glob("admin-*.test.mjs")
	if err != nil || len(suite) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	for _, sdk := range []string{"@azure/service-bus", "service-bus-beta"} {
		t.Run(sdk, func(t *testing.T) {
			server, environ := startAdmin(t, "--auth", "sas")
			node(t, server, append(environ, "MINIBUS_SDK="+sdk), append([]string{"--test"}, suite...)...)
		})
	}
}

// TestJavaScriptParity drives the SDK over entities that its administration client makes, against a server that checks every token.
func TestJavaScriptParity(t *testing.T) {
	t.Parallel()
	newest(t).parity(t)
}

func (r release) parity(t *testing.T) {
	t.Helper()
	suite, err := filepath.Glob("parity-*.test.mjs")
	if err != nil || len(suite) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	server, environ := startAdmin(t, "--auth", "sas")
	r.test(t, server, environ, suite...)
}

// TestJavaScriptFurther does the same for what the other scripts leave out, with the newest release only.
func TestJavaScriptFurther(t *testing.T) {
	t.Parallel()
	server, environ := startAdmin(t, "--auth", "sas")
	newest(t).test(t, server, environ, "further.test.mjs")
}

var update = harness.UpdateFlag()

// TestJavaScriptGoldens compares what the SDK sends with the golden files that mgmt replays without Node.js.
func TestJavaScriptGoldens(t *testing.T) {
	t.Parallel()
	server, environ := startAdmin(t)
	harness.Goldens(t, *update, func(dir string) { node(t, server, environ, "admin-record.mjs", dir) }, "javascript-queues.txt", "javascript-topics.txt")
}
