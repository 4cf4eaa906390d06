package store

import (
	"testing"
	"time"
)

// TestLogIsRestartedBeforeItsCeiling: the checkpointer copies until so little is left that the writer does not wait
// for it.
func TestLogIsRestartedBeforeItsCeiling(t *testing.T) {
	s := newStore(t)
	onWriter(s, func() { s.writer.wal.checkpoint, s.writer.wal.longest = 64, 1<<20 })
	for i := range int64(40) {
		wait(t, s, insertOp(10+i, 1+i, make([]byte, 64<<10)))
	}
	onWriter(s, func() {
		l, k := &s.writer.wal, s.checkpointer
		if l.canRestart() || l.pages < 128 {
			t.Errorf("can restart %v with %d pages, before the writer wants it", l.canRestart(), l.pages)
		}
		k.restartPending.Store(true)
		k.copy()
		if !l.canRestart() {
			t.Error("the log can't be restarted after all of it is in the file")
		}
		k.running.Lock()
		if l.canRestart() {
			t.Error("the writer would wait for a checkpoint that runs")
		}
		k.running.Unlock()
	})
	wait(t, s, insertOp(500, 500, []byte("x")))
	onWriter(s, func() {
		if l := &s.writer.wal; l.canRestart() || l.pages != 0 {
			t.Errorf("can restart %v with %d pages: it was not restarted", l.canRestart(), l.pages)
		}
	})
}

// TestLogIsRestartedOnASlowDisk: where each checkpoint takes long, another one makes nothing better.
func TestLogIsRestartedOnASlowDisk(t *testing.T) {
	s := newStore(t)
	onWriter(s, func() { s.checkpointer.quick = 0 })
	wait(t, s, insertOp(10, 1, make([]byte, 64<<10)))
	onWriter(s, func() {
		s.checkpointer.restartPending.Store(true)
		s.checkpointer.poke()
	})
	for range 2000 {
		if !s.checkpointer.restartPending.Load() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error("the checkpointer goes on and on")
}

// TestLogRestartIsPreparedFromHalfOfItsCeiling.
func TestLogRestartIsPreparedFromHalfOfItsCeiling(t *testing.T) {
	s := newStore(t)
	onWriter(s, func() {
		l := &s.writer.wal
		l.checkpoint, l.longest, l.pages = 1, 1000, 400
		l.w.s.checkpointer.running.Lock() // nothing is copied meanwhile
		for _, want := range []bool{false, true} {
			l.fresh = 50
			if l.checkpointIfDue(); l.w.s.checkpointer.restartPending.Load() != want {
				t.Errorf("with %d pages of %d pending is %v", l.pages, l.longest, !want)
			}
			l.pages = max(l.pages, 480)
		}
		l.w.s.checkpointer.running.Unlock()
	})
}

// TestHousekeepingDoesNotFillALogThatIsToBeRestarted: nothing that can wait is added to it.
func TestHousekeepingDoesNotFillALogThatIsToBeRestarted(t *testing.T) {
	s := newStore(t)
	onWriter(s, func() {
		w, k := s.writer, s.checkpointer
		k.running.Lock() // nothing is copied meanwhile
		defer k.running.Unlock()
		w.vacuum.uncut = vacuumCut - vacuumStep - 1
		for _, want := range []bool{false, true} { // the cut of the file would be long
			if w.vacuum.step(); w.wal.restartPending() != want {
				t.Fatalf("pending is %v after %d pages that the file gave back", !want, w.vacuum.uncut)
			}
		}
		w.vacuum.look = true
		if w.idleWork() || !w.vacuum.look {
			t.Error("housekeeping goes on while the log is to be restarted")
		}
		k.restartPending.Store(false)
		if !w.idleWork() || w.vacuum.look {
			t.Error("housekeeping does not go on afterwards")
		}
	})
}

// TestLogRestartIsGivenUpWhileAnOldStateIsRead: the checkpointer gives up, and housekeeping does not wait for another
// program's reader.
func TestLogRestartIsGivenUpWhileAnOldStateIsRead(t *testing.T) {
	s := newStore(t)
	other, err := openConn(s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.close()
	if err := other.exec("BEGIN; SELECT count(*) FROM message"); err != nil {
		t.Fatal(err)
	}
	for i := range int64(40) {
		wait(t, s, insertOp(10+i, 1+i, make([]byte, 64<<10)))
	}
	onWriter(s, func() {
		s.checkpointer.restartPending.Store(true)
		s.checkpointer.copy()
		if s.writer.wal.restartPending() || s.writer.wal.canRestart() {
			t.Errorf("pending %v, can restart %v", s.writer.wal.restartPending(), s.writer.wal.canRestart())
		}
	})
}
