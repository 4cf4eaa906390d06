package docs

import (
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

const startedPage = "docs/getting-started.md"

// TestGettingStarted runs the programs of the page by the lines of the page, twice each, as somebody does who tries it again. The table
// of the page says that nothing runs the one for .NET.
func TestGettingStarted(t *testing.T) {
	page := harness.ReadPage(t, startedPage)
	for _, language := range []string{"Go", "JavaScript", "Python", "Java"} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			harness.NeedAll(t, "to run the programs, which install their SDKs")
			recipe, err := harness.ReadRecipe(page, "## "+language)
			if err != nil {
				t.Fatal(err)
			}
			s := harness.Start(t, harness.Options{CADir: t.TempDir(), Alone: true})
			for name, text := range recipe.Files {
				if recipe.Files[name] = moved(s, text); strings.Contains(text, "sb://") && recipe.Files[name] == text {
					t.Errorf("%s does not connect to localhost:5672", name)
				}
			}
			dir := t.TempDir()
			if err := harness.WriteFiles(dir, recipe.Files); err != nil {
				t.Fatal(err)
			}
			lines := moved(s, recipe.Commands)
			for range 2 {
				out, err := shell(t, dir, lines)
				if err != nil || !strings.Contains(out, "received: hello\n") {
					t.Fatalf("%v, want a line \"received: hello\":\n%s", err, out)
				}
				lines = last(lines) // what comes before it is done
			}
			takesNothing(t, s, "orders")
		})
	}
}

// last returns the last line.
func last(lines string) string {
	lines = strings.TrimSuffix(lines, "\n")
	return lines[strings.LastIndexByte(lines, '\n')+1:]
}
