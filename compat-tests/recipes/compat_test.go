package recipes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// unpack makes a directory with the files of a page's section and with those of this package.
func unpack(t *testing.T, page, section string, ours ...string) string {
	t.Helper()
	recipe, err := harness.ReadRecipe(harness.ReadPage(t, "docs/"+page+".md"), section)
	if err != nil {
		t.Fatal(err)
	}
	files := recipe.Files
	for _, path := range ours {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(path)] = string(text)
	}
	dir := t.TempDir()
	if err := harness.WriteFiles(dir, files); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestGoTest runs the recipe with go test over HTTP.
func TestGoTest(t *testing.T) {
	t.Parallel()
	s := prepare(t, "go", "## Tests with a process", "testdata/isolated_test.go", "testdata/http_test.go")
	goTest(t, s.dir, s.environ, harness.Run)
	s.mistake(t, "minibus_test.go")
	goTest(t, s.dir, s.environ, wantRefusal)
	s.check(t)
}

// TestSbtest runs the recipe with go test in one process.
func TestSbtest(t *testing.T) {
	t.Parallel()
	dir, m := unpack(t, "go", "### Parallel tests", "testdata/isolated_test.go", "testdata/sbtest_test.go"), startMeeting(t)
	goTest(t, dir, []string{"MINIBUS_MEETING=" + m.URL}, harness.Run)
	m.check(t)
}

// goTest makes a module of a directory and runs its tests four at a time.
func goTest(t *testing.T, dir string, environ []string, run runner) {
	t.Helper()
	harness.GoModule(t, dir)
	run(t, append(environ, harness.OwnModule...), "go", "-C", dir, "test", "-count=1", "-parallel", "4", "-v", ".")
}

// runner runs a suite, as harness.Run does.
type runner = func(t testing.TB, environ []string, program string, args ...string) string

// wantRefusal runs a suite whose entities have the mistake. It must fail, and show what Minibus says.
func wantRefusal(t testing.TB, environ []string, program string, args ...string) string {
	t.Helper()
	out, err := harness.Output(environ, program, args...)
	if err == nil || !strings.Contains(out, "did you mean Name?") {
		t.Errorf("with a mistake in the entities: %v\n%s", err, out)
	}
	return out
}
