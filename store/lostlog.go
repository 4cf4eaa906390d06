package store

import (
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	lib "modernc.org/sqlite/lib"
)

// found has the lengths of the files that an earlier process left, -1 without one.
type found struct{ database, log int64 }

func find(path string) (f found) {
	length := func(path string) int64 {
		if info, err := os.Stat(path); err == nil {
			return info.Size()
		}
		return -1
	}
	path = realPath(path)
	return found{length(path), length(path + "-wal")}
}

// tell logs what is missing, before SQLite deletes a log without a database. Left says that the process before was
// killed, and left a log.
func (f found) tell(path string, left bool, log *slog.Logger) {
	switch {
	case f.database <= 0 && f.log > walHeader:
		log.Warn("the database is missing or empty, but not its write-ahead log, which is worth nothing without it: "+
			"what the database had is lost", "path", path, "log", path+"-wal", "copy", keepLog(path+"-wal"))
	case !left:
	case f.database == 0:
		log.Warn("the database is empty, although the process before was killed and had stored something: "+
			"what it had is lost", "path", path)
	case f.database > 0 && f.log < 0:
		log.Warn("the write-ahead log is missing, although the process before was killed: "+
			"what it had not yet copied into the database is lost", "path", path+"-wal")
	}
}

// Of the write-ahead log's format (https://sqlite.org/fileformat2.html#walformat).
const (
	walHeader   = 32 // bytes
	frameHeader = 24
	walMagic    = 0x377f0682 // or one more: the order of bytes
)

// tellUselessLog looks at the log after SQLite has opened the database. SQLite silently takes nothing of one whose
// header is damaged, or that is no log. Then tellUselessLog says so, keeps a copy, and empties it.
func (c *conn) tellUselessLog(path string, log *slog.Logger) error {
	path += "-wal"
	frames, _, err := c.logFrames()
	if err != nil {
		return err
	}
	c.foundLog = frames > 0
	size := fileSize(path)
	if frames > 0 || size <= walHeader || isLog(path) {
		return nil
	}
	if frames, _, err := c.logFrames(); err != nil || frames > 0 {
		return err // another program has begun to write to it
	}
	c.foundLog = true
	log.Warn("the write-ahead log is none, or damaged beyond recognition: what was not yet in the database is lost",
		"path", path, "bytes", size, "copy", keepLog(path))
	return c.checkpoint(lib.SQLITE_CHECKPOINT_TRUNCATE)
}

// isLog reports whether a file begins as a write-ahead log does: with a header that has the right checksum.
func isLog(path string) bool {
	f, err := os.Open(path) // SQLite has no locks on it that closing it would break
	if err != nil {
		return false
	}
	defer f.Close()
	var head [walHeader]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return false
	}
	magic := binary.BigEndian.Uint32(head[:])
	order := binary.ByteOrder(binary.LittleEndian)
	if magic&1 != 0 {
		order = binary.BigEndian
	}
	var a, b uint32
	for at := 0; at < 24; at += 8 {
		a += order.Uint32(head[at:]) + b
		b += order.Uint32(head[at+4:]) + a
	}
	return magic&^1 == walMagic && a == binary.BigEndian.Uint32(head[24:]) && b == binary.BigEndian.Uint32(head[28:])
}

// keepLog copies a log that is of no use to SQLite, and returns the path of the copy.
func keepLog(path string) string {
	kept := path + ".damaged-" + time.Now().UTC().Format("20060102T150405Z")
	if err := copyFile(kept, path); err != nil {
		return fmt.Sprint("none: ", err)
	}
	return kept
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closed := out.Close(); err == nil {
		err = closed
	}
	return err
}
