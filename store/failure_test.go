package store

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	lib "modernc.org/sqlite/lib"

	"minibus/emulator"
)

// begin appends a change and returns the channel of its result.
func begin(s *Store, ops ...emulator.Op) <-chan error {
	res := make(chan error, 2)
	s.Append(&emulator.Change{Ops: ops, Done: emulator.CompletionFunc(func(err error) { res <- err })})
	return res
}

func insertOp(row, seq int64, data []byte) emulator.Op {
	return emulator.Op{Kind: emulator.OpInsert, DrawsNumber: true, Data: data, Record: emulator.MessageRecord{
		Row: row, Entity: 1, Seq: seq, Body: row, Size: int64(len(data)),
	}}
}

func putQueue(id int64, path string) emulator.Op {
	e := emulator.EntityRecord{ID: id, Kind: emulator.KindQueue, Path: path}
	return emulator.Op{Kind: emulator.OpPutEntity, Entity: e}
}

// newStore opens a new database with the queue 1.
func newStore(t *testing.T) *Store {
	t.Helper()
	s := mustOpen(t, filepath.Join(t.TempDir(), "a.db"), Options{})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	wait(t, s, putQueue(1, "q"))
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func checkIntegrity(t *testing.T, c *conn) {
	t.Helper()
	n, err := c.queryInt("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check<>'ok'")
	if err != nil || n != 0 {
		t.Errorf("%d problems: %v", n, err)
	}
}

// copyFiles copies the files of a database, as a process that is killed now leaves them.
func copyFiles(t *testing.T, path string) (copied string) {
	t.Helper()
	copied = filepath.Join(t.TempDir(), "copied.db")
	for _, end := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + end)
		must(t, err)
		must(t, os.WriteFile(copied+end, b, 0o600))
	}
	return copied
}

// onWriter runs f on the writer's goroutine.
func onWriter(s *Store, f func()) {
	done := make(chan struct{})
	s.inbox.put(item{flush: emulator.CompletionFunc(func(error) { f(); close(done) })})
	<-done
}

// hold makes everything that is appended during f one batch.
func hold(s *Store, f func()) {
	entered, leave := make(chan struct{}), make(chan struct{})
	s.inbox.put(item{flush: emulator.CompletionFunc(func(error) { close(entered); <-leave })})
	<-entered
	f()
	close(leave)
}

type rows map[int64]emulator.MessageRecord

func (rows) LoadEntity(emulator.EntityRecord) error { return nil }
func (r rows) LoadMessage(m *emulator.MessageRecord) error {
	r[m.Row] = *m
	return nil
}
func (rows) LoadSession(int64, string, []byte, int64) error { return nil }
func (rows) LoadDuplicate(int64, [16]byte, int64) error     { return nil }

func stored(t *testing.T, s *Store) rows {
	t.Helper()
	drain(s)
	r := rows{}
	if err := s.Load(r); err != nil {
		t.Fatal(err)
	}
	return r
}

func lastSeq(t *testing.T, s *Store, entity int64) (seq int64) {
	t.Helper()
	onWriter(s, func() {
		sql := fmt.Sprint("SELECT last_seq FROM counter WHERE partition=0 AND entity=", entity)
		seq, _ = s.writer.conn.queryInt(sql)
	})
	return seq
}

// TestFailedCommitFailsTheBatchAndWhatIsBehind proves invariant 2: the whole batch fails, and so do, in order, the
// changes appended until the last completion has run. Nothing of them is stored, counters are as before, and later
// changes succeed.
func TestFailedCommitFailsTheBatchAndWhatIsBehind(t *testing.T) {
	s := newStore(t)
	wait(t, s, insertOp(10, 1, nil))
	broken := errors.New("the disk is on fire")
	var mu sync.Mutex
	var order []int64
	done := func(row int64, then func()) emulator.Completion {
		return emulator.CompletionFunc(func(err error) {
			if !errors.Is(err, broken) {
				t.Errorf("row %d: %v, want the failure of the commit", row, err)
			}
			mu.Lock()
			order = append(order, row)
			mu.Unlock()
			then()
		})
	}
	last := make(chan struct{})
	add := func(row int64, then func()) {
		s.Append(&emulator.Change{Ops: []emulator.Op{insertOp(row, row, nil)}, Done: done(row, then)})
	}
	hold(s, func() {
		s.beforeCommit = func() error { s.beforeCommit = nil; return broken } // fails once only
		add(11, func() {})
		add(12, func() { add(13, func() { add(14, func() { close(last) }) }) })
	})
	<-last
	drain(s)
	if fmt.Sprint(order) != "[11 12 13 14]" {
		t.Errorf("failed in the order %v", order)
	}
	if got := lastSeq(t, s, 1); got != 1 {
		t.Errorf("counter is %d, want the committed 1", got)
	}
	wait(t, s, insertOp(11, 2, nil))
	if got := stored(t, s); len(got) != 2 || lastSeq(t, s, 1) != 2 {
		t.Errorf("stored are %v, counter %d", got, lastSeq(t, s, 1))
	}
}

// TestFullDiskIsAnErrorAndPasses uses SQLite's own limit, so that the error is the one of a full disk (SQLITE_FULL).
func TestFullDiskIsAnErrorAndPasses(t *testing.T) {
	for name, c := range map[string]struct{ size, pages int }{
		"small bodies":            {4000, 100},
		"a body in parts":         {2 << 20, 600},
		"its first part does fit": {4 << 20, 200},
	} {
		t.Run(name, func(t *testing.T) {
			s, size := newStore(t), c.size
			onWriter(s, func() { _, _ = s.writer.conn.queryInt(fmt.Sprint("PRAGMA max_page_count=", c.pages)) })
			ok, err := int64(0), error(nil)
			for ; err == nil && ok < 1000; ok++ {
				err = <-begin(s, insertOp(10+ok, 1+ok, make([]byte, size)))
			}
			if !isRefused(err) || !strings.Contains(err.Error(), "no space left") {
				t.Fatalf("error is %v, want quota exceeded", err)
			}
			if got := stored(t, s); int64(len(got)) != ok-1 || lastSeq(t, s, 1) != ok-1 {
				t.Errorf("%d rows and counter %d after %d successes", len(got), lastSeq(t, s, 1), ok-1)
			}
			if got := count(t, s, "body_part WHERE body NOT IN (SELECT id FROM body)"); got != 0 {
				t.Errorf("%d pieces of the failed message are left", got)
			}
			onWriter(s, func() { _, _ = s.writer.conn.queryInt("PRAGMA max_page_count=1000000") })
			wait(t, s, insertOp(5000, ok, make([]byte, size)))
			if got := lastSeq(t, s, 1); got != ok {
				t.Errorf("counter is %d, want %d", got, ok)
			}
		})
	}
}

// TestOwnFaultInABatch has one bad change between good ones in one transaction: only it fails, and its numbers
// count as never drawn, unlike those of the changes before it.
func TestOwnFaultInABatch(t *testing.T) {
	s := newStore(t)
	wait(t, s, insertOp(10, 1, nil))
	var a, bad, b, unknown <-chan error
	commits := s.Stats().Commits
	hold(s, func() {
		a = begin(s, insertOp(11, 2, nil))
		bad = begin(s, insertOp(12, 90, nil), putQueue(2, "two"), insertOp(10, 91, nil))
		unknown = begin(s, insertOp(13, 92, nil), emulator.Op{Kind: 77})
		b = begin(s, insertOp(14, 3, nil))
	})
	if err := errors.Join(<-a, <-b); err != nil {
		t.Error(err)
	}
	if <-bad == nil || <-unknown == nil {
		t.Error("a change at fault succeeded")
	}
	drain(s)
	if got := s.Stats().Commits - commits; got != 1 {
		t.Errorf("%d transactions, want one", got)
	}
	if got := stored(t, s); len(got) != 3 || lastSeq(t, s, 1) != 3 {
		t.Errorf("stored are %v, counter %d", got, lastSeq(t, s, 1))
	}
	draw := emulator.Op{Kind: emulator.OpCounter, Record: emulator.MessageRecord{Entity: 2, Seq: 1}}
	if err := <-begin(s, draw); err == nil {
		t.Error("the entity of the failed change exists")
	}
}

// TestBusyDatabaseIsAnErrorAndPasses: another program holds the write lock of the file, for example a sqlite3 shell.
func TestBusyDatabaseIsAnErrorAndPasses(t *testing.T) {
	s := newStore(t)
	other, err := openConn(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer other.close()
	onWriter(s, func() {
		_ = s.writer.conn.exec("PRAGMA busy_timeout=1")
		s.writer.tx.lockTimeout = time.Millisecond
	})
	if err := other.exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	var de *emulator.Error
	if err := <-begin(s, insertOp(10, 1, nil)); !errors.As(err, &de) || de.Code != emulator.CodeServerBusy {
		t.Errorf("error is %v, want busy", err)
	}
	if err := other.exec("COMMIT"); err != nil {
		t.Fatal(err)
	}
	drain(s) // until then changes still count as queued behind the failed one
	wait(t, s, insertOp(10, 1, nil))
}

// TestBusyDatabaseIsWaitedFor: a change that another program's transaction blocks fails neither at once nor after
// SQLite's own time-out, even with a body in parts; it is written when that program lets go.
func TestBusyDatabaseIsWaitedFor(t *testing.T) {
	for name, size := range map[string]int{"inline": 10, "in parts": 2 * maxInline} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			other, err := openConn(s.Path())
			if err != nil {
				t.Fatal(err)
			}
			defer other.close()
			waits := make(chan struct{})
			onWriter(s, func() {
				_ = s.writer.conn.exec("PRAGMA busy_timeout=1")
				s.log = slog.New(onLine(func() { close(waits) }))
			})
			if err := other.exec("BEGIN IMMEDIATE"); err != nil {
				t.Fatal(err)
			}
			res := begin(s, insertOp(10, 1, make([]byte, size)))
			<-waits // SQLite's time-out is over
			if err := other.exec("COMMIT"); err != nil {
				t.Fatal(err)
			}
			if err := <-res; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestBusyDatabaseDoesNotHoldUpClose: the wait ends with the store.
func TestBusyDatabaseDoesNotHoldUpClose(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "a.db"), Options{})
	wait(t, s, putQueue(1, "q"))
	other, err := openConn(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	waits := make(chan struct{})
	onWriter(s, func() {
		_ = s.writer.conn.exec("PRAGMA busy_timeout=1")
		s.writer.tx.lockTimeout = time.Hour
		s.log = slog.New(onLine(func() { close(waits) }))
	})
	if err := other.exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	res := begin(s, insertOp(10, 1, nil))
	<-waits
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	if err := <-res; err == nil {
		t.Error("nothing failed")
	}
	other.close() // rolls back
	if err := <-closed; err != nil && !isCode(err, lib.SQLITE_BUSY) {
		t.Error(err)
	}
}

// onLine is a log handler that calls itself at the first line.
func onLine(f func()) slog.Handler {
	return &firstLine{Handler: slog.DiscardHandler, f: sync.OnceFunc(f)}
}

type firstLine struct {
	slog.Handler
	f func()
}

func (l *firstLine) Enabled(context.Context, slog.Level) bool { return true }

func (l *firstLine) Handle(context.Context, slog.Record) error {
	l.f()
	return nil
}

// After an error on which SQLite ends the transaction, nothing of the same change is written by itself.
func TestNothingIsWrittenOutsideOfATransaction(t *testing.T) {
	for name, remove := range map[string]func(w *writer) error{
		"a statement": func(w *writer) error { return w.messages.removeRow.run(11) },
		"one that returns rows": func(w *writer) error {
			_, err := w.conn.queryInt("DELETE FROM message WHERE row=11 RETURNING row")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) { nothingIsWritten(t, remove) })
	}
}

func nothingIsWritten(t *testing.T, remove func(w *writer) error) {
	s := newStore(t)
	wait(t, s, insertOp(10, 1, []byte("kept")), insertOp(11, 2, []byte("kept too")))
	var err error
	onWriter(s, func() {
		w := s.writer
		err = w.conn.exec(`CREATE TEMP TRIGGER t BEFORE DELETE ON main.message WHEN OLD.row=11
			BEGIN SELECT RAISE(ROLLBACK, 'the disk'); END`)
		if err != nil {
			return
		}
		err = w.tx.run(func() error {
			return errors.Join(remove(w), w.messages.removeRow.run(10))
		})
		if err == nil || !strings.Contains(err.Error(), "the disk") {
			err = fmt.Errorf("the transaction did not end with the trigger's error: %w", err)
			return
		}
		err = w.tx.run(func() error { return w.messages.removeRow.run(12) })
	})
	if err != nil {
		t.Error(err)
	}
	if got := stored(t, s); len(got) != 2 {
		t.Errorf("stored are %v", got)
	}
}

// A change with a value that SQLite does not take fails alone, and the next run of the statement is as if nothing had
// been.
func TestParameterThatCannotBeSet(t *testing.T) {
	s := newStore(t)
	onWriter(s, func() {
		c := s.writer.conn
		lib.Xsqlite3_limit(c.tls, c.db, lib.SQLITE_LIMIT_LENGTH, 10_000)
	})
	var good, bad, after <-chan error
	hold(s, func() {
		good = begin(s, insertOp(10, 1, []byte("small")))
		bad = begin(s, insertOp(11, 2, make([]byte, 20_000)))
		after = begin(s, insertOp(12, 2, []byte("small")))
	})
	if err := errors.Join(<-good, <-after); err != nil {
		t.Error(err)
	}
	var de *emulator.Error
	if err := <-bad; !errors.As(err, &de) || de.Code != emulator.CodeMessageTooLarge {
		t.Errorf("the large one: %v", err)
	}
	if got := stored(t, s); len(got) != 2 {
		t.Errorf("stored are %v", got)
	}
}
