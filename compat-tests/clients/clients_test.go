package clients

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

var update = flag.Bool("update", false, "write what is generated into the directory clients")

const directory = "../../clients"

// patience is how long a client may take.
const patience = 2 * time.Minute

// TestGenerated compares the directory clients with what the document makes today.
func TestGenerated(t *testing.T) {
	harness.NeedAll(t, "to run what takes long")
	python := harness.Python(t, filepath.Join(directory, "python"))
	harness.InstallNodeModules(t, filepath.Join(directory, "typescript"))
	document := served(t)
	if *update {
		if err := generate(document, directory, python); err != nil {
			t.Fatal(err)
		}
		return
	}
	made := t.TempDir()
	for _, name := range []string{"typescript/package.json", "python/generate.yaml"} {
		text, err := os.ReadFile(filepath.Join(directory, name))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(made, name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(made, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	modules, err := filepath.Abs(filepath.Join(directory, "typescript/node_modules"))
	if err == nil {
		err = os.Symlink(modules, filepath.Join(made, "typescript/node_modules"))
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(made, "python/minibus_control"), 0o755)
	}
	if err == nil {
		err = generate(document, made, python)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"openapi.json", "minibus.http", "typescript/schema.d.ts", "python/minibus_control/rest"} {
		compare(t, filepath.Join(directory, name), filepath.Join(made, name))
	}
}

// compare fails unless two files or trees are equal.
func compare(t *testing.T, kept, made string) {
	t.Helper()
	const cure = "run go test ./compat-tests/clients -run Generated -update"
	want, got := files(t, made), files(t, kept)
	for name, text := range want {
		if got[name] != text {
			t.Errorf("%s is not what the document makes: %s", filepath.Join(kept, name), cure)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is left from an older document: %s", filepath.Join(kept, name), cure)
		}
	}
}

// files reads the files below a path, or the one at it.
func files(t *testing.T, root string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".pyc" {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		all[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatalf("read %s: %v", root, err)
	}
	return all
}

// TestTypeScript checks the types of the example and of the lines in README.md, and runs them.
func TestTypeScript(t *testing.T) {
	dir := filepath.Join(directory, "typescript")
	harness.InstallNodeModules(t, dir)
	example, err := os.ReadFile(filepath.Join(dir, "example.mts"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(example), fenced(t, "ts"), typescriptErrors} {
		build, err := os.MkdirTemp(dir, ".build-") // inside of the package, so that it finds the package by its name
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(build) })
		write(t, filepath.Join(build, "program.mts"), text)
		name := filepath.Base(build)
		client(t, dir, "npx", "tsc", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022",
			"--rootDir", name, "--outDir", name, filepath.Join(name, "program.mts"))
		client(t, dir, "node", filepath.Join(name, "program.mjs"))
	}
}

const typescriptErrors = `import assert from "node:assert/strict";
import { connect, ControlError } from "minibus-control";

const client = connect(process.env["MINIBUS_CONNECTION"]!, { throwErrors: true });
const none = client.GET("/$minibus/v1/namespaces/{namespace}", { params: { path: { namespace: "none" } } });
await assert.rejects(none, (e) => e instanceof ControlError && e.status === 404 && /could not be found/.test(e.detail));
assert.throws(() => connect("Endpoint=sb://localhost"), /lacks SharedAccessKeyName, SharedAccessKey/);
`

// TestPython runs the example, which uses functions that wait and one for asyncio, and the lines in README.md.
func TestPython(t *testing.T) {
	dir := filepath.Join(directory, "python")
	python := harness.Python(t, dir)
	client(t, dir, python, "example.py")
	for _, text := range []string{fenced(t, "python"), pythonErrors} {
		client(t, dir, python, "-c", text)
	}
}

const pythonErrors = `import asyncio, os
from minibus_control import ControlError, connect
from minibus_control.rest.api.namespaces import get_namespace
from minibus_control.rest.models import Error

client = connect(os.environ["MINIBUS_CONNECTION"])
for call in (lambda: get_namespace.sync("none", client=client), lambda: asyncio.run(get_namespace.asyncio("none", client=client))):
    try:
        call()
        raise AssertionError("no error")
    except ControlError as e:
        assert e.status == 404 and "could not be found" in e.detail, e
silent = connect(os.environ["MINIBUS_CONNECTION"], raise_errors=False)
assert isinstance(get_namespace.sync("none", client=silent), Error)
try:
    connect("Endpoint=sb://localhost")
    raise AssertionError("no error")
except ValueError as e:
    assert "lacks SharedAccessKeyName, SharedAccessKey:" in str(e), e
`

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

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// client runs a program of a client against a server.
func client(t *testing.T, dir string, command ...string) {
	t.Helper()
	server := harness.Start(t, harness.Options{Config: harness.WriteTopology(t, []harness.Queue{{Name: "orders"}}, nil)})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "MINIBUS_CONNECTION="+server.ConnectionString(), "PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}
