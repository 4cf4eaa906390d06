package store

import (
	"errors"
	"os"
	"syscall"
)

func allocate(f *os.File, size int64) error {
	err := syscall.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return allocateZeros(f, size)
	}
	return err
}
