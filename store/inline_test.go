package store

import (
	"errors"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"minibus/emulator"
)

// appendOne appends a change of one message and returns where its result arrives.
func appendOne(s *Store, row int64, ops int) chan error {
	done := make(chan error, 1)
	c := &emulator.Change{Done: emulator.CompletionFunc(func(err error) { done <- err })}
	for i := range int64(ops) {
		c.Ops = append(c.Ops, insertOp(row+i, row+i, []byte("x")))
	}
	s.Append(c)
	return done
}

// atRest waits until the writer's goroutine has nothing to do.
func atRest(s *Store) {
	busy := func() bool {
		s.writer.mu.Lock()
		defer s.writer.mu.Unlock()
		return s.writer.vacuum.look || len(s.inbox.wake) > 0
	}
	for onWriter(s, func() {}); busy(); {
		onWriter(s, func() {})
	}
}

func TestEndBatch_CommitsLittleOnTheCallersGoroutine(t *testing.T) {
	s := newStore(t)
	byCaller := 0
	for row := int64(1); row <= 50; row++ {
		atRest(s)
		s.BeginBatch()
		done := appendOne(s, row, 1)
		if len(done) != 0 {
			t.Fatal("a change was committed before EndBatch")
		}
		s.EndBatch()
		byCaller += len(done)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	if byCaller == 0 {
		t.Error("EndBatch never committed")
	}
}

func TestEndBatch_LeavesMuchToTheWriter(t *testing.T) {
	s := newStore(t)
	atRest(s)
	s.writer.mu.Lock() // nobody else can commit
	s.BeginBatch()
	done := appendOne(s, 1, inlineOps+1)
	s.EndBatch()
	s.writer.mu.Unlock()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestEndBatch_WhileAnotherCommits(t *testing.T) {
	s := newStore(t)
	s.writer.mu.Lock()
	s.BeginBatch()
	done := appendOne(s, 1, 1)
	s.EndBatch() // does not wait
	if len(done) != 0 {
		t.Error("it is committed already")
	}
	s.writer.mu.Unlock()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func TestEndBatch_WhileAnotherProgramHoldsTheWriteLock(t *testing.T) {
	s := newStore(t)
	other, err := openConn(s.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer other.close()
	for row := range int64(20) {
		atRest(s)
		if err := other.exec("BEGIN IMMEDIATE"); err != nil {
			t.Fatal(err)
		}
		s.BeginBatch()
		done := appendOne(s, row+1, 1)
		begun := time.Now()
		s.EndBatch()
		if d := time.Since(begun); d > busyTimeout*time.Millisecond/2 {
			t.Fatalf("EndBatch waited %v", d)
		}
		if len(done) != 0 {
			t.Error("it is committed already")
		}
		if err := other.exec("ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
}

// What comes while EndBatch is about to commit may be large, and is not committed by its caller.
func TestEndBatch_LeavesWhatCameMeanwhileToTheWriter(t *testing.T) {
	s := newStore(t)
	atRest(s)
	stacks := make(chan string, 2)
	done := emulator.CompletionFunc(func(error) { stacks <- string(debug.Stack()) })
	s.BeginBatch()
	s.writer.mu.Lock()
	s.Append(&emulator.Change{Ops: []emulator.Op{insertOp(1, 1, []byte("x"))}, Done: done})
	s.Append(&emulator.Change{Ops: []emulator.Op{insertOp(2, 2, make([]byte, maxInline+1))}, Done: done})
	s.commitInline()
	s.writer.mu.Unlock()
	for range 2 {
		if stack := <-stacks; strings.Contains(stack, "commitInline") {
			t.Errorf("committed by\n%s", stack)
		}
	}
	s.EndBatch()
}

// In memory the reader has the same connection, and would find a transaction open.
func TestEndBatch_BeginsNothingAheadInMemory(t *testing.T) {
	s := mustOpen(t, "", Options{Ephemeral: true})
	defer s.Close()
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	if w := s.writer; !w.tx.tryBegin() || w.tx.begun || w.conn.inTransaction() {
		t.Error("a transaction is open while the connection is free")
	}
}

// While the disk is full there is more to do than to commit.
func TestEndBatch_NotWhileTheDiskIsFull(t *testing.T) {
	s := newStore(t)
	for row := range int64(20) {
		atRest(s)
		s.writer.mu.Lock()
		s.health.note(errDiskFull)
		s.writer.mu.Unlock()
		stack := make(chan string, 1)
		s.BeginBatch()
		s.Append(&emulator.Change{
			Ops:  []emulator.Op{insertOp(row+1, row+1, []byte("x"))},
			Done: emulator.CompletionFunc(func(error) { stack <- string(debug.Stack()) }),
		})
		s.EndBatch()
		if strings.Contains(<-stack, "commitInline") {
			t.Fatal("the caller committed")
		}
	}
}

// A transaction that EndBatch began, and for which there was no use, holds no lock.
func TestEndBatch_EndsWhatItBegan(t *testing.T) {
	s := newStore(t)
	set := func(lost *emulator.Error) {
		s.files.mu.Lock()
		defer s.files.mu.Unlock()
		s.files.looked, s.files.lost = time.Now().Add(time.Hour), lost
	}
	for row := range int64(10) {
		atRest(s)
		set(&emulator.Error{Code: emulator.CodeInternal, Text: "The file is gone"})
		s.BeginBatch()
		done := appendOne(s, row+1, 1)
		s.EndBatch()
		if err := <-done; err == nil {
			t.Fatal("a change was stored in a lost file")
		}
		set(nil)
		s.writer.mu.Lock()
		if s.writer.conn.inTransaction() {
			t.Error("a transaction is open")
		}
		s.writer.mu.Unlock()
	}
}

func TestEndBatch_NotWhereCommitsWaitForTheDisk(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "a.db"), Options{Synchronous: "full"})
	defer s.Close()
	if s.inline {
		t.Error("a turn of a connection would wait for the disk")
	}
}

func TestEndBatch_AfterCloseFails(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "a.db"), Options{})
	wait(t, s, putQueue(1, "q"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.BeginBatch()
	done := appendOne(s, 1, 1)
	s.EndBatch()
	if err := <-done; !errors.Is(err, errClosed) {
		t.Errorf("got %v", err)
	}
}

// Each change gets its result, also while the store closes, and those that were committed are there afterwards.
func TestEndBatch_LosesNothingBesideTheWriterAndClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := mustOpen(t, path, Options{})
	wait(t, s, putQueue(1, "q"))
	var row, stored atomic.Int64
	var group sync.WaitGroup
	begun := make(chan struct{}, 400)
	for i := range 4 {
		group.Go(func() {
			for range 100 {
				if i > 0 {
					s.BeginBatch()
				}
				done := appendOne(s, row.Add(1), 1)
				if i > 0 {
					s.EndBatch()
				}
				begun <- struct{}{}
				if err := <-done; err == nil {
					stored.Add(1)
				} else if !errors.Is(err, errClosed) {
					t.Error(err)
				}
			}
		})
	}
	for range 200 {
		<-begun
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	group.Wait()
	s = mustOpen(t, path, Options{})
	defer s.Close()
	if n, err := s.reader.conn.queryInt("SELECT count(*) FROM message"); err != nil || n != stored.Load() {
		t.Errorf("%d messages of %d are there: %v", n, stored.Load(), err)
	}
}

func TestContention(t *testing.T) {
	var c contention
	alone := func(rounds int) {
		for range rounds {
			c.committed(1)
		}
	}
	if alone(100); c.high() {
		t.Error("one alone contends")
	}
	for range 100 { // two whose ways cross now and then
		c.met()
		alone(2)
	}
	if c.high() {
		t.Error("two that hardly meet contend")
	}
	for range 2 * highContention { // two that meet mostly
		c.met()
		c.met()
		alone(1)
	}
	if !c.high() {
		t.Error("two that mostly meet do not contend")
	}
	if alone(highestContention); c.high() {
		t.Error("contention that is over still counts")
	}
	if c.committed(inlineChanges + 1); !c.high() {
		t.Error("changes that come together are no contention")
	}
	if alone(highestContention - highContention); !c.high() {
		t.Error("contention ends at once")
	}
	if alone(1); c.high() {
		t.Error("contention does not end")
	}
}

// Under contention the writer's goroutine commits, and alone the caller of EndBatch.
func TestEndBatch_UnderContention(t *testing.T) {
	s := newStore(t)
	byCaller := func(row int64, changes int) bool {
		atRest(s)
		s.contention.committed(changes)
		stack := make(chan string, 1)
		s.BeginBatch()
		s.Append(&emulator.Change{
			Ops:  []emulator.Op{insertOp(row, row, []byte("x"))},
			Done: emulator.CompletionFunc(func(error) { stack <- string(debug.Stack()) }),
		})
		s.EndBatch()
		return strings.Contains(<-stack, ").EndBatch(")
	}
	some := false
	for row := range int64(50) {
		some = byCaller(row+1, 1) || some
	}
	if !some {
		t.Error("one alone never committed itself")
	}
	for row := range int64(50) {
		if byCaller(row+100, inlineChanges+1) {
			t.Fatal("one of several committed itself")
		}
	}
}

// TestReadsAfterTheCloseFail at once.
func TestReadsAfterTheCloseFail(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "a.db"), Options{})
	must(t, s.Close())
	done := make(chan error, 1)
	s.ReadBodies(&emulator.BodyRead{IDs: []int64{10}, Done: emulator.CompletionFunc(func(err error) { done <- err })})
	select {
	case err := <-done:
		if !errors.Is(err, errClosed) {
			t.Errorf("the error is %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the read is never answered")
	}
}
