package python

import (
	"path/filepath"
	"testing"

	"minibus/compat-tests/harness"
)

// TestPythonControl steers a server with the typed client of clients/python, with the SDK on the other side.
func TestPythonControl(t *testing.T) {
	python := needPython(t)
	client := filepath.Join(harness.Clients(t), "python")
	server := harness.Start(t, harness.Options{Alone: true})
	run(t, python, append(server.Environ(), "PYTHONPATH="+client), "control.py")
}
