//go:build !linux

package docs

import "testing"

func fullDisk(t *testing.T) func() string {
	t.Skip("a small file system is mounted on Linux only")
	return nil
}
