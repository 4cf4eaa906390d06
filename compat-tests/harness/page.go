package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block is a block of code whose first line is a comment with the name of its file.
var block = regexp.MustCompile("(?ms)^```\\w+\n((?:#|//|<!--) (\\S+)(?: -->)?\n.*?)^```$")

// commands is a block of lines for a shell.
var commands = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// heading is a heading of the first three levels.
var heading = regexp.MustCompile(`(?m)^#{1,3} .+$`)

// ReadPage returns the text of a page by its path in the repository.
func ReadPage(t testing.TB, path string) string {
	t.Helper()
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Section returns the text below a heading, such as "## Go", up to the next heading.
func Section(page, title string) (string, error) {
	_, text, found := strings.Cut("\n"+page, "\n"+title+"\n")
	if !found {
		return "", fmt.Errorf("the page has no section %q", title)
	}
	// A line of code that begins with # looks like a heading: only those outside of blocks count.
	var rest strings.Builder
	code := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		if !code && heading.MatchString(line) {
			break
		}
		rest.WriteString(line)
	}
	return rest.String(), nil
}

// Recipe is the code of a section: files by their names, and lines for a shell.
type Recipe struct {
	Files    map[string]string
	Commands string
}

// ReadRecipe takes the code out of a section. Each of its blocks is a file whose first line is a comment with its name, or lines for a shell (sh).
func ReadRecipe(page, title string) (Recipe, error) {
	text, err := Section(page, title)
	if err != nil {
		return Recipe{}, err
	}
	r := Recipe{Files: make(map[string]string)}
	for _, found := range commands.FindAllStringSubmatch(text, -1) {
		r.Commands += found[1]
	}
	rest := commands.ReplaceAllString(text, "")
	for _, found := range block.FindAllStringSubmatch(rest, -1) {
		r.Files[found[2]] = found[1]
	}
	if want := strings.Count(rest, "\n```") / 2; len(r.Files) == 0 || len(r.Files) != want {
		return Recipe{}, fmt.Errorf("the section %q has %d blocks of code and %d files: each block begins with a comment that names its file",
			title, want, len(r.Files))
	}
	return r, nil
}

// WriteFiles writes files by their names, which may have directories.
func WriteFiles(dir string, files map[string]string) error {
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
