package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Lock waits until no other process's tests hold the lock of a file, makes the file if it is missing, takes the lock and returns the
// function that gives it back. Packages run at the same time, and some share a directory into which a tool of another language writes,
// or a port.
func Lock(t testing.TB, path string) (release func()) {
	t.Helper()
	release, err := lock(path)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

func lock(path string) (release func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666) //nolint:gosec // some are shared by all users
	if err != nil {
		return nil, fmt.Errorf("open for the lock: %w", err)
	}
	if err := lockFile(file); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = file.Close() }, nil
}

// Lock443 is Lock for port 443, where some administration clients go.
func Lock443(t testing.TB) (release func()) {
	t.Helper()
	return Lock(t, filepath.Join(os.TempDir(), "minibus-port-443.lock"))
}
