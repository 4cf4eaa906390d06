package archtest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxLines is the hard limit of a source file. The rule of thumb is 60 to 250; a file near the limit needs a reason
// that its reader sees. Tests are data and may be longer.
const maxLines = 600

// TestFilesStayReadable counts the lines of every source file.
func TestFilesStayReadable(t *testing.T) {
	for _, p := range loadPackages(t) {
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("read source: %v", err)
			}
			if lines := bytes.Count(source, []byte("\n")); lines > maxLines {
				t.Errorf("%s/%s has %d lines, more than %d", p.path(), name, lines, maxLines)
			}
		}
	}
}

// TestEveryPackageSaysWhatItIs wants a doc.go with a package comment in every package.
func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, p := range loadPackages(t) {
		if p.path() == "cmd/minibus" {
			continue // its comment is in main.go, the only file
		}
		if len(p.GoFiles) == 0 && strings.HasPrefix(p.path(), "compat-tests/") {
			continue // tests only
		}
		if !slices.Contains(p.GoFiles, "doc.go") {
			t.Errorf("%s has no doc.go", p.path())
			continue
		}
		source, err := os.ReadFile(filepath.Join(p.Dir, "doc.go"))
		if err != nil {
			t.Fatalf("read doc.go: %v", err)
		}
		if !bytes.Contains(source, []byte("// Package ")) && !bytes.Contains(source, []byte("// Command ")) {
			t.Errorf("%s/doc.go has no package comment", p.path())
		}
	}
}

// TestNoUnfinishedWork refuses reminders about unfinished work in source files.
func TestNoUnfinishedWork(t *testing.T) {
	marks := [][]byte{[]byte("TO" + "DO"), []byte("FIX" + "ME"), []byte("XX" + "X:")}
	for _, p := range loadPackages(t) {
		for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			source, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatalf("read source: %v", err)
			}
			for _, mark := range marks {
				if bytes.Contains(source, mark) {
					t.Errorf("%s/%s contains %q", p.path(), name, mark)
				}
			}
		}
	}
}
