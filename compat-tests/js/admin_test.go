package js

import (
	"flag"
	"net"
	"path/filepath"
	"strconv"
	"testing"

	"minibus/compat-tests/harness"
)

// startAdmin runs a server on a database of its own, without entities, and returns the environment that admin.mjs reads: the
// certificate of its authority stands beside the database.
func startAdmin(t *testing.T, args ...string) (*harness.Server, []string) {
	t.Helper()
	needNode(t)
	data := filepath.Join(t.TempDir(), "minibus.db")
	server := harness.Start(t, harness.Options{Config: harness.WriteConfig(t), Data: data, Args: args})
	return server, []string{
		"NODE_EXTRA_CA_CERTS=" + filepath.Join(filepath.Dir(data), "minibus-ca.pem"),
		"MINIBUS_HTTP=" + net.JoinHostPort("localhost", strconv.Itoa(server.Ports.HTTP)),
	}
}

// TestJavaScriptAdministration drives the SDK's administration client against a server that checks every token: the stable
// release, which insists on TLS, and the next one, which speaks http to what its connection string calls an emulator.
func TestJavaScriptAdministration(t *testing.T) {
	suite, err := filepath.Glob("admin-*.test.mjs")
	if err != nil || len(suite) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	for _, sdk := range []string{"@azure/service-bus", "service-bus-beta"} {
		t.Run(sdk, func(t *testing.T) {
			server, environ := startAdmin(t, "--auth", "sas")
			nodeWith(t, server, append(environ, "MINIBUS_SDK="+sdk), append([]string{"--test"}, suite...)...)
		})
	}
}

var update = flag.Bool("update", false, "write the golden files of mgmt anew; then let its tests write the answers: go test ./mgmt -update")

// TestJavaScriptGoldens compares what the SDK sends with the golden files that mgmt replays without Node.js.
func TestJavaScriptGoldens(t *testing.T) {
	const golden = "../../mgmt/testdata/golden"
	dir := golden
	if !*update {
		dir = t.TempDir()
	}
	server, environ := startAdmin(t)
	nodeWith(t, server, environ, "admin-record.mjs", dir)
	for _, name := range []string{"javascript-queues.txt", "javascript-topics.txt"} {
		harness.CompareGoldens(t, filepath.Join(golden, name), filepath.Join(dir, name))
	}
}
