//go:build !linux && !darwin && !freebsd && !windows

package store

// diskFree can't tell on these systems.
func diskFree(string) (bytes int64, known bool) { return 0, false }
