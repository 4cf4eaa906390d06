package storetest

import (
	"reflect"
	"testing"

	"minibus/emulator"
)

// moveTo makes the update that forwards the message that op has inserted.
func moveTo(op emulator.Op, entity, seq int64) emulator.Op {
	r := op.Record
	r.EnqueuedSeq, r.Entity, r.Seq, r.Hops, r.Source = r.Seq, entity, seq, r.Hops+1, "from"
	return emulator.Op{Kind: emulator.OpUpdate, DrawsNumber: true, Record: r}
}

func testMove(t *testing.T, h *harness) {
	from, to := h.queue("from"), h.queue("to")
	op := h.message(from, 7, "x")
	h.must(op)
	moved := moveTo(op, to, 3)
	h.must(moved)
	c := h.restart()
	if got := c.rows[op.Record.Row]; !reflect.DeepEqual(got, moved.Record) {
		t.Errorf("message is\n%+v, want\n%+v", got, moved.Record)
	}
	if c.last(from, 0) != 7 || c.last(to, 0) != 3 {
		t.Errorf("counters are %d and %d, want 7 and 3", c.last(from, 0), c.last(to, 0))
	}
	h.must(dropQueue(from))
	if c := h.restart(); len(c.rows) != 1 || string(h.bodies(op.Record.Body)[0]) != "x" {
		t.Errorf("after the deletion of its first entity there are %+v", c.rows)
	}
}

// testMoveOutOfDeleted: messages of a deleted entity are gone, even if the journal has not yet removed their rows.
func testMoveOutOfDeleted(t *testing.T, h *harness) {
	from, to := h.queue("from"), h.queue("to")
	a, b := h.message(from, 1, "a"), h.message(from, 2, "b")
	h.must(a, b)
	dropped := h.begin(dropQueue(from))
	late := h.begin(moveTo(a, to, 1))
	if err := <-dropped; err != nil {
		t.Fatal(err)
	}
	if err := <-late; err == nil {
		t.Error("a message was moved out of an entity right after its deletion")
	}
	h.restart()
	if err := h.try(moveTo(b, to, 1)); err == nil {
		t.Error("a message was moved out of a deleted entity")
	}
	if c := h.restart(); len(c.rows) != 0 || c.last(to, 0) != -1 {
		t.Errorf("messages are %+v, counters %+v", c.rows, c.entities[to].Last)
	}
}

// testMoveThenDelete: the message is older than the entity that it is in at the end.
func testMoveThenDelete(t *testing.T, h *harness) {
	from := h.queue("from")
	op, stays := h.message(from, 1, "x"), h.message(from, 2, "stays")
	h.must(op, stays)
	to := h.queue("to")
	h.must(moveTo(op, to, 1))
	h.must(dropQueue(to))
	c := h.restart()
	if _, ok := c.rows[op.Record.Row]; ok || len(c.rows) != 1 {
		t.Errorf("messages are %+v, want only the one that was not moved", c.rows)
	}
}

// testAtomicEntities: a change with operations on several entities, and of every kind, is committed whole or not at
// all.
func testAtomicEntities(t *testing.T, h *harness) {
	a, b := h.queue("a"), h.queue("b")
	inA, inB := h.message(a, 1, "in a"), h.message(b, 1, "in b")
	h.must(inA, inB, sessionState(a, "s", []byte("before"), 1), duplicateOp(b, 1, 100))
	before := h.restart()
	fresh := h.message(b, 2, "fresh")
	work := []emulator.Op{
		fresh, moveTo(inA, b, 3), {Kind: emulator.OpDelete, DropBody: true, Record: inB.Record},
		sessionState(a, "s", nil, 2), sessionState(b, "s", []byte("new"), 2),
		pruneDuplicates(b, 101), duplicateOp(a, 2, 102),
		counterOp(a, 4, 44),
	}
	bad := h.message(a, 9, "bad")
	bad.Record.Row = inA.Record.Row // taken
	if err := h.try(append(work[:len(work):len(work)], bad)...); err == nil {
		t.Fatal("a change with a row that exists already succeeded")
	}
	if after := h.restart(); !reflect.DeepEqual(after, before) {
		t.Errorf("after the failed change there is\n%+v, want\n%+v", after, before)
	}
	h.must(work...)
	c := h.restart()
	if len(c.rows) != 2 || c.rows[inA.Record.Row].Entity != b || c.last(b, 0) != 3 || c.last(a, 4) != 44 {
		t.Errorf("messages are %+v in %+v", c.rows, c.entities)
	}
	_, old := c.duplicates[keyOf(b, 1)]
	if len(c.sessions) != 1 || string(c.sessions[sessionKey{b, "s"}].state) != "new" || len(c.duplicates) != 1 || old {
		t.Errorf("sessions are %+v, keys %+v", c.sessions, c.duplicates)
	}
}
