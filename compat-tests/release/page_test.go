package release

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The page lists each input and output of the action, and no others.
func TestPage_ListsInputsAndOutputs(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root(t), "docs/ci.md"))
	if err != nil {
		t.Fatal(err)
	}
	action, err := os.ReadFile(filepath.Join(root(t), "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	inputs, rest, _ := strings.Cut(string(action), "\noutputs:\n")
	outputs, _, _ := strings.Cut(rest, "\nruns:\n")
	_, inputs, _ = strings.Cut(inputs, "\ninputs:\n")
	for heading, section := range map[string]string{"| Input | |\n": inputs, "| Output | |\n": outputs} {
		_, table, _ := strings.Cut(string(page), heading)
		table, _, _ = strings.Cut(table, "\n\n")
		var listed []string
		for line := range strings.Lines(table) {
			cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
			for _, name := range regexp.MustCompile("`[^`]+`").FindAllString(cell, -1) {
				listed = append(listed, strings.Trim(name, "`"))
			}
		}
		declared := regexp.MustCompile(`(?m)^  ([a-z-]+):$`).FindAllStringSubmatch(section, -1)
		if len(declared) < 5 {
			t.Fatalf("action.yml declares %v", declared)
		}
		names := map[string]bool{}
		for _, d := range declared {
			names[d[1]] = true
		}
		for _, name := range listed {
			if !names[name] {
				t.Errorf("the page lists %s, which action.yml does not declare", name)
			}
			delete(names, name)
		}
		for name := range names {
			t.Errorf("the page does not list %s", name)
		}
	}
}

// The page names the files that a release has.
func TestPage_NamesTheFiles(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root(t), "docs/install.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			name := strings.Replace(target{system, arch}.archive(), released, "1.2.3", 1)
			if !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("the page does not name %s", name)
			}
		}
	}
}
