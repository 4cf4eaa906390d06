// Package python runs the Python SDK against the built binary.
package python

import (
	"path/filepath"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// run runs a script against a server with a database. It needs Python 3.11 and the package registry.
func run(t *testing.T, args ...string) {
	t.Helper()
	harness.NeedAll(t, "to run the Python clients")
	python := harness.Python(t, ".")
	server := harness.Start(t, harness.Options{Data: filepath.Join(t.TempDir(), "minibus.db")})
	harness.Run(t, append(server.Environ(), "PYTHONDONTWRITEBYTECODE=1"), python, args...)
}

// TestPythonSDK drives azure-servicebus: the clients of administration and of the data plane, over every transport.
func TestPythonSDK(t *testing.T) { run(t, "run.py") }

var update = harness.UpdateFlag()

// TestPythonGoldens compares what the SDK sends with the golden files that mgmt replays without Python.
func TestPythonGoldens(t *testing.T) {
	harness.Goldens(t, *update, func(dir string) { run(t, "record.py", dir) }, "python-queues.txt", "python-topics.txt")
}
