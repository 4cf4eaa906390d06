//go:build unix

package filelock_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"minibus/internal/filelock"
)

// A process that is being started has copies of all open files until it runs its own program.
func TestClose_UnlocksACopyToo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := open()
	if err := filelock.Try(f); err != nil {
		t.Fatal(err)
	}
	kept, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(kept)
	if err := filelock.Close(f); err != nil {
		t.Fatal(err)
	}
	next := open()
	defer next.Close()
	if err := filelock.Try(next); err != nil {
		t.Errorf("the lock outlives its file: %v", err)
	}
}
