package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"

	"minibus/emulator"
)

const (
	lookEvery = time.Second      // at most, while there is something to write
	lookIdle  = 20 * time.Second // while there is nothing to write
	tellEvery = 10 * time.Minute // between two log lines about the same loss

	// What to do when the database is gone, when its log is gone, and when one of them was cut.
	fixDatabase = "put it back where it was, or restart Minibus, " +
		"which then begins with the file at that path, or empty if there is none"
	fixLog = "restart Minibus; what was stored until now is being written to the database"
	fixCut = "keep the program that cut it away from it, and restart Minibus, which then begins with what is left"
)

// fileIdentity watches whether the open files are still the ones at their paths, and as long as they have to be. What
// is written to a file that was deleted or replaced is gone when the process ends, so the store refuses changes until
// the file is back. What is written to a log that was cut stands behind a gap, where no start finds it, so the store
// refuses changes until the restart.
type fileIdentity struct {
	log      *slog.Logger
	database heldFile // immutable
	wal      heldFile // immutable

	mu     sync.Mutex
	looked time.Time
	told   time.Time
	lost   *emulator.Error // nil: all files are at their paths

	cut            atomic.Pointer[emulator.Error] // nil: the files are whole
	databaseLength atomic.Int64                   // after the last checkpoint
}

// heldFile is a file as it was when it was opened.
type heldFile struct {
	what, path string
	fix        string      // what to do when it is gone
	info       os.FileInfo // nil: it was not there
}

// identify notes the files of a database that was just opened.
func identify(path string, log *slog.Logger) *fileIdentity {
	f := &fileIdentity{log: log, looked: time.Now()}
	f.database = heldFile{what: "The database", path: path, fix: fixDatabase}
	f.wal = heldFile{what: "The write-ahead log", path: path + "-wal", fix: fixLog}
	f.database.info, _ = os.Stat(f.database.path)
	f.wal.info, _ = os.Stat(f.wal.path)
	return f
}

// check returns what is wrong with the files, or nil. It looks at them if the last look is older than age. For an
// ephemeral database, which has none, f is nil.
func (f *fileIdentity) check(age time.Duration) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); now.Sub(f.looked) >= age {
		f.looked = now
		f.lookLocked(now)
	}
	if f.lost == nil {
		return f.isCut()
	}
	return f.lost
}

func (f *fileIdentity) lookLocked(now time.Time) {
	for _, h := range []*heldFile{&f.database, &f.wal} {
		if h.there() {
			continue
		}
		if f.lost == nil || now.Sub(f.told) >= tellEvery {
			f.told = now
			f.log.Error("a file of the message store was deleted or replaced while it was in use; "+
				"nothing is stored until that is fixed", "path", h.path, "fix", h.fix)
		}
		text := fmt.Sprintf("%s %s was deleted or replaced while Minibus was running, so nothing can be stored: %s.",
			h.what, h.path, h.fix)
		f.lost = &emulator.Error{Code: emulator.CodeInternal, Text: text}
		return
	}
	if f.lost != nil {
		f.lost = nil
		f.log.Info("the files of the message store are back; messages are stored again")
	}
}

// there reports whether the file is still at its path. Errors other than "does not exist" count as yes.
func (h *heldFile) there() bool {
	if h.info == nil {
		return true
	}
	now, err := os.Stat(h.path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	return os.SameFile(h.info, now)
}

// isCut returns why nothing can be stored since a file was cut, or nil.
func (f *fileIdentity) isCut() error {
	if cut := f.cut.Load(); cut != nil {
		return cut
	}
	return nil
}

// noteCut notes that a file was cut to a length, and returns the error of all changes from now on.
func (f *fileIdentity) noteCut(what, path string, length int64) error {
	cut := &emulator.Error{Code: emulator.CodeInternal, Text: fmt.Sprintf(
		"The %s %s was cut while Minibus was running, so nothing can be stored: %s.", what, path, fixCut)}
	if f.cut.CompareAndSwap(nil, cut) {
		f.log.Error("a file of the message store was cut while it was in use: what it had is lost, "+
			"and nothing is stored until Minibus is restarted", "path", path, "bytesLeft", length, "fix", fixCut)
	}
	return f.isCut()
}

// checkFiles fails if the database or the log was cut.
func (s *Store) checkFiles(c *conn) error {
	if err := s.checkDatabase(); err != nil {
		return err
	}
	return s.checkLog(c)
}

// checkLog fails if the log is shorter than what SQLite has written to it: something cut it. SQLite would not notice,
// and would write behind the gap, where a start does not look. So this runs before each transaction and each
// checkpoint. The caller has c, without an open transaction.
func (s *Store) checkLog(c *conn) error {
	if s.files == nil || s.files.wal.info == nil {
		return nil
	}
	for again := false; ; again = true {
		frames, _, err := c.logFrames()
		if err != nil || frames == 0 {
			return nil // SQLite's own error is clearer
		}
		now, err := os.Stat(s.files.wal.path)
		if err != nil || !os.SameFile(s.files.wal.info, now) || now.Size() >= s.logLength(frames) {
			return s.files.isCut() // what is missing may look like a gap by now
		}
		if again {
			return s.cutLog(c, now.Size())
		}
		// Another program may have emptied the log in order between the two looks.
	}
}

// logLength returns how long a log of so many frames is.
func (s *Store) logLength(frames int) int64 {
	return walHeader + int64(frames)*(frameHeader+s.writer.wal.pageSize)
}

// cutLog deals with a log that was cut to a length. If all that is missing is in the database already, nothing is
// lost, and the log is restarted.
func (s *Store) cutLog(c *conn, length int64) error {
	if err := s.files.isCut(); err != nil {
		return err
	}
	path := s.path + "-wal"
	if c.checkpoint(lib.SQLITE_CHECKPOINT_TRUNCATE) == nil {
		s.log.Warn("the write-ahead log was cut while it was in use; nothing is lost: the database has all of it",
			"path", path)
		return nil
	}
	if _, copied, err := c.logFrames(); err == nil && length < s.logLength(copied) {
		// What is left is older than the database. A start would take it for newer.
		if err := os.Truncate(path, 0); err != nil {
			s.log.Error("the rest of the log could not be removed; remove it before the next start",
				"path", path, "error", err)
		}
	}
	s.damaged.Store(true)
	return s.files.noteCut("write-ahead log", path, length)
}

// headerPages is where the header of a database says how many pages it has
// (https://sqlite.org/fileformat2.html#the_database_header).
const headerPages = 28

// checkDatabase fails if the database is shorter than after the last checkpoint, and than its own header says:
// another program may have made it shorter in order. The header alone says nothing, because a checkpoint that does not
// end, on a full disk, writes it first.
func (s *Store) checkDatabase() error {
	if s.files == nil {
		return nil
	}
	length := s.databaseLength()
	if length >= s.files.databaseLength.Load() {
		return s.files.isCut()
	}
	var pages [4]byte
	_, err := s.lock.database.ReadAt(pages[:], headerPages)
	if err == nil && length >= int64(binary.BigEndian.Uint32(pages[:]))*s.writer.wal.pageSize {
		s.files.databaseLength.Store(length)
		return s.files.isCut()
	}
	s.damaged.Store(true)
	return s.files.noteCut("database", s.path, length)
}

// databaseLength returns the length of the database that is open, wherever its path leads by now.
func (s *Store) databaseLength() int64 {
	info, err := s.lock.database.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}
