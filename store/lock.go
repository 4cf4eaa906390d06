package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// errLocked is what tryLock returns when another process has the lock.
var errLocked = errors.New("locked")

// fileLock keeps a second Minibus off a database. It is two advisory locks, which end with the process, however that ends, and
// which the sqlite3 shell does not care about. The one on the database itself holds under every name that the file has, hard
// links too. The one on a file beside it tells who holds it; that file stays, empty of meaning: removing it would let two
// processes lock two files of the same name.
//
// Nothing else may open and close the database file while SQLite has it open: closing any descriptor of a file ends the locks
// that SQLite has on it.
type fileLock struct{ beside, database *os.File }

// lockDatabase takes the locks, or says who has them. It creates the database file if it is missing, for its owner only; SQLite
// gives its log the same mode.
func lockDatabase(path string) (*fileLock, error) {
	path = realPath(path) // the same file beside it under every symbolic link
	l := &fileLock{}
	var err error
	if l.beside, err = lockFile(path, path+"-lock"); err != nil {
		return nil, err
	}
	if l.database, err = lockFile(path, path); err != nil {
		l.release()
		return nil, err
	}
	_ = l.beside.Truncate(0) // the process id is for people only
	_, _ = fmt.Fprintln(l.beside, os.Getpid())
	return l, nil
}

// realPath returns the path of a database without symbolic links. SQLite has its log there, and so what else lies beside a database
// has to be there, or be looked for there.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// lockFile opens a file and locks it.
func lockFile(database, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the database: %w", err)
	}
	if err = tryLock(f); err == nil {
		return f, nil
	}
	if !errors.Is(err, errLocked) {
		err = fmt.Errorf("lock the database with %s: %w", path, err)
	} else {
		err = fmt.Errorf("database %s is in use by another Minibus%s: stop that one, or name another file with --data", database, holder(database))
	}
	_ = f.Close() // nothing was written
	return nil, err
}

// holder returns the process that has the database, from the file beside it. Under a second hard link there is no such file.
func holder(database string) string {
	id, err := os.ReadFile(database + "-lock")
	if err != nil || len(id) == 0 {
		return ", under another name of the file"
	}
	return fmt.Sprintf(" (process %s)", strings.TrimSpace(string(id)))
}

// release gives the locks back. A nil lock, of an ephemeral database, is fine.
func (l *fileLock) release() {
	if l == nil {
		return
	}
	for _, f := range []*os.File{l.database, l.beside} {
		if f != nil {
			_ = f.Close() // the lock ends with the file
		}
	}
}
