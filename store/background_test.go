package store

import (
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"minibus/emulator"
)

func count(t *testing.T, s *Store, table string) (n int64) {
	t.Helper()
	var err error
	onWriter(s, func() { n, err = s.writer.conn.queryInt("SELECT count(*) FROM " + table) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// sweepNow finishes the removal of deleted entities and namespaces on the writer's goroutine.
func sweepNow(s *Store) {
	onWriter(s, func() {
		for s.writer.sweeper.step() {
		}
	})
}

// housekeep does all that can wait, on the writer's goroutine.
func housekeep(s *Store) {
	for {
		for s.writer.wal.restartPending() {
			s.checkpointer.copy() // housekeeping waits for it
		}
		if !s.writer.idleWork() {
			return
		}
	}
}

func dropQueue(id int64) emulator.Op {
	return emulator.Op{Kind: emulator.OpDeleteEntity, Entity: emulator.EntityRecord{ID: id}}
}

// insertMany inserts n messages with bodies into an entity, with row and body ids from from on.
func insertMany(t *testing.T, s *Store, entity, from int64, n int) {
	t.Helper()
	for i := range int64(n) {
		op := insertOp(from+i, i+1, []byte("body"))
		op.Record.Entity = entity
		begin(s, op)
	}
	drain(s)
}

// TestDEL3_DeletedEntityIsRemovedInTheBackground: the sweep removes rows, bodies and tombstone in steps, and keeps
// bodies that another entity shares, even if it begins to share them during the sweep.
func TestDEL3_DeletedEntityIsRemovedInTheBackground(t *testing.T) {
	s := newStore(t)
	wait(t, s, putQueue(2, "two"))
	const many = 3*sweepScan + 5
	insertMany(t, s, 1, 100, 10)
	insertMany(t, s, 2, 1000, many)
	copyOf := func(row, body int64) emulator.Op {
		op := insertOp(row, 0, nil)
		op.Record.Body = body
		return op
	}
	wait(t, s, copyOf(50_000, 1001))
	hold(s, func() {
		begin(s, dropQueue(2))
		begin(s, insertOp(50_001, 0, []byte("after")))
		begin(s, copyOf(50_002, 1002))
	})
	sweepNow(s)
	if got := count(t, s, "message"); got != 13 {
		t.Errorf("%d messages are left, want 13", got)
	}
	if got := count(t, s, "body"); got != 13 {
		t.Errorf("%d bodies are left, want 13", got)
	}
	if got := count(t, s, "entity"); got != 1 {
		t.Errorf("%d entities are left, want 1", got)
	}
}

// TestBodySharedDuringASweepStays: the copy comes after the sweep has looked for references, with a row id that
// was drawn early and stored late.
func TestBodySharedDuringASweepStays(t *testing.T) {
	s := newStore(t)
	wait(t, s, putQueue(2, "two"))
	insertMany(t, s, 2, 1000, 5)
	late := insertOp(50, 9, nil)
	late.Record.Body = 1002
	onWriter(s, func() {
		w := s.writer
		if err := w.store([]item{{change: &emulator.Change{Ops: []emulator.Op{dropQueue(2)}}}}); err != nil {
			t.Error(err)
		}
		for len(w.sweeper.now.then) > 1 {
			w.sweeper.step()
		}
		if err := w.store([]item{{change: &emulator.Change{Ops: []emulator.Op{late}}}}); err != nil {
			t.Error(err)
		}
	})
	sweepNow(s)
	if m, b := count(t, s, "message"), count(t, s, "body WHERE id=1002"); m != 1 || b != 1 {
		t.Errorf("left are %d messages and %d of the body", m, b)
	}
}

// TestTombstonesSurviveAKill: after a kill in the middle of a sweep, a load shows nothing of the deleted entity, and
// the next start finishes the sweep.
func TestTombstonesSurviveAKill(t *testing.T) {
	s := newStore(t)
	wait(t, s, putQueue(2, "two"))
	insertMany(t, s, 1, 100, 10)
	insertMany(t, s, 2, 1000, 50)
	onWriter(s, func() {
		// A kill between the steps leaves bodies without rows.
		err := s.writer.conn.exec("UPDATE entity SET deleted=1 WHERE id=2; " +
			"DELETE FROM message WHERE row < 1020 AND row >= 1000")
		if err != nil {
			t.Error(err)
		}
	})
	path := s.Path()
	_ = s.Close()
	s = mustOpen(t, path, Options{})
	defer s.Close()
	if got := stored(t, s); len(got) != 10 {
		t.Errorf("%d messages are loaded, want 10", len(got))
	}
	sweepNow(s)
	if m, b, e := count(t, s, "message"), count(t, s, "body"), count(t, s, "entity"); m != 10 || b != 10 || e != 1 {
		t.Errorf("left are %d messages, %d bodies, %d entities", m, b, e)
	}
}

// TestFailedSweepIsTakenUpAgain by the next deletion.
func TestFailedSweepIsTakenUpAgain(t *testing.T) {
	s := newStore(t)
	wait(t, s, putQueue(2, "two"))
	wait(t, s, putQueue(3, "three"))
	insertMany(t, s, 2, 1000, 50)
	onWriter(s, func() {
		_ = s.writer.conn.exec("CREATE TEMP TRIGGER no BEFORE DELETE ON message BEGIN SELECT raise(ABORT, 'no'); END")
	})
	wait(t, s, dropQueue(2))
	sweepNow(s)
	if got := count(t, s, "message"); got != 50 {
		t.Fatalf("%d messages are left, want all", got)
	}
	onWriter(s, func() { _ = s.writer.conn.exec("DROP TRIGGER no") })
	wait(t, s, dropQueue(3))
	sweepNow(s)
	if m, b, e := count(t, s, "message"), count(t, s, "body"), count(t, s, "entity"); m != 0 || b != 0 || e != 1 {
		t.Errorf("left are %d messages, %d bodies, %d entities", m, b, e)
	}
}

// TestLogIsCheckpointedBetweenBatches and so stays bounded, also by a body that is larger than the bound.
func TestLogIsCheckpointedBetweenBatches(t *testing.T) {
	s := newStore(t)
	onWriter(s, func() { s.writer.wal.checkpoint, s.writer.wal.longest = 64, 256 })
	for i := range int64(100) {
		wait(t, s, insertOp(10+i, 1+i, make([]byte, 64<<10)))
	}
	wait(t, s, insertOp(500, 500, make([]byte, 8<<20)))
	if got := s.Stats().Checkpoints; got < 5 {
		t.Errorf("%d checkpoints", got)
	}
	info, err := os.Stat(s.Path() + "-wal")
	if err != nil || info.Size() > 3<<20 {
		t.Errorf("the log has %d bytes (%v) after 14 MiB", info.Size(), err)
	}
}

// TestDeepFileGivesSpaceBack: a drained file shrinks.
func TestDeepFileGivesSpaceBack(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	const n, size = 300, 200 << 10
	for i := range int64(n) {
		begin(s, insertOp(10+i, 1+i, make([]byte, size)))
	}
	drain(s)
	var deep int64
	onWriter(s, func() { deep, _ = s.writer.conn.queryInt("PRAGMA page_count") })
	for i := range int64(n) {
		r := emulator.MessageRecord{Row: 10 + i, Body: 10 + i}
		begin(s, emulator.Op{Kind: emulator.OpDelete, DropBody: true, Record: r})
	}
	drain(s)
	var left int64
	onWriter(s, func() {
		s.writer.vacuum.look = true
		housekeep(s)
		left, _ = s.writer.conn.queryInt("PRAGMA page_count")
	})
	if left > deep/10 {
		t.Errorf("%d pages of %d are left", left, deep)
	}
}

// TestReadsWhileWriting: body reads beside commits, which share one connection where the database is ephemeral.
func TestReadsWhileWriting(t *testing.T) {
	t.Parallel()
	for _, ephemeral := range []bool{false, true} {
		t.Run(fmt.Sprint("ephemeral=", ephemeral), func(t *testing.T) {
			s := mustOpen(t, t.TempDir()+"/a.db", Options{Ephemeral: ephemeral})
			defer s.Close()
			wait(t, s, putQueue(1, "q"))
			wait(t, s, insertOp(10, 1, []byte("first")))
			reads := make(chan *emulator.BodyRead, 200)
			for i := range int64(200) {
				for j := range int64(20) {
					begin(s, insertOp(1000+20*i+j, 0, make([]byte, 5000)))
				}
				begin(s, insertOp(20+i, 2+i, []byte("x")))
				r := &emulator.BodyRead{IDs: []int64{10, 20 + i, 999}}
				r.Done = emulator.CompletionFunc(func(err error) {
					if err != nil {
						t.Error(err)
					}
					reads <- r
				})
				s.ReadBodies(r)
			}
			for range 200 {
				if r := <-reads; string(r.Bodies[0]) != "first" || r.Bodies[2] != nil {
					t.Errorf("bodies are %q", r.Bodies)
				}
			}
		})
	}
}

// TestWorksInABubble: a store's goroutines block durably in synctest's sense, so that time moves on, and
// none is left after Close.
func TestWorksInABubble(t *testing.T) {
	for _, ephemeral := range []bool{false, true} {
		t.Run(fmt.Sprint("ephemeral=", ephemeral), func(t *testing.T) {
			path := t.TempDir() + "/a.db"
			synctest.Test(t, func(t *testing.T) {
				s := mustOpen(t, path, Options{Ephemeral: ephemeral})
				start := time.Now()
				wait(t, s, putQueue(1, "q"))
				time.Sleep(time.Hour)
				synctest.Wait()
				wait(t, s, insertOp(10, 1, []byte("x")))
				if got := time.Since(start); got != time.Hour {
					t.Errorf("%s went by, want an hour", got)
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
