package harness

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// InstallNodeModules installs the packages that dir/package-lock.json pins, unless that very lock file is installed already.
func InstallNodeModules(t testing.TB, dir string) {
	t.Helper()
	file := filepath.Join(dir, "package-lock.json")
	defer Lock(t, file)()
	pins, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("read lock file: %v", err)
	}
	stamp := filepath.Join(dir, "node_modules", ".installed-lock.json")
	if installed, err := os.ReadFile(stamp); err == nil && bytes.Equal(installed, pins) {
		return
	}
	cmd := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("install node modules: %v\n%s", err, out)
	}
	if err := os.WriteFile(stamp, pins, 0o600); err != nil {
		t.Fatalf("note what is installed: %v", err)
	}
}
