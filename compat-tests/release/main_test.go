// Package release tests the ways to get Minibus: building it with Go, the archives and packages of a release, and the GitHub action.
package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// The commit and the tag of a checkout. The go command ignores tags of v2 and later, since the module's path does not end in /v2.
const (
	tag        = "v1.9.8"
	released   = "1.9.8"
	commitDate = "2026-02-03T04:05:06Z"
)

func root(t testing.TB) string {
	t.Helper()
	dir, err := harness.Root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// checkout copies the files of this repository, uncommitted ones too, into a repository of their own with one commit and a tag, as a
// runner that builds a release finds it. It returns the directory and the commit.
func checkout(t testing.TB) (dir, commit string) {
	t.Helper()
	dir = t.TempDir()
	copyTree(t, dir, "compat-tests/")
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "remote", "add", "origin", "https://github.com/someone/minibus.git")
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "a commit")
	git(t, dir, "tag", tag)
	return dir, git(t, dir, "rev-parse", "HEAD")
}

// copyTree copies the files of this repository, uncommitted ones too, but for those below a directory, if one is named.
func copyTree(t testing.TB, dir, without string) {
	t.Helper()
	from := root(t)
	list, err := exec.Command("git", "-C", from, "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		harness.Lack(t, "these files are not in a Git repository: %v", err)
	}
	for name := range strings.SplitSeq(strings.Trim(string(list), "\x00"), "\x00") {
		if without == "" || !strings.HasPrefix(name, without) {
			copyFile(t, filepath.Join(from, name), filepath.Join(dir, name))
		}
	}
}

// copyFile does nothing for a file that Git lists and that is removed.
func copyFile(t testing.TB, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if os.IsNotExist(err) {
		return
	}
	data, readErr := os.ReadFile(from)
	if err != nil || readErr != nil {
		t.Fatal(err, readErr)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, info.Mode().Perm()); err != nil {
		t.Fatal(err)
	}
}

// git runs Git without the settings of the user.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	return command(t, dir, []string{
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_AUTHOR_NAME=test", "GIT_AUTHOR_EMAIL=test@example.invalid",
		"GIT_COMMITTER_NAME=test", "GIT_COMMITTER_EMAIL=test@example.invalid", "GIT_AUTHOR_DATE=" + commitDate, "GIT_COMMITTER_DATE=" + commitDate,
	}, "git", args...)
}

// command runs a program in a directory with further variables and returns what it printed, without the space around it.
func command(t testing.TB, dir string, environ []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environ...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}
