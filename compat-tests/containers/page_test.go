package containers

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const root = "../.."

// block is a block of code whose first line is a comment with the path of a file of this repository.
var block = regexp.MustCompile("(?ms)^```\\w+\n(?:#|//) ((?:compat-tests|docker)/\\S+)\n(.*?)^```$")

// TestPagesShowWhatRuns compares the pages with the programs.
func TestPagesShowWhatRuns(t *testing.T) {
	shown := make(map[string]bool)
	for _, page := range []string{"containers", "go", "java", "javascript", "python"} {
		for _, found := range block.FindAllStringSubmatch(read(t, "docs/"+page+".md"), -1) {
			path, code := found[1], found[2]
			shown[strings.Split(path, "/")[0]+"/"+filepath.Ext(path)] = true
			if !strings.Contains(bare(read(t, path)), bare(code)) {
				t.Errorf("%s does not contain these lines of docs/%s.md:\n%s", path, page, code)
			}
		}
	}
	for _, want := range []string{"compat-tests/.java", "compat-tests/.mjs", "compat-tests/.go", "compat-tests/.py", "docker/.yaml"} {
		if !shown[want] {
			t.Errorf("the pages show nothing of %s", want)
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
