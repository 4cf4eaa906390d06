package archtest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxLines is the hard limit of a source file. Tests are data and may be longer.
const maxLines = 600

// minLines is how many lines a file of the domain has at least, so that a subject is not torn apart.
const minLines = 60

// short are the files of the domain that may have fewer lines, each with its reason.
var short = map[string]string{
	"selection.go":      "the entity's chapter names it; what reads messages for it is in a later one",
	"lock_end.go":       "locks that end by themselves, under the name by which a reader looks for it",
	"expiry.go":         "one rule, whole, under the name by which a reader looks for it",
	"snapshot_store.go": "what the store implements for snapshots, beside store.go",
	"protocol.go":       "the words that clients and the domain share",
	"fault_effect.go":   "what a fault does to a settlement, in the chapter of settling",
}

// TestFilesStayReadable counts the lines of every source file.
func TestFilesStayReadable(t *testing.T) {
	for _, p := range loadPackages(t) {
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("read source: %v", err)
			}
			lines := bytes.Count(source, []byte("\n"))
			if lines > maxLines {
				t.Errorf("%s/%s has %d lines, more than %d", p.path(), name, lines, maxLines)
			}
			if p.path() == chaptered && (short[name] != "") != (lines < minLines) {
				t.Errorf("%s/%s has %d lines; those under %d stand in the table with a reason, and no others",
					p.path(), name, lines, minLines)
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
