package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// OwnModule are the variables with which the go command takes a directory of [GoModule] for a module that belongs to no workspace.
var OwnModule = []string{"GOWORK=off", GoFlags("-mod=mod")}

// GoFlags returns GOFLAGS with a flag more than this process has. Packages that were built with the same flags are in the go command's cache.
func GoFlags(flag string) string { return "GOFLAGS=" + os.Getenv("GOFLAGS") + " " + flag }

// Module returns the path of the module of this repository.
func Module(t testing.TB) string {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	return moduleAt(t, root)
}

func moduleAt(t testing.TB, root string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimPrefix(line, "module ")
}

// GoModule makes a module "shop" of a directory, with the versions of this one, which it replaces by the checkout. So programs
// that use the same packages have everything that they need in the module cache.
func GoModule(t testing.TB, dir string) {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	GoModuleWith(t, dir, root)
}

// GoModuleWith is [GoModule] with a copy of this repository.
func GoModuleWith(t testing.TB, dir, root string) {
	t.Helper()
	files := make(map[string]string)
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	module := moduleAt(t, root)
	files["go.mod"] = strings.Replace(files["go.mod"], "module "+module+"\n", "module shop\n", 1) +
		fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %q\n", module, module, root)
	if err := WriteFiles(dir, files); err != nil {
		t.Fatal(err)
	}
}
