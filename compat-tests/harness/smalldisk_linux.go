package harness

import (
	"syscall"
	"testing"
)

// SmallDisk mounts a file system for the test and returns its directory. Without the right to mount, which root has, the test is
// skipped, or fails in continuous integration (MINIBUS_COMPAT=all).
func SmallDisk(t testing.TB, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("minibus-test", dir, "tmpfs", 0, "size="+size); err != nil {
		Lack(t, "mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}
