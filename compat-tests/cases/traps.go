package cases

import (
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed traps.txt
var trapsText string

// A Trap is something that clients take for granted, with the tests that would fall into it.
type Trap struct {
	ID, What string
	Tests    []string // names of Go functions
}

// Traps returns what traps.txt says.
func Traps() ([]Trap, error) {
	var all []Trap
	for line := range strings.Lines(trapsText) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(line, "|")
		if len(fields) != 3 {
			return nil, fmt.Errorf("%q is no trap", line)
		}
		all = append(all, Trap{ID: strings.TrimSpace(fields[0]), What: strings.TrimSpace(fields[1]), Tests: strings.Fields(fields[2])})
	}
	return all, nil
}

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// place is where a function stands.
type place struct {
	file string
	line int
}

// testFunctions finds the Go tests of the repository.
func testFunctions(root string) (map[string]place, error) {
	all := make(map[string]place)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git"):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := filepath.Rel(root, path)
		for _, at := range testFunction.FindAllSubmatchIndex(source, -1) {
			all[string(source[at[2]:at[3]])] = place{filepath.ToSlash(file), 1 + strings.Count(string(source[:at[0]]), "\n")}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look for tests: %w", err)
	}
	return all, nil
}
