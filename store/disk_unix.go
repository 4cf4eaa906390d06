//go:build linux || darwin || freebsd

package store

import (
	"path/filepath"
	"syscall"
)

// DiskFree returns how many bytes this process can still write to the file system of path.
func DiskFree(path string) (bytes int64, known bool) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(path), &st); err != nil {
		return 0, false
	}
	return int64(st.Bavail) * int64(st.Bsize), true //nolint:unconvert // Bsize has other types on other systems
}
