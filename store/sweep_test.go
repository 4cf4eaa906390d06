package store

import (
	"errors"
	"fmt"
	"testing"

	"minibus/emulator"
)

func sessionOp(entity int64, id string, state []byte) emulator.Op {
	return emulator.Op{
		Kind: emulator.OpSessionState, Data: state, Record: emulator.MessageRecord{Entity: entity, SessionID: id},
	}
}

// TestDEL3_DUP16_SweepRemovesStatesInSteps: the sweep removes counters, session states and history of deleted entities in
// steps, and keeps those of others.
func TestDEL3_DUP16_SweepRemovesStatesInSteps(t *testing.T) {
	s := newStore(t)
	wait(t, s, putQueue(2, "two"))
	const states, rows = 2*sweepStates + 5, 2*pruneRows + 5
	for i := range int64(states) {
		begin(s, sessionOp(2, fmt.Sprint(i), []byte("state")))
	}
	for i := range int64(rows) {
		op := rememberOp(i, 1000+i)
		op.Record.Entity = 2
		begin(s, op)
	}
	wait(t, s, insertOp(5, 1, []byte("x")), sessionOp(1, "stays", []byte("state")), rememberOp(1, 1000))
	wait(t, s, emulator.Op{Kind: emulator.OpCounter, Record: emulator.MessageRecord{Entity: 2, Seq: 9}})
	onWriter(s, func() {
		if err := s.writer.store([]item{{change: &emulator.Change{Ops: []emulator.Op{dropQueue(2)}}}}); err != nil {
			t.Error(err)
		}
		before := int64(states + rows)
		for s.writer.sweeper.now != nil {
			s.writer.sweeper.step()
			after, _ := s.writer.conn.queryInt("SELECT (SELECT count(*) FROM session)+(SELECT count(*) FROM history)-2")
			if before-after > max(sweepStates, pruneRows) {
				t.Errorf("a step removed %d rows", before-after)
			}
			before = after
		}
	})
	for _, table := range []string{"session", "history", "counter", "entity", "message"} {
		if got := count(t, s, table); got != 1 {
			t.Errorf("%d rows of %s are left, want the one of the other entity", got, table)
		}
	}
}

// TestDEL3_ManyEntitiesAtOnce: one sweep removes more entities than a step looks at.
func TestDEL3_ManyEntitiesAtOnce(t *testing.T) {
	s := newStore(t)
	const many = 2*sweepEntities + 10
	for id := int64(100); id < 100+many; id++ {
		begin(s, putQueue(id, fmt.Sprint("q", id)))
		begin(s, sessionOp(id, "s", []byte("state")))
	}
	drain(s)
	hold(s, func() {
		for id := int64(100); id < 100+many; id++ {
			begin(s, dropQueue(id))
		}
	})
	sweepNow(s)
	if e, st := count(t, s, "entity"), count(t, s, "session"); e != 1 || st != 0 {
		t.Errorf("left are %d entities and %d states, want 1 and none", e, st)
	}
}

// TestFWD_BodyOfAMovedMessageStays: the sweep of its old entity reads the row while the message moves.
func TestFWD_BodyOfAMovedMessageStays(t *testing.T) {
	s := newStore(t)
	wait(t, s, putQueue(2, "two"))
	insertMany(t, s, 2, 1000, 5)
	moved := insertOp(1002, 1, nil)
	moved.Kind = emulator.OpUpdate
	hold(s, func() {
		begin(s, moved)
		begin(s, dropQueue(2))
	})
	sweepNow(s)
	if got := stored(t, s); len(got) != 1 || got[1002].Entity != 1 {
		t.Errorf("stored are %+v, want the moved message", got)
	}
	if got := count(t, s, "body WHERE id=1002"); got != 1 || count(t, s, "body") != 1 {
		t.Errorf("%d bodies of the moved message are left", got)
	}
}

// TestRAD5_BodyThatComesBackStays: a message that is stored again under its old body id, while a sweep that knows all
// bodies is about to remove those without a message, keeps its body.
func TestRAD5_BodyThatComesBackStays(t *testing.T) {
	s := newStore(t)
	wait(t, s, putQueue(2, "two"))
	wait(t, s, insertOp(1000, 1, []byte("back")))
	remove := insertOp(1000, 1, nil)
	remove.Kind = emulator.OpDelete // leaves the body without a message, for the sweep to find
	insertMany(t, s, 2, 2000, 1)
	onWriter(s, func() {
		w := s.writer
		w.sweeper.failed = true // so that the next one is thorough
		store := func(op emulator.Op) {
			if err := w.store([]item{{change: &emulator.Change{Ops: []emulator.Op{op}}}}); err != nil {
				t.Error(err)
			}
		}
		store(remove)
		store(dropQueue(2))
		for len(w.sweeper.now.then) > 1 { // until the bodies are next
			w.sweeper.step()
		}
		gone := remove
		gone.DropBody = true
		store(gone)
		again := insertOp(3000, 2, []byte("back"))
		again.Record.Body = 1000
		store(again)
		for w.sweeper.now != nil {
			w.sweeper.step()
		}
	})
	if n := count(t, s, "body"); n != 1 {
		t.Errorf("%d bodies are left, want the one that came back", n)
	}
}

// TestBodiesWithoutMessagesAreRemovedAfterACrash: the last two copies of a message go at once, and the process is killed before the change that removes
// their body. After a stop in order nothing is looked for.
func TestBodiesWithoutMessagesAreRemovedAfterACrash(t *testing.T) {
	s := newStore(t)
	copies := func(row int64) emulator.Op {
		op := insertOp(row, row, []byte("shared"))
		for i := range int64(packedCopies) {
			op.Copies = append(op.Copies, emulator.CopyRecord{Entity: 1, Seq: row + i})
		}
		return op
	}
	wait(t, s, insertOp(10, 1, []byte("lost")), insertOp(20, 2, make([]byte, 2*maxInline)), insertOp(30, 3, []byte("alone")), copies(100), copies(200))
	var ops []emulator.Op
	for _, of := range []struct{ row, body int64 }{{10, 10}, {20, 20}, {101, 100}} {
		ops = append(ops, emulator.Op{Kind: emulator.OpDelete, Record: emulator.MessageRecord{Entity: 1, Row: of.row, Body: of.body}})
	}
	for i := range int64(packedCopies) {
		ops = append(ops, emulator.Op{Kind: emulator.OpDelete, Record: emulator.MessageRecord{Entity: 1, Row: 200 + i, Body: 200}})
	}
	wait(t, s, ops...)
	if n := count(t, s, "body"); n != 5 {
		t.Fatalf("%d bodies are stored, not 5", n)
	}
	path := copyFiles(t, s.Path())
	for _, crashed := range []bool{true, false} {
		again := mustOpen(t, path, Options{})
		before := stored(t, again)
		onWriter(again, func() {
			again.writer.tidy()
			if again.writer.sweeper.now != nil != crashed {
				t.Errorf("the namespace is swept: %t", !crashed)
			}
			again.beforeCommit = func() error { return errors.New("the disk is on fire") }
			again.writer.sweeper.step()
			again.beforeCommit = nil
			again.writer.sweeper.start() // as the next deletion does
		})
		sweepNow(again)
		onWriter(again, func() {
			if sw := again.writer.sweeper; sw.crashed || sw.thorough {
				t.Errorf("after the sweeps the next one is of a crash: %t, thorough: %t", sw.crashed, sw.thorough)
			}
		})
		if n, parts := count(t, again, "body"), count(t, again, "body_part"); n != 2 || parts != 0 {
			t.Errorf("%d bodies and %d parts are left, not those of messages", n, parts)
		}
		if left := stored(t, again); len(left) != 1+packedCopies-1 || len(left) != len(before) {
			t.Errorf("%d messages are left of %d", len(left), len(before))
		}
		must(t, again.Close())
	}
}

// TestASharedBodyStaysWhenSeveralOfItsMessagesGo: two of three subscriptions with a copy of a message are deleted at once.
func TestASharedBodyStaysWhenSeveralOfItsMessagesGo(t *testing.T) {
	s := newStore(t)
	wait(t, s, putQueue(2, "two"), putQueue(3, "three"))
	first := insertOp(10, 1, []byte("shared"))
	second, third := into(2, insertOp(11, 1, nil)), into(3, insertOp(12, 1, nil))
	second.Record.Body, third.Record.Body = 10, 10
	wait(t, s, first, second, third)
	wait(t, s, dropQueue(1), dropQueue(2))
	sweepNow(s)
	if n := count(t, s, "body WHERE id=10"); n != 1 || count(t, s, "message") != 1 {
		t.Errorf("%d bodies are left for the third message", n)
	}
}

// TestABodyOfACopyThatChangesStays: a copy leaves the row that it shares for one of its own between two steps of the sweep of another copy's subscription.
func TestABodyOfACopyThatChangesStays(t *testing.T) {
	for steps := range 12 {
		s := newStore(t)
		wait(t, s, putQueue(2, "two"))
		op := insertOp(10, 1, []byte("shared"))
		for i := range int64(packedCopies) {
			op.Copies = append(op.Copies, emulator.CopyRecord{Entity: 1 + i/(packedCopies-1), Seq: 1 + i})
		}
		wait(t, s, op)
		changed := insertOp(10+packedCopies-1, packedCopies, nil)
		changed.Kind, changed.Record.Entity, changed.Record.Body, changed.Record.DeliveryCount = emulator.OpUpdate, 2, 10, 1
		onWriter(s, func() {
			w := s.writer
			store := func(op emulator.Op) {
				if err := w.store([]item{{change: &emulator.Change{Ops: []emulator.Op{op}}}}); err != nil {
					t.Error(err)
				}
			}
			store(dropQueue(1))
			for i := 0; i < steps && w.sweeper.now != nil; i++ {
				w.sweeper.step()
			}
			store(changed)
			for w.sweeper.now != nil {
				w.sweeper.step()
			}
		})
		if got := stored(t, s); len(got) != 1 || got[changed.Record.Row].DeliveryCount != 1 || count(t, s, "body") != 1 || count(t, s, "publication") != 0 {
			t.Errorf("after %d steps: stored are %+v, %d bodies and %d publications", steps, got, count(t, s, "body"), count(t, s, "publication"))
		}
	}
}

// TestJMS9_ASweepLooksAtNoRowsOlderThanItsEntities: temporary queues come and go beside deep ones.
func TestJMS9_ASweepLooksAtNoRowsOlderThanItsEntities(t *testing.T) {
	s := newStore(t)
	const deep = 5 * sweepScan
	insertMany(t, s, 1, 1000, deep)
	wait(t, s, putQueue(1000+deep, "temporary"))
	insertMany(t, s, 1000+deep, 2000+deep, 3)
	onWriter(s, func() {
		if err := s.writer.store([]item{{change: &emulator.Change{Ops: []emulator.Op{dropQueue(1000 + deep)}}}}); err != nil {
			t.Error(err)
		}
		steps := 0
		for ; s.writer.sweeper.now != nil; steps++ {
			s.writer.sweeper.step()
		}
		if steps > 8 {
			t.Errorf("the sweep took %d steps: it looked at the rows of the deep queue", steps)
		}
	})
	if m, b := count(t, s, "message"), count(t, s, "body"); m != deep || b != deep {
		t.Errorf("%d messages and %d bodies are left, want %d", m, b, deep)
	}
}
