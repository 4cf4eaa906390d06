//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// Try locks an open file until it is closed. The error is [ErrLocked] if another process, or another opening of the
// file, has the lock.
func Try(f *os.File) error {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}
