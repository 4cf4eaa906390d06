package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Exe is the end of a program's file name on this system.
var Exe = map[bool]string{true: ".exe"}[runtime.GOOS == "windows"]

var binary struct {
	once sync.Once
	path string
	err  error
}

// Binary returns the path of the server's binary, which the first call builds. MINIBUS_BINARY names an existing one instead.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := Build("")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Build is Binary outside of a test. tags are separated by commas; only those of the first call in a process count. A binary that is built
// with tags is not the one that MINIBUS_BINARY names.
func Build(tags string) (string, error) {
	binary.once.Do(func() { binary.path, binary.err = build(tags) })
	return binary.path, binary.err
}

func build(tags string) (string, error) {
	if given := os.Getenv("MINIBUS_BINARY"); given != "" && tags == "" {
		return given, nil
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache: %w", err)
	}
	cache = filepath.Join(cache, "minibus-ci", "bin", "tags-"+tags)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("make the cache: %w", err)
	}
	dir, err := os.MkdirTemp("", "minibus-compat-")
	if err != nil {
		return "", fmt.Errorf("make directory for the binary: %w", err)
	}
	path := filepath.Join(dir, "minibus"+Exe)
	if err := errors.Join(buildInto(path, cache, root, tags), lookAtSources(root, tags)); err != nil {
		_ = os.RemoveAll(dir)
		return "", err
	}
	return path, nil
}

// buildInto builds in a directory that all test processes share: for all but the first, the go command finds that the binary is up to date,
// which saves linking it. The process has a link of its own, so the next build does not disturb it.
func buildInto(path, cache, root, tags string) error {
	release, err := lock(filepath.Join(cache, "lock"))
	if err != nil {
		return err
	}
	defer release()
	shared := filepath.Join(cache, "minibus"+Exe)
	cmd := exec.Command("go", "build", "-tags", tags, "-o", shared, "./cmd/minibus")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build minibus: %w\n%s", err, out)
	}
	if os.Link(shared, path) == nil {
		return nil
	}
	binary, err := os.ReadFile(shared) // the cache may be on another disk
	if err != nil {
		return fmt.Errorf("read the built binary: %w", err)
	}
	return os.WriteFile(path, binary, 0o755) //nolint:gosec // a program
}

// sourcesOf prints the module's files that the binary is made of, from the module's root on.
const sourcesOf = `{{if .Module}}{{if .Module.Main}}{{$dir := slice .ImportPath (len .Module.Path)}}{{range .GoFiles}}{{$dir}}/{{.}}
{{end}}{{range .EmbedFiles}}{{$dir}}/{{.}}
{{end}}{{end}}{{end}}`

// lookAtSources looks at each file that the binary is made of. The go command notes at what files of the module a test looks; without
// that it would show an old result as cached when only the binary has changed.
func lookAtSources(root, tags string) error {
	cmd := exec.Command("go", "list", "-deps", "-tags", tags, "-f", sourcesOf, "./cmd/minibus")
	cmd.Dir = root
	list, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("list the sources of minibus: %w", err)
	}
	files := strings.Fields(string(list))
	if len(files) == 0 {
		return errors.New("list the sources of minibus: there are none")
	}
	for _, file := range files {
		if _, err := os.Stat(filepath.Join(root, file)); err != nil {
			return fmt.Errorf("look at the sources of minibus: %w", err)
		}
	}
	return nil
}

// Cleanup removes what Binary built. A TestMain calls it after its tests, a command at its end.
func Cleanup() {
	if binary.path != "" && binary.path != os.Getenv("MINIBUS_BINARY") {
		os.RemoveAll(filepath.Dir(binary.path))
	}
}

// Root returns the root of the repository: the nearest directory upwards with a go.mod.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find working directory: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("find root of the repository: no go.mod above the working directory")
		}
		dir = parent
	}
}
