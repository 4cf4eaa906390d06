//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Close gives up the lock and closes the file. Closing alone would not do: while the process starts another one, that
// one has a copy of the open file for a moment, and with it the lock.
func Close(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

// Try locks an open file until it is closed by [Close] or with the process. The error is [ErrLocked] if another
// process, or another opening of the file, has the lock.
func Try(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
