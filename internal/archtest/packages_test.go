package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "minibus"

// goPackage is the part of `go list -json` that the rules look at.
type goPackage struct {
	ImportPath   string
	Dir          string
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// path returns the import path without the module's name; the root package is ".".
func (p goPackage) path() string { return ours(p.ImportPath) }

// ours returns an import path of this module in the form of the table, and "" for any other.
func ours(importPath string) string {
	if importPath == module {
		return "."
	}
	rest, ok := strings.CutPrefix(importPath, module+"/")
	if !ok {
		return ""
	}
	return rest
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatalf("find working directory: %v", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			t.Fatal("no go.mod above the test's directory")
		}
		dir = parent
	}
}

// loadPackages lists every package of the module.
func loadPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = moduleRoot(t)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatalf("open pipe to go list: %v", err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start go list: %v", err)
	}
	var packages []goPackage
	decoder := json.NewDecoder(out)
	for {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("decode output of go list: %v", err)
		}
		packages = append(packages, p)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("run go list: %v", err)
	}
	if len(packages) == 0 {
		t.Fatal("go list found no packages")
	}
	return packages
}
