package containers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// block is a block of code whose first line is a comment with the path of a file.
var block = regexp.MustCompile("(?ms)^```\\w+\n(?:#|//) (\\S+)\n(.*?)^```$")

// TestPageShowsWhatRuns compares the page with the programs.
func TestPageShowsWhatRuns(t *testing.T) {
	page := read(t, "docs/containers.md")
	blocks := block.FindAllStringSubmatch(page, -1)
	if want := strings.Count(page, "\n```") / 2; len(blocks) != want {
		t.Errorf("%d of %d blocks of code name their file in the first line", len(blocks), want)
	}
	shown := make(map[string]bool)
	for _, found := range blocks {
		path, code := found[1], found[2]
		shown[strings.Split(path, "/")[0]+"/"+filepath.Ext(path)] = true
		if !strings.Contains(bare(read(t, path)), bare(code)) {
			t.Errorf("%s does not contain these lines of docs/containers.md:\n%s", path, code)
		}
	}
	for _, want := range []string{"compat-tests/.java", "compat-tests/.mjs", "compat-tests/.go", "compat-tests/.py", "docker/.yaml"} {
		if !shown[want] {
			t.Errorf("the page shows nothing of %s", want)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// bare is a text without the indentation of its lines, which is another on the page.
func bare(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
