//go:build linux && (amd64 || arm64)

package store

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A transaction that is larger than SQLite's cache goes to the log in parts, which the transaction itself reads again, and which are
// worth nothing if it is rolled back.
func TestLogFile_TransactionsLargerThanTheCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	c, other := openLogged(t, path), openLogged(t, path)
	for i, step := range []struct {
		sql       string
		own, seen int64 // rows afterwards, on this connection and on another one
	}{
		{"CREATE TABLE t(b BLOB)", 0, 0},
		{"BEGIN; " + fillTable, 500, 0},
		{"ROLLBACK", 0, 0},
		{"BEGIN; " + fillTable + "; " + fillTable, 1000, 0},
		{"COMMIT", 1000, 1000},
		{"BEGIN; " + fillTable, 1500, 1000},
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
	checkIntegrity(t, other)
}

// After a COMMIT the whole transaction is in the files, even if SQLite wrote a page of it early, changed it again, and therefore computed
// the checksums of all frames anew.
func TestLogFile_ACommitLeavesNothingHeldBack(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.db")
	c := openLogged(t, path)
	must(t, c.exec("CREATE TABLE t(i INTEGER PRIMARY KEY, b BLOB); INSERT INTO t VALUES(0, zeroblob(3000))"))
	for round := range int64(3) {
		must(t, c.exec("BEGIN"))
		for range 4 {
			must(t, c.exec("UPDATE t SET b=randomblob(3000) WHERE i=0; "+fillTable))
		}
		must(t, c.exec("UPDATE t SET b=randomblob(3000) WHERE i=0; COMMIT"))
		other := copyOf(t, path)
		if n, err := other.queryInt("SELECT count(*) FROM t"); err != nil || n != 1+(round+1)*2000 {
			t.Errorf("round %d: %d rows are in the files: %v", round, n, err)
		}
		checkIntegrity(t, other)
	}
}

// What was held back of a transaction that is rolled back does not overwrite what another connection commits in its place.
func TestLogFile_ARollbackDropsWhatIsHeldBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	c, other := openLogged(t, path), openLogged(t, path)
	held := func() (n int) {
		logFiles.Range(func(_, f any) bool { n += len(f.(*logFile).held); return true })
		return n
	}
	must(t, c.exec("CREATE TABLE t(i INTEGER PRIMARY KEY, b BLOB)"))
	for round, end := range []string{
		"ROLLBACK",
		"INSERT OR ROLLBACK INTO t(i) SELECT max(i) FROM t", // SQLite ends the transaction
	} {
		must(t, c.exec("BEGIN; "+fillTable))
		if held() == 0 {
			t.Fatal("nothing is held back that could be dropped")
		}
		if err := c.exec(end); round == 0 && err != nil || c.inTransaction() {
			t.Fatalf("%s: %v", end, err)
		}
		must(t, other.exec(strings.Replace(fillTable, "random", "zero", 1)))
		for _, c := range []*conn{c, copyOf(t, path), other} {
			if n, err := c.queryInt("SELECT count(*) FROM t WHERE b=zeroblob(3000)"); err != nil || n != int64(round+1)*500 {
				t.Errorf("after %s: %d rows: %v", end, n, err)
			}
			checkIntegrity(t, c)
		}
	}
}

const fillTable = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<500) INSERT INTO t(b) SELECT randomblob(3000) FROM n"

// openLogged returns a connection whose transactions are soon larger than its cache.
func openLogged(t *testing.T, path string) *conn {
	t.Helper()
	c, err := openConn(path)
	must(t, err)
	t.Cleanup(c.close)
	must(t, c.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=20"))
	return c
}

// copyOf returns a connection to what a process that is killed now leaves.
func copyOf(t *testing.T, path string) *conn {
	t.Helper()
	return openLogged(t, copyFiles(t, path))
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
