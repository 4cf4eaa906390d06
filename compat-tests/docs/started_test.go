package docs

import (
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// platforms are the pages that begin with a program, which the tests run. TestTheExamplesForDotNet looks after docs/dotnet.md.
var platforms = []string{"go", "javascript", "python", "java"}

// TestFirstPrograms runs the first program of each page by the lines of the page, twice, as somebody does who tries it again.
func TestFirstPrograms(t *testing.T) {
	for _, platform := range platforms {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			harness.NeedAll(t, "to run the programs, which install their SDKs")
			recipe, err := harness.ReadRecipe(harness.ReadPage(t, "docs/"+platform+".md"), "## First program")
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
