//go:build linux && (amd64 || arm64)

package store

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A transaction that is larger than SQLite's cache goes to the log in parts, which the transaction itself reads again, and which are
// worth nothing if it is rolled back.
func TestLogFile_TransactionsLargerThanTheCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	c, err := openConn(path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	other, err := openConn(path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.close()
	fill := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<500) INSERT INTO t SELECT randomblob(3000) FROM n"
	for i, step := range []struct {
		sql       string
		own, seen int64 // rows afterwards, on this connection and on another one
	}{
		{"PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=5; CREATE TABLE t(b BLOB)", 0, 0},
		{"BEGIN; " + fill, 500, 0},
		{"ROLLBACK", 0, 0},
		{"BEGIN; " + fill + "; " + fill, 1000, 0},
		{"COMMIT", 1000, 1000},
		{"BEGIN; " + fill, 1500, 1000},
		{"ROLLBACK; PRAGMA wal_checkpoint(TRUNCATE)", 1000, 1000},
		{"DELETE FROM t WHERE rowid%2=0", 500, 500},
	} {
		if err := c.exec(step.sql); err != nil {
			t.Fatal(err)
		}
		own, err := c.queryInt("SELECT count(*) FROM t WHERE length(b)=3000")
		if err != nil || own != step.own {
			t.Errorf("step %d: the connection sees %d rows, not %d: %v", i, own, step.own, err)
		}
		if seen, err := other.queryInt("SELECT count(*) FROM t WHERE length(b)=3000"); err != nil || seen != step.seen {
			t.Errorf("step %d: another one sees %d rows, not %d: %v", i, seen, step.seen, err)
		}
	}
	if n, err := other.queryInt("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check<>'ok'"); err != nil || n != 0 {
		t.Errorf("%d problems: %v", n, err)
	}
}

func testFrame(last byte, page byte) (head, body []byte) {
	head = make([]byte, frameHead)
	head[7] = last
	return head, bytes.Repeat([]byte{page}, 512)
}

func TestLogFile_WritesATransactionAtOnce(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f := &logFile{fd: int32(file.Fd())}
	size := func() int64 {
		info, err := file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	var want []byte
	put := func(b []byte) {
		if err := f.write(b, int64(len(want))); err != 0 {
			t.Fatal(err)
		}
		want = append(want, b...)
	}
	put(make([]byte, 32)) // the head of the log
	if size() != 32 {
		t.Fatal("the head of the log was held back")
	}
	for i := range byte(3) {
		head, page := testFrame(i/2, i)
		put(head)
		put(page)
		if i < 2 && size() != 32 {
			t.Error("part of a transaction was written")
		}
	}
	if size() != int64(len(want)) {
		t.Errorf("%d bytes of %d are written", size(), len(want))
	}
	head, _ := testFrame(0, 9)
	put(head)
	if err := f.write([]byte("elsewhere"), 4); err != 0 {
		t.Fatal(err)
	}
	copy(want[4:], "elsewhere")
	if got, err := os.ReadFile(file.Name()); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file is not what was written, in its order: %v", err)
	}
}

func TestLogFile_AFailureIsThatOfTheLastFrame(t *testing.T) {
	file, err := os.Open(os.DevNull) // not for writing
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f := &logFile{fd: int32(file.Fd())}
	head, page := testFrame(1, 1)
	if err := f.write(head, 32); err != 0 {
		t.Error(err)
	}
	if err := f.write(page, 32+frameHead); err != syscall.EBADF {
		t.Errorf("the write failed with %v", err)
	}
	if len(f.held) != 0 {
		t.Error("a failed transaction is still held")
	}
}

// The log of a store is written so, and closing it leaves nothing behind.
func TestLogFile_OfAStore(t *testing.T) {
	logs := func() (n int) {
		logFiles.Range(func(any, any) bool { n++; return true })
		return n
	}
	before := logs()
	s := mustOpen(t, filepath.Join(t.TempDir(), "a.db"), Options{})
	wait(t, s, putQueue(1, "q"))
	if logs() == before {
		t.Error("SQLite writes the log by itself")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := logs(); n != before {
		t.Errorf("%d logs are left, of %d before", n, before)
	}
}
