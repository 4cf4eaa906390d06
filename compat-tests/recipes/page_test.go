// Package recipes runs the recipes of docs/test-suites.md: test suites whose workers each have a namespace of their own in one Minibus.
//
// The code comes from the page. Beside it each suite has tests of this package's, which put messages into queues of the same name at
// the same time and look that none sees another's.
package recipes

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const page = "docs/test-suites.md"

// block is a block of code whose first line is a comment with the name of its file.
var block = regexp.MustCompile("(?ms)^```\\w+\n((?:#|//) (\\S+)\n.*?)^```$")

// heading is a heading of the second level.
var heading = regexp.MustCompile(`(?m)^## (.+)$`)

// recipe returns the files of a section of the page by their names.
func recipe(page, section string) (map[string]string, error) {
	_, text, found := strings.Cut(page, "\n## "+section+"\n")
	if !found {
		return nil, fmt.Errorf("the page has no section %q", section)
	}
	if next := heading.FindStringIndex(text); next != nil {
		text = text[:next[0]]
	}
	files := make(map[string]string)
	for _, found := range block.FindAllStringSubmatch(text, -1) {
		files[found[2]] = found[1]
	}
	if want := strings.Count(text, "\n```") / 2; len(files) == 0 || len(files) != want {
		return nil, fmt.Errorf("the section %q has %d blocks of code and %d files: each block begins with a comment that names its file", section, want, len(files))
	}
	return files, nil
}

// writeFiles writes files by their names, which may have directories.
func writeFiles(dir string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}
