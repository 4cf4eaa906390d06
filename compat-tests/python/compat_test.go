// Package python runs the Python SDK against the built binary.
package python

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) {
	code := m.Run()
	harness.Cleanup()
	os.Exit(code)
}

// needPython skips unless MINIBUS_COMPAT=all, since these tests need Python 3.11 and the package registry; continuous
// integration always sets it. It returns the interpreter.
func needPython(t *testing.T) string {
	t.Helper()
	if os.Getenv("MINIBUS_COMPAT") != "all" {
		t.Skip("set MINIBUS_COMPAT=all to run the Python clients")
	}
	return harness.Python(t, ".")
}

// start runs a server with a database, beside which it keeps the certificate of its authority, and returns the environment
// that bus.py reads.
func start(t *testing.T) []string {
	t.Helper()
	data := filepath.Join(t.TempDir(), "minibus.db")
	ports := harness.Start(t, harness.Options{Data: data}).Ports
	return append(os.Environ(),
		"MINIBUS_PORT_AMQP="+strconv.Itoa(ports.AMQP), "MINIBUS_PORT_TLS="+strconv.Itoa(ports.TLS),
		"MINIBUS_PORT_HTTP="+strconv.Itoa(ports.HTTP), "MINIBUS_CA="+filepath.Join(filepath.Dir(data), "minibus-ca.pem"),
		"PYTHONDONTWRITEBYTECODE=1")
}

// run runs a script and shows what it says.
func run(t *testing.T, python string, env []string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, args...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("run python %s: %v", args[0], err)
	}
}

// TestPythonSDK drives azure-servicebus: the clients of administration and of the data plane, over every transport.
func TestPythonSDK(t *testing.T) {
	python := needPython(t)
	run(t, python, start(t), "run.py")
}

var update = flag.Bool("update", false, "write the golden files of mgmt anew; then let its tests write the answers: go test ./mgmt -update")

// TestPythonGoldens compares what the SDK sends with the golden files that mgmt replays without Python.
func TestPythonGoldens(t *testing.T) {
	python := needPython(t)
	const golden = "../../mgmt/testdata/golden"
	dir := golden
	if !*update {
		dir = t.TempDir()
	}
	run(t, python, start(t), "record.py", dir)
	for _, name := range []string{"python-queues.txt", "python-topics.txt"} {
		harness.CompareGoldens(t, filepath.Join(golden, name), filepath.Join(dir, name))
	}
}
