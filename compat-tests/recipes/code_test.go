package recipes

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// TestTheCodeOfThePagesRuns compares the Go code of pages with that of tests of sbtest, which are run.
func TestTheCodeOfThePagesRuns(t *testing.T) {
	for _, x := range []struct {
		page, file string
		pieces     int
	}{
		{"docs/recipes.md", "recipes_test.go", 10},
		{"docs/sbtest.md", "bubble_test.go", 1},
	} {
		text, err := os.ReadFile("../../sbtest/" + x.file)
		if err != nil {
			t.Fatal(err)
		}
		blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(harness.ReadPage(t, x.page), -1)
		if len(blocks) != x.pieces {
			t.Errorf("%s has %d pieces of Go", x.page, len(blocks))
		}
		for _, b := range blocks {
			if !strings.Contains(string(text), "\n"+b[1]) {
				t.Errorf("sbtest/%s lacks\n%s", x.file, b[1])
			}
		}
	}
}
