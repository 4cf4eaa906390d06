package clients

import (
	"context"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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

// TestTypeScript checks the types of the example, and runs it.
func TestTypeScript(t *testing.T) {
	dir := filepath.Join(directory, "typescript")
	harness.InstallNodeModules(t, dir)
	build, err := os.MkdirTemp(dir, ".build-") // inside of the package, so that it finds the package by its name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(build) })
	client(t, dir, "npx", "tsc", "--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022",
		"--rootDir", ".", "--outDir", filepath.Base(build), "example.mts")
	client(t, dir, "node", filepath.Join(filepath.Base(build), "example.mjs"))
}

// TestPython runs the example, which uses functions that wait and one for asyncio.
func TestPython(t *testing.T) {
	dir := filepath.Join(directory, "python")
	client(t, dir, harness.Python(t, dir), "example.py")
}

// client runs a program of a client against a server.
func client(t *testing.T, dir string, command ...string) {
	t.Helper()
	server := harness.Start(t, harness.Options{Config: harness.WriteTopology(t, []harness.Queue{{Name: "orders"}},
		[]harness.Topic{{Name: "events", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "large"}}}}})})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "MINIBUS_CONNECTION="+server.ConnectionString(), "PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}
