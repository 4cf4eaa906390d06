package cases

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Test is a test of compat-tests/go that needs no server of its own, with the behaviours that it claims.
// compat-tests/verify runs such tests in any namespace.
type Test struct {
	Name string
	IDs  []string
}

var function = regexp.MustCompile(`(?m)^func (\w+)\(`)

// Anywhere finds the tests that call provesAnywhere, by name.
func Anywhere(root string) ([]Test, error) {
	files, err := filepath.Glob(filepath.Join(root, "compat-tests", "go", "*_test.go"))
	if err != nil {
		return nil, fmt.Errorf("look for tests: %w", err)
	}
	var all []Test
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("look for tests: %w", err)
		}
		all = append(all, anywhereIn(string(source))...)
	}
	slices.SortFunc(all, func(a, b Test) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

func anywhereIn(source string) []Test {
	var tests []Test
	starts := function.FindAllStringSubmatchIndex(source, -1)
	for i, at := range starts {
		end := len(source)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		name, body := source[at[2]:at[3]], source[at[0]:end]
		test := Test{Name: name}
		for _, claim := range claimsIn(anywhere, "go", "", body) {
			test.IDs = append(test.IDs, claim.ID)
		}
		if strings.HasPrefix(name, "Test") && test.IDs != nil {
			tests = append(tests, test)
		}
	}
	return tests
}
