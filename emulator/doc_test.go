package emulator

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDoc_EveryFileStandsInOneChapter: a newcomer finds each file of the package in doc.go.
func TestDoc_EveryFileStandsInOneChapter(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatalf("read doc.go: %v", err)
	}
	_, chapters, found := strings.Cut(string(doc), "# Chapters")
	if !found {
		t.Fatal("doc.go has no chapters")
	}
	listed := map[string]int{}
	for _, name := range regexp.MustCompile(`\w+\.go`).FindAllString(chapters, -1) {
		listed[name]++
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatalf("list files: %v", err)
	}
	for _, name := range files {
		if name == "doc.go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if n := listed[name]; n != 1 {
			t.Errorf("%s stands in %d chapters", name, n)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("%s stands in a chapter and does not exist", name)
	}
}
