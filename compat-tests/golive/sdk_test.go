package golive

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// modulePath is the SDK's module. Our own go.mod decides which version is tested.
const modulePath = "github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"

// suite is the test binary of one package of the SDK.
type suite struct {
	name   string   // azservicebus, admin, internal, internal/sas
	dir    string   // the directory that its tests expect to run in: their source directory
	binary string   // made by go test -c
	keyed  string   // the same with connection strings instead of identities; only for packages that need it
	tests  []string // top level tests
}

// buildSuites copies the SDK's module to a directory of this test and compiles the tests of all its packages. The copy is
// needed because a module's tests need the dependencies of the module's own go.mod, and the module cache is read-only.
// The copy is not changed.
func buildSuites(t *testing.T) []suite {
	t.Helper()
	source := filepath.Join(t.TempDir(), "azservicebus")
	copyModule(t, source)
	binaries := t.TempDir()
	goTool(t, source, "test", "-trimpath", "-c", "-o", binaries+string(filepath.Separator), "./...")
	keyed := filepath.Join(t.TempDir(), "admin.test")
	goTool(t, source, "test", "-trimpath", "-overlay", preferKeys(t, source), "-c", "-o", keyed, "./admin")
	var suites []suite
	for line := range strings.Lines(goTool(t, source, "list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}\t{{.Dir}}{{end}}", "./...")) {
		importPath, dir, found := strings.Cut(strings.TrimSpace(line), "\t")
		if !found {
			continue
		}
		s := suite{name: strings.TrimPrefix(strings.TrimPrefix(importPath, modulePath), "/"), dir: dir}
		if s.name == "" {
			s.name = path.Base(modulePath)
		}
		s.binary = filepath.Join(binaries, path.Base(importPath)+".test")
		if s.name == "admin" {
			s.keyed = keyed
		}
		s.tests = listTests(t, s)
		suites = append(suites, s)
	}
	return suites
}

// preferKeys writes an overlay for the go command that makes the tests' clients from a connection string instead of
// an identity. The tests of policies need both on one namespace; but a Minibus that checks tokens accepts
// none of Entra's. One condition in the tests' helpers becomes true; nothing else changes.
func preferKeys(t *testing.T, source string) string {
	t.Helper()
	const condition = "if options.UseConnectionString {"
	helpers := filepath.Join(source, "internal", "test", "test_helpers.go")
	text, err := os.ReadFile(helpers)
	if err != nil {
		t.Fatalf("read the tests' helpers: %v", err)
	}
	if n := bytes.Count(text, []byte(condition)); n != 1 {
		t.Fatalf("%q stands %d times in the tests' helpers", condition, n)
	}
	dir := t.TempDir()
	edited, overlay := filepath.Join(dir, "test_helpers.go"), filepath.Join(dir, "overlay.json")
	text = bytes.Replace(text, []byte(condition), []byte("if options.UseConnectionString = true; options.UseConnectionString {"), 1)
	if err := os.WriteFile(edited, text, 0o600); err != nil {
		t.Fatalf("write the tests' helpers: %v", err)
	}
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{helpers: edited}})
	if err != nil {
		t.Fatalf("encode the overlay: %v", err)
	}
	if err := os.WriteFile(overlay, replace, 0o600); err != nil {
		t.Fatalf("write the overlay: %v", err)
	}
	return overlay
}

// copyModule copies the SDK's module out of the module cache.
func copyModule(t *testing.T, target string) {
	t.Helper()
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(goTool(t, ".", "list", "-m", "-json", modulePath)), &module); err != nil {
		t.Fatalf("read what go list says of the SDK: %v", err)
	}
	// The cache's files are not writable, and neither would their copies be: os.CopyFS keeps the modes of files only.
	if err := copyFiles(target, os.DirFS(module.Dir)); err != nil {
		t.Fatalf("copy the SDK: %v", err)
	}
}

func copyFiles(target string, source fs.FS) error {
	return fs.WalkDir(source, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(target, name), 0o755)
		}
		text, err := fs.ReadFile(source, name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(target, name), text, 0o644)
	})
}

// listTests asks a test binary for its tests. It omits examples: they have no output to compare.
func listTests(t *testing.T, s suite) []string {
	t.Helper()
	cmd := exec.Command(s.binary, "-test.list", "^Test")
	cmd.Dir = s.dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list the tests of %s: %v", s.name, err)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		if name := strings.TrimSpace(line); strings.HasPrefix(name, "Test") {
			names = append(names, name)
		}
	}
	return names
}

// goTool runs the go command and returns what it prints.
func goTool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	// -mod=mod: go.sum may lack the sums of modules that only the SDK's tests need. GOWORK: the copy belongs to no workspace.
	cmd.Env = append(os.Environ(), harness.OwnModule...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return stdout.String()
}
