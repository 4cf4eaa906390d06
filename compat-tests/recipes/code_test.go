package recipes

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// TestTheCodeOfThePageRuns compares the Go code of docs/recipes.md with that in sbtest/recipes_test.go, which is run.
func TestTheCodeOfThePageRuns(t *testing.T) {
	text, err := os.ReadFile("../../sbtest/recipes_test.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(harness.ReadPage(t, "docs/recipes.md"), -1)
	if len(blocks) != 10 {
		t.Errorf("the page has %d pieces of Go", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(string(text), "\n"+b[1]) {
			t.Errorf("sbtest/recipes_test.go lacks\n%s", b[1])
		}
	}
}
