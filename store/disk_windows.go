package store

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// DiskFree returns how many bytes this process can still write to the file system of path.
func DiskFree(path string) (bytes int64, known bool) {
	dir, err := windows.UTF16PtrFromString(filepath.Dir(path))
	if err != nil {
		return 0, false
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(dir, &free, nil, nil); err != nil {
		return 0, false
	}
	return int64(free), true
}
