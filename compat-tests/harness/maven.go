package harness

import (
	"os"
	"path/filepath"
	"testing"
)

// Maven runs the tests of the project in a directory that the arguments name, all without arguments. It runs once at a time, since it
// compiles into that directory. Every version in pom.xml is pinned, so Maven does not ask the network again after the first download.
func Maven(t testing.TB, dir string, environ []string, args ...string) {
	t.Helper()
	alone := func(program string, args ...string) (string, []string) { return program, args }
	MavenWith(t, dir, environ, alone, args...)
}

// MavenWith is Maven, run as a function says.
func MavenWith(t testing.TB, dir string, environ []string, run func(string, ...string) (string, []string), args ...string) {
	t.Helper()
	project := filepath.Join(dir, "pom.xml")
	defer Lock(t, project)()
	environ = append(environ, "MAVEN_OPTS=-XX:TieredStopAtLevel=1") // it lives for seconds
	program, args := run("mvn", append([]string{"--file", project, "--batch-mode", "--quiet", "test"}, args...)...)
	out, err := Output(environ, program, args...)
	t.Log(out)
	if err != nil {
		t.Fatal(err)
	}
}

// MavenCopy copies a project, so that Maven can run its tests while others run.
func MavenCopy(t testing.TB, project string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text, err := os.ReadFile(filepath.Join(project, "pom.xml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "pom.xml"), text, 0o600)
	}
	if err == nil {
		err = os.CopyFS(filepath.Join(dir, "src"), os.DirFS(filepath.Join(project, "src")))
	}
	if err != nil {
		t.Fatalf("copy a project of Maven: %v", err)
	}
	return dir
}
