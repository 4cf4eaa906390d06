package store

import (
	"cmp"
	"encoding/binary"
	"os"

	lib "modernc.org/sqlite/lib"
)

// checkLog fails if the log is shorter than what SQLite has written to it: something cut it. SQLite would not notice,
// and write on behind the gap, where a start does not look. So this runs before each transaction and each checkpoint.
// The caller has c, without an open transaction.
func (s *Store) checkLog(c *conn) error {
	if s.place == nil {
		return nil
	}
	for again := false; ; again = true {
		frames, _, err := c.logFrames()
		if err != nil || frames == 0 {
			return nil // SQLite's own error is clearer
		}
		length, ours := s.place.logLength()
		if !ours || length >= s.logLength(frames) {
			return s.place.isCut() // what is missing may look like a gap by now
		}
		if again {
			return s.cutLog(c, length)
		}
		// Another program may have emptied the log in order between the two looks.
	}
}

// checkFiles fails if the log or the database was cut.
func (s *Store) checkFiles(c *conn) error { return cmp.Or(s.checkDatabase(), s.checkLog(c)) }

// logLength returns how long a log of so many frames is.
func (s *Store) logLength(frames int) int64 {
	return walHeader + int64(frames)*(frameHeader+s.writer.log.pageSize)
}

// cutLog deals with a log that was cut to a length. If all that is missing is in the database already, nothing is
// lost, and the log begins anew.
func (s *Store) cutLog(c *conn, length int64) error {
	if err := s.place.isCut(); err != nil {
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
			s.log.Error("the rest of the log could not be removed; remove it before the next start", "path", path, "error", err)
		}
	}
	s.damaged.Store(true)
	return s.place.noteCut("write-ahead log", path, length)
}

// headerPages is where the header of a database says how many pages it has
// (https://sqlite.org/fileformat2.html#the_database_header).
const headerPages = 28

// checkDatabase fails if the database is shorter than after the last checkpoint, and than its own header says:
// another program may have made it shorter in order. The header alone says nothing, for a checkpoint that does not
// end, on a full disk, writes it first.
func (s *Store) checkDatabase() error {
	if s.place == nil {
		return nil
	}
	length := s.databaseLength()
	if length >= s.place.databaseLength.Load() {
		return s.place.isCut()
	}
	var pages [4]byte
	_, err := s.lock.database.ReadAt(pages[:], headerPages)
	if err == nil && length >= int64(binary.BigEndian.Uint32(pages[:]))*s.writer.log.pageSize {
		s.place.databaseLength.Store(length)
		return s.place.isCut()
	}
	s.damaged.Store(true)
	return s.place.noteCut("database", s.path, length)
}

// databaseLength returns the length of the database that is open, wherever its path leads by now.
func (s *Store) databaseLength() int64 {
	info, err := s.lock.database.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}
