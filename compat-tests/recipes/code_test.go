package recipes

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// TestTheCodeOfTheGoPageRuns wants that the code for a bubble on docs/go.md is a test of sbtest, and that the page names the tests that
// answer a question.
func TestTheCodeOfTheGoPageRuns(t *testing.T) {
	page := harness.ReadPage(t, "docs/go.md")
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile("../../sbtest/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	bubble, err := harness.Section(page, "### In a synctest bubble")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(bubble, "```go\n")
	code, _, found := strings.Cut(code, "```")
	if !found || !strings.Contains(read("bubble_test.go"), "\n"+code) {
		t.Errorf("sbtest/bubble_test.go lacks\n%s", code)
	}
	recipes := read("recipes_test.go")
	named := make(map[string]bool)
	for _, row := range regexp.MustCompile("(?m)^\\| .* \\| `(Test\\w+)` \\|$").FindAllStringSubmatch(page, -1) {
		named[row[1]] = true
		if !strings.Contains(recipes, "\nfunc "+row[1]+"(t *testing.T) {") {
			t.Errorf("sbtest/recipes_test.go has no %s", row[1])
		}
	}
	for _, test := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllStringSubmatch(recipes, -1) {
		if !named[test[1]] {
			t.Errorf("docs/go.md does not name %s", test[1])
		}
	}
}
