package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	lib "modernc.org/sqlite/lib"
)

// Sizes of the write-ahead log's format (https://sqlite.org/fileformat2.html#walformat).
const (
	walHeader   = 32
	frameHeader = 24
	walMagic    = 0x377f0682 // or one more: the order of bytes
)

// tellLostLog compares the log with the part that SQLite took of it at the open. SQLite reads up to the first damaged frame and
// silently drops the rest. A torn end is normal: the process was killed in the middle of a transaction that was not
// acknowledged. Frames of an earlier generation behind the end are normal too; they have other salts. But a transaction
// committed behind the damage is lost: tellLostLog logs that, and copies the log beside itself before it begins anew.
func (c *conn) tellLostLog(path string, log *slog.Logger) error {
	taken, _, err := c.logFrames()
	if err != nil {
		return err
	}
	lost, err := lostLog(path+"-wal", taken)
	c.foundLog = taken > 0 || lost.transactions > 0 || lost.unreadable
	if err != nil || lost.transactions == 0 && !lost.unreadable {
		return err
	}
	if now, _, err := c.logFrames(); err != nil || now != taken {
		return err // another program is writing to it
	}
	if kept := keepLog(path); lost.transactions > 0 {
		log.Warn("the write-ahead log is damaged, by a power cut or a disk: what was committed behind the damage is lost",
			"path", path+"-wal", "framesGood", taken, "transactionsLost", lost.transactions, "bytesLost", lost.bytes, "copy", kept)
	} else {
		log.Warn("the write-ahead log is none, or damaged beyond recognition: what was not yet in the database is lost",
			"path", path+"-wal", "bytes", fileSize(path+"-wal"), "copy", kept)
	}
	return c.checkpoint(lib.SQLITE_CHECKPOINT_TRUNCATE)
}

// keepLog copies a log that is of no use to SQLite, and returns the path of the copy.
func keepLog(path string) string {
	kept := fmt.Sprintf("%s-wal.damaged-%s", path, time.Now().UTC().Format("20060102T150405Z"))
	if err := copyFile(kept, path+"-wal"); err != nil {
		return "none: " + err.Error()
	}
	return kept
}

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
		log.Warn("the database is missing or empty, but not its write-ahead log, which is worth nothing without it: what the database had is lost",
			"path", path, "log", path+"-wal", "copy", keepLog(path))
	case !left:
	case f.database == 0:
		log.Warn("the database is empty, although the process before was killed and had stored something: what it had is lost", "path", path)
	case f.database > 0 && f.log < 0:
		log.Warn("the write-ahead log is missing, although the process before was killed: what it had not yet copied into the database is lost",
			"path", path+"-wal")
	}
}

// lostFrames describes the part of a log that SQLite did not take: committed transactions, or all of a file that is no log.
type lostFrames struct {
	transactions int
	bytes        int64
	unreadable   bool
}

// lostLog looks for transactions behind the frames that SQLite took. Each frame's checksum continues that of the frame before, as
// stored in the file; so good frames behind a damaged one can be told from rubbish.
func lostLog(path string, taken int) (lost lostFrames, err error) {
	f, err := os.Open(path) // SQLite has no locks on it that closing it would break
	if os.IsNotExist(err) {
		return lost, nil
	}
	if err != nil {
		return lost, fmt.Errorf("look at the write-ahead log: %w", err)
	}
	defer f.Close()
	w, err := newWalk(f, taken)
	if err != nil {
		return lost, endOfLog(err)
	}
	start := w.at
	for {
		commits, err := w.next()
		if err != nil {
			lost.unreadable = !w.good && w.at > walHeader
			return lost, endOfLog(err)
		}
		if commits {
			lost.transactions++
			lost.bytes = w.at - start
		}
	}
}

// endOfLog turns the error at the end of a log into nil.
func endOfLog(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF { //nolint:errorlint // as io.ReadFull and ReadAt return them
		return nil
	}
	return fmt.Errorf("look at the write-ahead log: %w", err)
}

// walk reads the frames of a log one after another.
type walk struct {
	f      io.ReaderAt
	at     int64 // offset of the next frame
	order  binary.ByteOrder
	salts  [8]byte // of this generation of the log
	salted bool    // salts are known
	good   bool    // the header is that of a log
	before [8]byte // checksum of the frame before
	frame  []byte
}

func newWalk(f io.ReaderAt, taken int) (*walk, error) {
	var head [walHeader]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	w := &walk{f: f, at: walHeader, order: binary.LittleEndian, before: [8]byte(head[24:])}
	if head[3]&1 != 0 {
		w.order = binary.BigEndian
	}
	size := int(binary.BigEndian.Uint32(head[8:]))
	if w.good = w.sum([8]byte{}, head[:24]) == w.before && binary.BigEndian.Uint32(head[:])&^1 == walMagic; w.good {
		w.salts, w.salted = [8]byte(head[16:]), true
	} else {
		size = pageSize // nothing in the header counts
	}
	w.frame = make([]byte, frameHeader+size)
	if taken > 0 {
		w.at += int64(taken-1) * int64(len(w.frame))
		if _, err := w.next(); err != nil { // for its checksum
			return nil, err
		}
	}
	return w, nil
}

// next reads a frame and reports whether it is whole, of this generation of the log, and ends a transaction.
func (w *walk) next() (commits bool, err error) {
	head := w.frame[:frameHeader]
	if _, err := w.f.ReadAt(head, w.at); err != nil {
		return false, err
	}
	before, at := w.before, w.at
	w.before, w.at = [8]byte(head[16:]), w.at+int64(len(w.frame))
	if !w.salted {
		w.salts, w.salted = [8]byte(head[8:]), true
	}
	none := [4]byte{}
	if !bytes.Equal(head[8:16], w.salts[:]) || bytes.Equal(head[:4], none[:]) || bytes.Equal(head[4:8], none[:]) {
		return false, nil
	}
	if _, err := w.f.ReadAt(w.frame, at); err != nil {
		return false, err
	}
	return w.sum(w.sum(before, head[:8]), w.frame[frameHeader:]) == w.before, nil
}

// sum is SQLite's checksum of data, going on from another one.
func (w *walk) sum(from [8]byte, data []byte) (to [8]byte) {
	a, b := binary.BigEndian.Uint32(from[:]), binary.BigEndian.Uint32(from[4:])
	for ; len(data) >= 8; data = data[8:] {
		a += w.order.Uint32(data) + b
		b += w.order.Uint32(data[4:]) + a
	}
	binary.BigEndian.PutUint32(to[:], a)
	binary.BigEndian.PutUint32(to[4:], b)
	return to
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
