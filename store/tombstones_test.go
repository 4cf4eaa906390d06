package store

import (
	"testing"

	"minibus/emulator"
)

const marked = "message WHERE state=8"

// TestLoneRemovalIsMarkedAndRemovedLater: removing a single message costs one page of the log. The message does not come
// back, and the writer removes its row and body with others, at the latest in Close.
func TestLoneRemovalIsMarkedAndRemovedLater(t *testing.T) {
	s := newStore(t)
	for i := range int64(2 * tombstonesTogether) {
		wait(t, s, insertOp(10+i, 1+i, make([]byte, 4000)))
	}
	before := s.writer.disk.logSize()
	for i := range int64(tombstonesTogether - 1) {
		wait(t, s, removeOp(10+i))
	}
	if got, want := s.writer.disk.logSize()-before, int64(tombstonesTogether*(pageSize+24)); got > want {
		t.Errorf("the log grew by %d bytes, want one page for each removal: %d", got, want)
	}
	if got := stored(t, s); len(got) != tombstonesTogether+1 {
		t.Errorf("%d messages are loaded, want %d", len(got), tombstonesTogether+1)
	}
	if m, b := count(t, s, marked), count(t, s, "body"); m != tombstonesTogether-1 || b != 2*tombstonesTogether {
		t.Errorf("%d messages are marked, %d bodies there", m, b)
	}
	wait(t, s, removeOp(10+tombstonesTogether-1))
	drain(s)
	if m, b := count(t, s, "message"), count(t, s, "body"); m != tombstonesTogether || b != tombstonesTogether {
		t.Errorf("left are %d messages and %d bodies, want %d", m, b, tombstonesTogether)
	}
	wait(t, s, removeOp(10+tombstonesTogether))
	path := s.Path()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, path, Options{})
	defer s.Close()
	if m, b := count(t, s, "message"), count(t, s, "body"); m != tombstonesTogether-1 || b != tombstonesTogether-1 {
		t.Errorf("left after Close are %d messages and %d bodies, want %d", m, b, tombstonesTogether-1)
	}
}

// TestMarkedMessagesStayGone: after kill -9, marked messages stay gone, also in the view messages, and Close removes them.
func TestMarkedMessagesStayGone(t *testing.T) {
	s := newStore(t)
	for i := range int64(10) {
		wait(t, s, insertOp(10+i, 1+i, []byte("x")))
	}
	wait(t, s, removeOp(10))
	wait(t, s, removeOp(11))
	again := mustOpen(t, killed(t, s), Options{})
	if got := stored(t, again); len(got) != 8 {
		t.Errorf("%d messages are loaded after a kill, want 8", len(got))
	}
	if view, all := count(t, again, "messages"), count(t, again, marked); view != 8 || all != 2 {
		t.Errorf("people see %d messages, %d are marked", view, all)
	}
	path := again.Path()
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	again = mustOpen(t, path, Options{})
	defer again.Close()
	if m, b := count(t, again, "message"), count(t, again, "body"); m != 8 || b != 8 {
		t.Errorf("left are %d messages and %d bodies", m, b)
	}
}

// TestMarkedBodyIsStoredAgain: a message that was removed but did not reach its receiver is stored again with its old body. If
// that fails, the mark stays.
func TestMarkedBodyIsStoredAgain(t *testing.T) {
	s := newStore(t)
	wait(t, s, insertOp(10, 1, []byte("first")))
	wait(t, s, removeOp(10))
	back := insertOp(20, 1, []byte("again"))
	back.Record.Body, back.DrawsNumber = 10, false
	if err := <-begin(s, back, emulator.Op{Kind: 77}); err == nil {
		t.Fatal("a change with an unknown operation succeeded")
	}
	drain(s)
	if m, b := count(t, s, marked), count(t, s, "body"); m != 1 || b != 1 {
		t.Fatalf("%d messages are marked, %d bodies there", m, b)
	}
	wait(t, s, back)
	for i := range int64(tombstonesTogether) { // enough for the marked messages to be removed
		wait(t, s, insertOp(100+i, 2+i, []byte("x")))
		wait(t, s, removeOp(100+i))
	}
	r := &emulator.BodyRead{IDs: []int64{10}}
	res := make(chan error, 1)
	r.Done = emulator.CompletionFunc(func(err error) { res <- err })
	s.ReadBodies(r)
	if err := <-res; err != nil || string(r.Bodies[0]) != "again" {
		t.Errorf("the body is %q (%v)", r.Bodies[0], err)
	}
}

// TestTheLastCopyIsMarked: the last copy that shares a row with others is marked there; after kill -9 it stays gone, also in the views, and goes with
// the body.
func TestTheLastCopyIsMarked(t *testing.T) {
	s := newStore(t)
	op := insertOp(10, 1, []byte("x"))
	for i := range int64(5) {
		op.Copies = append(op.Copies, emulator.CopyRecord{Entity: 1, Seq: 1 + i})
	}
	wait(t, s, op)
	if m, p, v := count(t, s, "message"), count(t, s, "publication"), count(t, s, "messages WHERE entity='q' AND seq BETWEEN 1 AND 5"); m != 0 || p != 1 || v != 5 {
		t.Errorf("stored are %d messages and %d publications, people see %d", m, p, v)
	}
	for i := range int64(5) {
		r := emulator.MessageRecord{Row: 10 + i, Entity: 1, Body: 10}
		wait(t, s, emulator.Op{Kind: emulator.OpDelete, DropBody: i == 4, Record: r})
	}
	s = mustOpen(t, killed(t, s), Options{})
	if got, m, v := stored(t, s), count(t, s, "publication WHERE there=0"), count(t, s, "messages"); len(got) != 0 || m != 1 || v != 0 {
		t.Errorf("%d messages are loaded, %d publications marked, people see %d messages", len(got), m, v)
	}
	path := s.Path()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = mustOpen(t, path, Options{})
	defer s.Close()
	if p, b := count(t, s, "publication"), count(t, s, "body"); p != 0 || b != 0 {
		t.Errorf("left are %d publications and %d bodies", p, b)
	}
}
