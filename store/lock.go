package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// errLocked is what tryLock returns when another process has the lock.
var errLocked = errors.New("locked")

// fileLock keeps a second Minibus off a database. It is an advisory lock on a file of its own: it ends with the
// process, however that ends, and the sqlite3 shell does not care about it. The file stays, empty of meaning:
// removing it would let two processes lock two files of the same name.
type fileLock struct{ f *os.File }

// lockFile takes the lock, or says who has it.
func lockFile(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the database: %w", err)
	}
	if err := tryLock(f); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(f, 20)) // for people; may be unreadable
		_ = f.Close()                                  // nothing was written
		if errors.Is(err, errLocked) {
			return nil, fmt.Errorf("database %s is in use by another Minibus (process %s)",
				strings.TrimSuffix(path, "-lock"), strings.TrimSpace(string(holder)))
		}
		return nil, fmt.Errorf("lock the database with %s: %w", path, err)
	}
	_ = f.Truncate(0) // the process id is for people only
	_, _ = fmt.Fprintln(f, os.Getpid())
	return &fileLock{f}, nil
}

// release gives the lock back. A nil lock, of an ephemeral database, is fine.
func (l *fileLock) release() {
	if l != nil {
		_ = l.f.Close() // the lock ends with the file
	}
}
