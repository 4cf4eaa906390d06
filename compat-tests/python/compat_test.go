// Package python runs the Python SDK against the built binary.
package python

import (
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/cases"
	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// needPython returns the interpreter with what the tests need. That takes Python 3.11 and the package registry.
func needPython(t *testing.T) string {
	t.Helper()
	harness.NeedAll(t, "to run the Python clients")
	return harness.Python(t, ".")
}

// run runs a script with an environment that bus.py reads.
func run(t *testing.T, python string, environ []string, args ...string) {
	t.Helper()
	harness.Run(t, append(environ, "PYTHONDONTWRITEBYTECODE=1"), python, args...)
}

// start runs a server with a database, beside which it keeps the certificate of its authority, and returns its environment.
func start(t *testing.T, args ...string) []string {
	t.Helper()
	return harness.Start(t, harness.Options{Data: filepath.Join(t.TempDir(), "minibus.db"), Args: args}).Environ()
}

// TestPythonSDK drives azure-servicebus: the clients of administration and of the data plane, over every transport, against a server
// that checks tokens.
func TestPythonSDK(t *testing.T) {
	python := needPython(t)
	run(t, python, start(t, "--auth", "sas", "--root-key", "SAS_KEY_VALUE"), "run.py")
}

// TestOldestPythonSDK does the same with the oldest release that knows the emulator's flag. Its administration client takes the authority from the
// environment only, and the asynchronous one takes none.
func TestOldestPythonSDK(t *testing.T) {
	harness.NeedNightly(t, "to run the oldest release of the Python client")
	python := harness.Python(t, "oldest")
	server := harness.Start(t, harness.Options{
		Data: filepath.Join(t.TempDir(), "minibus.db"), Args: []string{"--auth", "sas", "--root-key", "SAS_KEY_VALUE"},
	})
	environ := append(server.Environ(), cases.OtherColumn+"=python-oldest", "REQUESTS_CA_BUNDLE="+server.CA())
	files, err := filepath.Glob("test_*.py")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	args := []string{"run.py"}
	for _, file := range files {
		if file != "test_admin_aio.py" {
			args = append(args, strings.TrimSuffix(file, ".py"))
		}
	}
	run(t, python, environ, args...)
}

// TestPythonRestarts drives the SDK while the server is restarted under it.
func TestPythonRestarts(t *testing.T) {
	python := needPython(t)
	c := harness.StartForRestarts(t, harness.Options{})
	run(t, python, append(c.Server().Environ(), c.Environ()...), "run.py", "restarts")
}

var update = harness.UpdateFlag()

// TestPythonGoldens compares what the SDK sends with the golden files that mgmt replays without Python.
func TestPythonGoldens(t *testing.T) {
	python := needPython(t)
	environ := start(t)
	harness.Goldens(t, *update, func(dir string) { run(t, python, environ, "record.py", dir) }, "python-queues.txt", "python-topics.txt")
}
