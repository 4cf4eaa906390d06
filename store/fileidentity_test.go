package store

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	lib "modernc.org/sqlite/lib"
)

// logText collects a log while a test reads it.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// TestFiles_TakenAwayWhileIdle: the store logs the loss within a minute without a write or a request, and again every
// ten minutes.
func TestFiles_TakenAwayWhileIdle(t *testing.T) {
	for _, suffix := range []string{"", "-wal"} {
		t.Run("database"+suffix, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log logText
				path := filepath.Join(t.TempDir(), "a.db")
				s := mustOpen(t, path, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
				time.Sleep(time.Minute)
				synctest.Wait()
				if log.String() != "" {
					t.Errorf("told of %s", &log)
				}
				if err := os.Remove(path + suffix); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				n := strings.Count(log.String(), "level=ERROR")
				if n != 1 || !strings.Contains(log.String(), path+suffix) {
					t.Errorf("told %d times:\n%s", n, &log)
				}
				time.Sleep(time.Hour)
				synctest.Wait()
				if n := strings.Count(log.String(), "level=ERROR"); n < 3 || n > 10 {
					t.Errorf("told %d times in an hour", n)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestFiles_TheFirstWriteAfterAPauseIsRefused, because the writer looks at the files first.
func TestFiles_TheFirstWriteAfterAPauseIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a.db")
		s := mustOpen(t, path, Options{})
		wait(t, s, putQueue(1, "q"))
		time.Sleep(lookEvery)
		if err := os.Rename(path, path+"2"); err != nil {
			t.Fatal(err)
		}
		if err := <-begin(s, insertOp(10, 1, nil)); err == nil || s.Health() == nil {
			t.Errorf("written to a file that is not there: %v", err)
		}
		if err := os.Rename(path+"2", path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(lookEvery)
		drain(s)
		wait(t, s, insertOp(10, 1, nil))
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestFiles_ReplacedJustBeforeTheEnd: Close does not delete a log that replaced ours. (SQLite itself notices a
// replaced database.)
func TestFiles_ReplacedJustBeforeTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := mustOpen(t, path, Options{})
	wait(t, s, putQueue(1, "q"))
	write(t, path+".new", []byte("another"))
	if err := os.Rename(path+".new", path+"-wal"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if got := string(read(t, path+"-wal")); got != "another" {
		t.Errorf("the log is %q", got)
	}
}

// A log that is cut while it is in use is noticed before the next write, at whatever length. What was stored last is
// lost; the rest opens.
func TestLog_CutWhileInUseIsToldAndNothingIsAcknowledged(t *testing.T) {
	for _, held := range []bool{false, true} { // another program keeps the log from being restarted
		testCutLog(t, held)
	}
}

func testCutLog(t *testing.T, held bool) {
	for _, copied := range []int64{0, 10, 20} { // messages in the database when the log is cut, of 20
		for _, left := range []int{0, 10, 32, 40, 50, 99} { // of its length, in percent; to 32, bytes
			t.Run(fmt.Sprintf("%d copied, %d left, held %t", copied, left, held), func(t *testing.T) {
				var log logText
				logger := slog.New(slog.NewTextHandler(&log, nil))
				s := mustOpen(t, filepath.Join(t.TempDir(), "a.db"), Options{Logger: logger})
				wait(t, s, putQueue(1, "q"))
				onWriter(s, func() { must(t, s.writer.conn.checkpoint(lib.SQLITE_CHECKPOINT_PASSIVE)) })
				other, err := openConn(s.Path())
				must(t, err)
				for seq := int64(1); seq <= 20; seq++ {
					wait(t, s, insertOp(10+seq, seq, make([]byte, 3000)))
					if seq == copied {
						if held {
							must(t, other.exec("BEGIN; SELECT count(*) FROM message"))
						}
						onWriter(s, func() { must(t, s.writer.conn.checkpoint(lib.SQLITE_CHECKPOINT_PASSIVE)) })
					}
				}
				other.rollback()
				path, length := s.Path(), int64(left)
				if left > walHeader {
					length = fileSize(s.Path()+"-wal") * int64(left) / 100
				}
				truncate(t, path+"-wal", length)
				err = <-begin(s, insertOp(31, 21, nil))
				if copied == 20 {
					if err != nil || !strings.Contains(log.String(), "nothing is lost") {
						t.Errorf("although all was copied: %v, told %s", err, &log)
					}
				} else {
					for range 5 {
						drain(s)
						if again := <-begin(s, insertOp(32, 22, nil)); again == nil {
							t.Error("stored behind a gap")
						}
					}
					if err == nil || !strings.Contains(err.Error(), "was cut") || s.Health() == nil ||
						strings.Count(log.String(), "level=ERROR") != 1 {
						t.Errorf("got %v and health %v, told %s", err, s.Health(), &log)
					}
				}
				must(t, s.Close())
				other.close()
				s = mustOpen(t, path, Options{})
				got := stored(t, s)
				if n := int64(len(got)); n < copied || lastSeq(t, s, 1) != n || copied == 20 && n != 21 {
					t.Errorf("%d messages are stored, the counter is at %d", n, lastSeq(t, s, 1))
				}
				onWriter(s, func() { checkIntegrity(t, s.writer.conn) })
				wait(t, s, insertOp(s.NextRow(), lastSeq(t, s, 1)+1, nil))
				must(t, s.Close())
			})
		}
	}
}

// Housekeeping writes nothing behind the gap either, and the end leaves it.
func TestLog_CutWhileInUseIsLeftByHousekeeping(t *testing.T) {
	s := newStore(t)
	wait(t, s, putQueue(2, "two"))
	insertMany(t, s, 2, 1000, 50)
	wait(t, s, dropQueue(2))
	truncate(t, s.Path()+"-wal", 0)
	onWriter(s, func() {
		s.writer.vacuum.running = true
		housekeep(s)
		s.writer.tombstones.remove()
	})
	must(t, s.Close())
	if n := fileSize(s.Path() + "-wal"); n != 0 {
		t.Errorf("%d bytes were written to the log", n)
	}
}

// A cut is noticed without a write too.
func TestFiles_CutWhileIdle(t *testing.T) {
	for _, suffix := range []string{"", "-wal"} {
		t.Run("database"+suffix, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log logText
				path := filepath.Join(t.TempDir(), "a.db")
				s := mustOpen(t, path, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
				wait(t, s, putQueue(1, "q"))
				time.Sleep(time.Minute)
				if err := s.Health(); err != nil || log.String() != "" {
					t.Errorf("health %v, told of %s", err, &log)
				}
				truncate(t, path+suffix, fileSize(path+suffix)/2)
				time.Sleep(lookIdle)
				synctest.Wait()
				told := log.String()
				if err := s.Health(); err == nil || strings.Count(told, "level=ERROR") != 1 ||
					!strings.Contains(told, path+suffix) {
					t.Errorf("health %v, told of %s", err, &log)
				}
				if err := <-begin(s, insertOp(10, 1, nil)); err == nil {
					t.Error("a message was acknowledged")
				}
				must(t, s.Close())
			})
		})
	}
}

// Other programs may copy the log into the database and empty it, and the log is restarted at its ceiling; none of
// that is a cut.
func TestLog_EmptiedInOrderIsNoCut(t *testing.T) {
	var log logText
	s := mustOpen(t, filepath.Join(t.TempDir(), "a.db"), Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	defer s.Close()
	wait(t, s, putQueue(1, "q"))
	other, err := openConn(s.Path())
	must(t, err)
	defer other.close()
	for seq := int64(1); seq <= 30; seq++ {
		wait(t, s, insertOp(10+seq, seq, make([]byte, 3000)))
		switch seq % 3 {
		case 0:
			must(t, other.checkpoint(lib.SQLITE_CHECKPOINT_TRUNCATE))
		case 1:
			onWriter(s, func() { s.writer.wal.restart() })
		}
	}
	if _, err := os.Stat(s.Path() + "-wal"); err != nil || log.String() != "" || s.Health() != nil {
		t.Errorf("%v, told of %s", err, &log)
	}
}
