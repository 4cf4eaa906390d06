package store

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"minibus/emulator"
)

// rememberOp remembers a key made of n in the queue 1.
func rememberOp(n, at int64) emulator.Op {
	var key [keySize]byte
	binary.BigEndian.PutUint64(key[:], uint64(n))
	return emulator.Op{Kind: emulator.OpDuplicate, Data: key[:], Record: emulator.MessageRecord{Entity: 1, Enqueued: at}}
}

func forgetOp(before int64) emulator.Op {
	return emulator.Op{Kind: emulator.OpPruneDuplicates, Record: emulator.MessageRecord{Entity: 1, Enqueued: before}}
}

// rememberMany remembers n keys, each in a row of its own.
func rememberMany(s *Store, n int64) {
	for i := range n {
		begin(s, rememberOp(i, 1000+i))
	}
	drain(s)
}

// TestDUP16_KeysOfAMillisecondShareARow until the row is full; entities do not share rows.
func TestDUP16_KeysOfAMillisecondShareARow(t *testing.T) {
	s := newStore(t)
	wait(t, s, putQueue(2, "two"))
	hold(s, func() {
		for i := range int64(2*keysPerGroup + 1) {
			begin(s, rememberOp(i, 1000))
			other := rememberOp(i, 1000+i%2)
			other.Record.Entity = 2
			begin(s, other)
		}
	})
	for table, want := range map[string]int64{"history WHERE entity=1": 3, "history WHERE entity=2": 129} {
		if got := count(t, s, table); got != want {
			t.Errorf("%s: %d rows, want %d", table, got, want)
		}
	}
	keys := int64(0)
	onWriter(s, func() { keys, _ = s.writer.conn.queryInt("SELECT sum(length(keys)/16) FROM history") })
	if want := int64(2 * (2*keysPerGroup + 1)); keys != want {
		t.Errorf("%d keys are stored, want %d", keys, want)
	}
}

// TestDUP16_ForgettingIsDoneInSteps: the change that forgets removes nothing itself; each step is bounded, and ends.
func TestDUP16_ForgettingIsDoneInSteps(t *testing.T) {
	s := newStore(t)
	const many = 3*pruneRows + 7
	rememberMany(s, many)
	steps := 0
	onWriter(s, func() {
		c := &emulator.Change{Ops: []emulator.Op{forgetOp(1000 + many - 2)}}
		if err := s.writer.store([]item{{change: c}}); err != nil {
			t.Error(err)
		}
		before := int64(many)
		s.writer.vacuum.look = false
		for len(s.writer.duplicates.prunes) > 0 {
			if s.writer.vacuum.look {
				t.Error("the file is looked at before the last step")
			}
			s.writer.duplicates.pruneSome()
			after, _ := s.writer.conn.queryInt("SELECT count(*) FROM history")
			if before-after > pruneRows {
				t.Errorf("a step removed %d rows", before-after)
			}
			before = after
			steps++
		}
		if !s.writer.vacuum.look {
			t.Error("nobody looks whether the file can give back what was removed")
		}
	})
	if steps != 4 {
		t.Errorf("it took %d steps, want 4", steps)
	}
	if got := count(t, s, "history"); got != 2 {
		t.Errorf("%d rows are left, want 2", got)
	}
}

// TestDUP16_ForgettingInOneMillisecondEnds: rows that no instant tells apart go in one step.
func TestDUP16_ForgettingInOneMillisecondEnds(t *testing.T) {
	s := newStore(t)
	for i := range int64(2*pruneRows + 1) {
		wait(t, s, rememberOp(i, 1000))
	}
	wait(t, s, forgetOp(1001))
	onWriter(s, func() {
		for n := 0; len(s.writer.duplicates.prunes) > 0; n++ {
			if n > 10 {
				t.Error("it does not end")
				return
			}
			s.writer.duplicates.pruneSome()
		}
	})
	if got := count(t, s, "history"); got != 0 {
		t.Errorf("%d rows are left", got)
	}
}

// TestDUP16_ForgettingSurvivesAKill: forgotten keys stay forgotten while their rows are still there, and the next
// start removes the rows.
func TestDUP16_ForgettingSurvivesAKill(t *testing.T) {
	s := newStore(t)
	rememberMany(s, 50)
	onWriter(s, func() {
		if err := s.writer.conn.exec("UPDATE entity SET history_from=1040 WHERE id=1"); err != nil {
			t.Error(err)
		}
	})
	path := s.Path()
	_ = s.Close()
	s = mustOpen(t, path, Options{})
	defer s.Close()
	var c countLoader
	if err := s.Load(&c); err != nil || c.keys != 10 {
		t.Errorf("%d keys are loaded (%v), want 10", c.keys, err)
	}
	wait(t, s, rememberOp(100, 2000))
	onWriter(s, func() {
		housekeep(s)
	})
	if got := count(t, s, "history"); got != 11 {
		t.Errorf("%d rows are left, want 11", got)
	}
}

// TestFailedForgettingIsTakenUpAgain by the next one.
func TestFailedForgettingIsTakenUpAgain(t *testing.T) {
	s := newStore(t)
	rememberMany(s, 50)
	onWriter(s, func() {
		_ = s.writer.conn.exec("CREATE TEMP TRIGGER no BEFORE DELETE ON history BEGIN SELECT raise(ABORT, 'no'); END")
	})
	wait(t, s, forgetOp(1010))
	onWriter(s, func() {
		housekeep(s)
		_ = s.writer.conn.exec("DROP TRIGGER no")
	})
	if got := count(t, s, "history"); got != 50 {
		t.Fatalf("%d rows are left, want all", got)
	}
	wait(t, s, forgetOp(1020))
	onWriter(s, func() {
		housekeep(s)
	})
	if got := count(t, s, "history"); got != 30 {
		t.Errorf("%d rows are left, want 30", got)
	}
}

// TestPruneWalksNoMoreThanItRemoves: SQLite uses both ends of the range, not only the entity.
func TestPruneWalksNoMoreThanItRemoves(t *testing.T) {
	s := newStore(t)
	onWriter(s, func() {
		st, err := s.writer.conn.prepare("EXPLAIN QUERY PLAN " + pruneSQL)
		if err != nil {
			t.Error(err)
			return
		}
		defer st.finalize()
		var plan []string
		for {
			row, err := st.step()
			if err != nil || !row {
				break
			}
			plan = append(plan, string(st.columnView(3)))
		}
		if got := strings.Join(plan, "; "); strings.Count(got, "(entity=? AND at<?)") != 2 {
			t.Errorf("the plan is %s", got)
		}
	})
}

// TestHistoryKeyOfAnotherSizeIsRefused: only its own change fails.
func TestHistoryKeyOfAnotherSizeIsRefused(t *testing.T) {
	s := newStore(t)
	op := rememberOp(1, 1000)
	op.Data = op.Data[:7]
	if err := <-begin(s, op); err == nil || !strings.Contains(err.Error(), fmt.Sprint(len(op.Data))) {
		t.Errorf("error is %v", err)
	}
	wait(t, s, rememberOp(1, 1000))
}
