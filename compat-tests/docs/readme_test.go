package docs

import (
	"slices"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// TestReadme runs what README.md shows first: the two lines with curl, and the program, unchanged but for the port.
func TestReadme(t *testing.T) {
	harness.NeedAll(t, "to run the programs of README.md")
	recipe, err := harness.ReadRecipe(harness.ReadPage(t, "README.md"), "## Use your SDK")
	if err != nil {
		t.Fatal(err)
	}
	s := harness.Start(t, harness.Options{Alone: true})
	dir := t.TempDir()
	for name, text := range recipe.Files {
		recipe.Files[name] = strings.Replace(text, "Endpoint=sb://localhost:5672;", "Endpoint=sb://"+s.Addr()+";", 1)
	}
	if err := harness.WriteFiles(dir, recipe.Files); err != nil {
		t.Fatal(err)
	}
	for _, lines := range []string{curls(t), harness.Python(t, "../python") + " hello.py"} {
		out, err := shell(t, dir, moved(s, lines))
		if err != nil || strings.TrimSpace(out) != "hello" {
			t.Errorf("%s: %v, want hello:\n%s", lines, err, out)
		}
		takesNothing(t, s, "queue.1")
	}
}

// curls returns the lines of README.md that send and receive. What they print is in their comments.
func curls(t *testing.T) string {
	t.Helper()
	section, err := harness.Section(harness.ReadPage(t, "README.md"), "## Start")
	if err != nil {
		t.Fatal(err)
	}
	var lines, printed []string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "    curl ") {
			line, prints, _ := strings.Cut(strings.TrimSpace(line), "# prints ")
			lines, printed = append(lines, line+" -fsS"), append(printed, prints)
		}
	}
	if len(lines) != 2 || !slices.Equal(printed, []string{"nothing", "hello"}) {
		t.Fatalf("README.md has the lines %q", lines)
	}
	return strings.Join(lines, "\n")
}
