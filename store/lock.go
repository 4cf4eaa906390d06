package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"minibus/internal/filelock"
)

// fileLock keeps a second Minibus off a database with two advisory locks, which end with the process, however that
// ends, and which the sqlite3 shell ignores. The one on the database itself holds under every name of the file, hard
// links too. The one on a file beside it holds the owner's process id, and a second line from the moment at which the
// database has a log until that has been emptied. So the next process knows whether there has to be one. That file is
// never removed: otherwise two processes could lock two files of the same name.
//
// Nothing else may open and close the database file while SQLite has it open: closing any descriptor of a file ends
// the locks that SQLite has on it.
type fileLock struct {
	beside, database *os.File

	left bool // the process before was killed, and has left a log
}

const hasLog = "The write-ahead log belongs to the database: do not remove it."

// lockDatabase takes both locks; its error says which process has them. It creates a missing database file with mode
// 0600; SQLite gives its log the same mode.
func lockDatabase(path string) (*fileLock, error) {
	path = realPath(path) // so that every symbolic link leads to the same lock file
	l := &fileLock{}
	var err error
	if l.beside, err = lockFile(path, path+"-lock"); err != nil {
		return nil, err
	}
	if l.database, err = lockFile(path, path); err != nil {
		l.release()
		return nil, err
	}
	text := make([]byte, 200)
	n, _ := l.beside.ReadAt(text, 0)
	l.left = strings.Contains(string(text[:n]), hasLog)
	l.note(l.left)
	return l, nil
}

// note writes the process id, which is for people only, and whether the database has a log.
func (l *fileLock) note(log bool) {
	if l == nil {
		return
	}
	text := fmt.Sprintln(os.Getpid())
	if log {
		text += hasLog + "\n"
	}
	_ = l.beside.Truncate(0)
	_, _ = l.beside.WriteAt([]byte(text), 0)
}

// realPath returns the path of a database without symbolic links. SQLite keeps its log there, so all other files
// beside a database belong there too.
func realPath(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}

// lockFile opens a file and locks it.
func lockFile(database, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the database: %w", err)
	}
	if err = filelock.Try(f); err == nil {
		return f, nil
	}
	if !errors.Is(err, filelock.ErrLocked) {
		err = fmt.Errorf("lock the database with %s: %w", path, err)
	} else {
		err = fmt.Errorf("database %s is in use by another Minibus%s: stop that one, or name another file with --data",
			database, holder(database))
	}
	_ = f.Close() // nothing was written
	return nil, err
}

// holder describes the process that has the database, from the lock file. Under a second hard link there is no such
// file.
func holder(database string) string {
	id, err := os.ReadFile(database + "-lock")
	if err != nil || len(id) == 0 {
		return ", under another name of the file"
	}
	first, _, _ := strings.Cut(string(id), "\n")
	return fmt.Sprintf(" (process %s)", first)
}

// release gives the locks back. On a nil lock, of an ephemeral database, it does nothing.
func (l *fileLock) release() {
	if l == nil {
		return
	}
	for _, f := range []*os.File{l.database, l.beside} {
		if f != nil {
			_ = filelock.Close(f)
		}
	}
}
