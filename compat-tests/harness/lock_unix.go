//go:build unix

package harness

import (
	"os"
	"syscall"
)

func lockFile(file *os.File) error { return syscall.Flock(int(file.Fd()), syscall.LOCK_EX) }
