//go:build unix

package store

import (
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"minibus/emulator"
)

// TestWriteErrorIsAnErrorAndPasses has the operating system refuse writes in the middle of the work, by a limit on
// the size of files: SQLite sees an I/O error, not a full disk.
func TestWriteErrorIsAnErrorAndPasses(t *testing.T) {
	for name, size := range map[string]int{"small bodies": 40_000, "a body in parts": 3 << 20} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			signal.Ignore(syscall.SIGXFSZ)
			defer signal.Reset(syscall.SIGXFSZ)
			// The package's own log for `go test`, which names the files that tests look at, has megabytes.
			raise := limitFileSize(t, s.Path()+"-wal", 16<<20)
			defer raise()
			ok, err := int64(0), error(nil)
			for ; err == nil && ok < 1000; ok++ {
				err = <-begin(s, insertOp(10+ok, 1+ok, make([]byte, size)))
			}
			var de *emulator.Error
			if !errors.As(err, &de) || de.Code != emulator.CodeInternal || !strings.Contains(err.Error(), "I/O") {
				t.Fatalf("error is %v, want an I/O error", err)
			}
			if got := stored(t, s); int64(len(got)) != ok-1 || lastSeq(t, s, 1) != ok-1 {
				t.Errorf("%d rows and counter %d after %d successes", len(got), lastSeq(t, s, 1), ok-1)
			}
			raise()
			wait(t, s, insertOp(5000, ok, make([]byte, size)))
			if got := lastSeq(t, s, 1); got != ok {
				t.Errorf("counter is %d, want %d", got, ok)
			}
		})
	}
}

// limitFileSize limits the size of this process's files to that of path plus more bytes, until raise.
func limitFileSize(t *testing.T, path string, more uint64) (raise func()) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	now := old
	now.Cur = uint64(info.Size()) + more
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &now); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Error(err)
		}
	}
}
