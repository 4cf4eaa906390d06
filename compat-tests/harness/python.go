package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Python returns the interpreter of a virtual environment with the packages that requirements.txt in dir pins. Environments are kept
// in the user's cache directory, one for each content of that file and each interpreter, so that each is made only once.
func Python(t testing.TB, dir string) string {
	t.Helper()
	requirements := filepath.Join(dir, "requirements.txt")
	pins, err := os.ReadFile(requirements)
	if err != nil {
		t.Fatalf("read requirements: %v", err)
	}
	interpreter, err := exec.Command("python3", "-c", "import sys; print(sys.executable, sys.version)").Output()
	if err != nil {
		t.Fatalf("find python3: %v", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatalf("find the cache: %v", err)
	}
	hash := sha256.New()
	hash.Write(interpreter)
	hash.Write(pins)
	venv := filepath.Join(cache, "minibus-ci", "python-"+hex.EncodeToString(hash.Sum(nil))[:16])
	if _, err := os.Stat(venv); errors.Is(err, fs.ErrNotExist) {
		makeVenv(t, venv, requirements)
	}
	return filepath.Join(venv, "bin", "python")
}

// makeVenv makes the environment in a directory beside its place and renames it when it is complete; another process may do the same.
func makeVenv(t testing.TB, venv, requirements string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(venv), 0o755); err != nil {
		t.Fatalf("make the cache: %v", err)
	}
	half, err := os.MkdirTemp(filepath.Dir(venv), "python-")
	if err != nil {
		t.Fatalf("make the cache: %v", err)
	}
	defer os.RemoveAll(half)
	for _, args := range [][]string{
		{"python3", "-m", "venv", half},
		{filepath.Join(half, "bin", "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
			"--no-deps", "--only-binary", ":all:", "--requirement", requirements},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("make a virtual environment: %v\n%s", err, out)
		}
	}
	if err := os.Rename(half, venv); err != nil {
		if _, missing := os.Stat(venv); missing != nil {
			t.Fatalf("keep the virtual environment: %v", err)
		}
	}
}
