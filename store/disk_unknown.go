//go:build !linux && !darwin && !freebsd && !windows

package store

// DiskFree can't tell on these systems.
func DiskFree(string) (bytes int64, known bool) { return 0, false }
