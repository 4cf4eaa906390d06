package clients

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

const directory = "../../clients"

// patience is how long a client may take.
const patience = 2 * time.Minute

// TestPython runs the example, which uses functions that wait and one for asyncio, and the lines in README.md.
func TestPython(t *testing.T) {
	harness.NeedAll(t, "to make the clients")
	dir := filepath.Join(harness.Clients(t), "python")
	python := harness.Python(t, filepath.Join(directory, "python"))
	client(t, dir, python, "example.py")
	for _, text := range []string{fenced(t, "python"), pythonErrors} {
		client(t, dir, python, "-c", text)
	}
}

const pythonErrors = `import asyncio, os
from minibus_control import ControlError, connect
from minibus_control.rest.api.namespaces import get_namespace
from minibus_control.rest.models import Error

client = connect(os.environ["SERVICEBUS_CONNECTION_STRING"])
for call in (lambda: get_namespace.sync("none", client=client), lambda: asyncio.run(get_namespace.asyncio("none", client=client))):
    try:
        call()
        raise AssertionError("no error")
    except ControlError as e:
        assert e.status == 404 and "could not be found" in e.detail, e
silent = connect(os.environ["SERVICEBUS_CONNECTION_STRING"], raise_errors=False)
assert isinstance(get_namespace.sync("none", client=silent), Error)
try:
    connect("Endpoint=sb://localhost")
    raise AssertionError("no error")
except ValueError as e:
    assert "lacks SharedAccessKeyName, SharedAccessKey:" in str(e), e
`

// TestPackages makes the package of a release.
func TestPackages(t *testing.T) {
	harness.NeedAll(t, "to make the clients")
	out := t.TempDir()
	python := harness.Python(t, filepath.Join(directory, "python"))
	pack := exec.Command("../../packaging/clients.sh", "pack", "v1.2.3-rc.1", out)
	pack.Env = append(os.Environ(), "PYTHON="+python)
	if text, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	wheel := filepath.Join(out, "minibus_control-1.2.3rc1-py3-none-any.whl")
	for name, list := range map[string]*exec.Cmd{
		"minibus_control/rest/client.py":  exec.Command("python3", "-m", "zipfile", "-l", wheel),
		"minibus_control/rest/api/clock/": exec.Command("python3", "-m", "zipfile", "-l", wheel),
	} {
		if text, err := list.CombinedOutput(); err != nil || !strings.Contains(string(text), name) {
			t.Errorf("%v: no %s in\n%s", err, name, text)
		}
	}
}

// fenced returns the lines of a language in README.md.
func fenced(t *testing.T, language string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(directory, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), "```"+language+"\n")
	if !found {
		t.Fatalf("clients/README.md has no lines in %s", language)
	}
	lines, _, _ := strings.Cut(after, "```")
	return lines
}

// client runs a program of a client against a server.
func client(t *testing.T, dir string, command ...string) {
	t.Helper()
	server := harness.Start(t, harness.Options{Config: harness.WriteTopology(t, []harness.Queue{{Name: "orders"}}, nil)})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SERVICEBUS_CONNECTION_STRING="+server.ConnectionString(), "PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}
