package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Close gives up the lock and closes the file.
func Close(f *os.File) error { return f.Close() }

// Try locks an open file until it is closed by [Close] or with the process. The error is [ErrLocked] if another
// process, or another opening of the file, has the lock.
func Try(f *os.File) error {
	// Locks are mandatory on Windows, so lock one byte far behind all data and behind the bytes that SQLite locks.
	where := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &where)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}
