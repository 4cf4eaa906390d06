package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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

// Build is Binary outside of a test. tags are separated by commas; only those of the first call in a process count.
func Build(tags string) (string, error) {
	binary.once.Do(func() { binary.path, binary.err = build(tags) })
	return binary.path, binary.err
}

func build(tags string) (string, error) {
	if given := os.Getenv("MINIBUS_BINARY"); given != "" {
		return given, nil
	}
	root, err := Root()
	if err != nil {
		return "", err
	}
	// One directory per process: the go command's cache makes the next build cheap, and another test process may be using
	// its own file.
	dir, err := os.MkdirTemp("", "minibus-compat-")
	if err != nil {
		return "", fmt.Errorf("make directory for the binary: %w", err)
	}
	path := filepath.Join(dir, "minibus"+Exe)
	cmd := exec.Command("go", "build", "-tags", tags, "-o", path, "./cmd/minibus")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build minibus: %w\n%s", err, out)
	}
	return path, nil
}

// Cleanup removes what Binary built. A TestMain calls it after its tests, a command at its end.
func Cleanup() {
	if binary.path != "" && os.Getenv("MINIBUS_BINARY") == "" {
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
