//go:build !linux && !darwin && !freebsd && !windows

package store

// diskFree does not know here.
func diskFree(string) (bytes int64, known bool) { return 0, false }
