package js

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

// startTrusted runs a server on a database of its own and returns the environment for the scripts: the certificate of
// its authority stands beside the database.
func startTrusted(t *testing.T, args ...string) []string {
	t.Helper()
	needNode(t)
	data := filepath.Join(t.TempDir(), "minibus.db")
	server := harness.Start(t, harness.Options{Config: harness.WriteConfig(t), Data: data, Args: args})
	address := func(port int) string { return net.JoinHostPort("localhost", strconv.Itoa(port)) }
	return append(os.Environ(),
		"NODE_EXTRA_CA_CERTS="+filepath.Join(filepath.Dir(data), "minibus-ca.pem"),
		"MINIBUS_CONNECTION_STRING="+server.ConnectionString(),
		"MINIBUS_HTTP="+address(server.Ports.HTTP), "MINIBUS_TLS="+address(server.Ports.TLS), "MINIBUS_ADDR="+server.Addr())
}

// nodeWith runs a script in an environment and shows what it says.
func nodeWith(t *testing.T, env []string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("run node %v: %v", args, err)
	}
}

// TestJavaScriptAdministration drives the SDK's administration client over TLS, against a server that checks every token.
func TestJavaScriptAdministration(t *testing.T) {
	env := startTrusted(t, "--auth", "sas")
	nodeWith(t, env, "--test", "admin-queues.test.mjs", "admin-topics.test.mjs", "admin-rules.test.mjs", "admin-lists.test.mjs", "admin-access.test.mjs")
}
