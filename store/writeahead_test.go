package store

import "testing"

// TestLogBeginsAnewBeforeItsCeiling: the checkpointer copies until so little is left that the writer does not wait for it.
func TestLogBeginsAnewBeforeItsCeiling(t *testing.T) {
	s := newStore(t)
	onWriter(s, func() { s.writer.log.checkpoint, s.writer.log.longest = 64, 1<<20 })
	for i := range int64(40) {
		wait(t, s, insertOp(10+i, 1+i, make([]byte, 64<<10)))
	}
	onWriter(s, func() {
		l, k := &s.writer.log, s.checkpointer
		if l.ripe() || l.pages < 128 {
			t.Errorf("ripe %v with %d pages, before the writer wants it", l.ripe(), l.pages)
		}
		k.ripening.Store(true)
		k.copy()
		if !l.ripe() {
			t.Error("the log can't begin anew after all of it is in the file")
		}
		k.running.Lock()
		if l.ripe() {
			t.Error("the writer would wait for a checkpoint that runs")
		}
		k.running.Unlock()
	})
	wait(t, s, insertOp(500, 500, []byte("x")))
	onWriter(s, func() {
		if l := &s.writer.log; l.ripe() || l.pages != 0 {
			t.Errorf("ripe %v with %d pages: it did not begin anew", l.ripe(), l.pages)
		}
	})
}

// TestLogRipensFromHalfOfItsCeiling.
func TestLogRipensFromHalfOfItsCeiling(t *testing.T) {
	s := newStore(t)
	onWriter(s, func() {
		l := &s.writer.log
		l.checkpoint, l.longest, l.pages = 1, 1000, 400
		l.w.s.checkpointer.running.Lock() // nothing is copied meanwhile
		for _, want := range []bool{false, true} {
			l.fresh = 50
			if l.checkpointIfDue(); l.w.s.checkpointer.ripening.Load() != want {
				t.Errorf("with %d pages of %d ripening is %v", l.pages, l.longest, !want)
			}
			l.pages = max(l.pages, 480)
		}
		l.w.s.checkpointer.running.Unlock()
	})
}
