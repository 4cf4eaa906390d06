package store

import (
	"reflect"
	"testing"

	"minibus/emulator"
)

// TestCopiesThatShareARowAreAsOthers: copies in one row, and copies in a row for each, have the same fields: as they are stored, when they change, move to
// another entity or are deleted, and after a restart by kill -9.
func TestCopiesThatShareARowAreAsOthers(t *testing.T) {
	const n, apart = 6, 1000
	for _, session := range []string{"none", "", "s1"} {
		s := newStore(t)
		wait(t, s, putQueue(2, "two"), putQueue(3, "three"))
		shared := insertOp(10, 1, []byte("shared"))
		r := &shared.Record
		r.MessageID, r.Enqueued, r.TTL, r.EnqueuedSeq, r.Hops = "id", 1234, 5000, 77, 3
		r.HasSession, r.SessionID = session != "none", session
		if !r.HasSession {
			r.SessionID = ""
		}
		for i := range int64(n) {
			shared.Copies = append(shared.Copies, emulator.CopyRecord{Entity: 1 + i%2, Seq: 1<<48*(i%3) - i})
		}
		alone := shared
		alone.Record.Row, alone.Record.Body = 10+apart, 10+apart
		wait(t, s, shared)
		if err := alone.Each(func(op *emulator.Op) error { wait(t, s, *op); return nil }); err != nil {
			t.Fatal(err)
		}
		if p, m := count(t, s, "publication"), count(t, s, "message"); p != 1 || m != n {
			t.Fatalf("stored are %d publications and %d messages", p, m)
		}
		both := func(kind emulator.OpKind, i int64, change func(*emulator.MessageRecord)) {
			for _, op := range []emulator.Op{shared, alone} {
				one := emulator.Op{Kind: kind, Record: op.Record}
				one.Record.Row += i
				one.Record.Entity, one.Record.Seq = op.Copies[i].Entity, op.Copies[i].Seq
				change(&one.Record)
				wait(t, s, one)
			}
		}
		compareCopies(t, s, n, apart)
		both(emulator.OpUpdate, 0, func(r *emulator.MessageRecord) { r.State, r.DeliveryCount = emulator.Deferred, 2 })
		both(emulator.OpUpdate, 1, func(r *emulator.MessageRecord) {
			r.Entity, r.Seq, r.Sub, r.Reason, r.Source, r.Overlay = 3, 9, emulator.DeadLetter, "r", "from", []byte{1}
		})
		both(emulator.OpUpdate, 0, func(r *emulator.MessageRecord) { r.DeliveryCount = 3 })
		both(emulator.OpDelete, 1, func(*emulator.MessageRecord) {})
		both(emulator.OpDelete, 2, func(*emulator.MessageRecord) {})
		compareCopies(t, s, n-2, apart)
		s = mustOpen(t, killed(t, s), Options{})
		compareCopies(t, s, n-2, apart)
		both(emulator.OpUpdate, 5, func(r *emulator.MessageRecord) { r.TTL, r.System = 1, []byte{2} })
		compareCopies(t, s, n-2, apart)
		for i := range int64(n) {
			both(emulator.OpDelete, i, func(*emulator.MessageRecord) {})
		}
		if p, m := count(t, s, "publication"), count(t, s, "message"); p != 0 || m != 0 {
			t.Errorf("left are %d publications and %d messages", p, m)
		}
		s.Close()
	}
}

// compareCopies wants n messages, and as many whose rows are greater by apart and that are the same otherwise.
func compareCopies(t *testing.T, s *Store, n int, apart int64) {
	t.Helper()
	all := stored(t, s)
	if len(all) != 2*n || count(t, s, "message_or_copy") != int64(2*n) {
		t.Errorf("stored are %d messages, %d for people, want %d", len(all), count(t, s, "message_or_copy"), 2*n)
	}
	for row, r := range all {
		if row >= apart {
			continue
		}
		r.Row, r.Body = r.Row+apart, r.Body+apart
		if other := all[row+apart]; !reflect.DeepEqual(r, other) {
			t.Errorf("row %d has\n%+v, a row of its own\n%+v", row, r, other)
		}
	}
	if d := count(t, s, `(SELECT entity, sub, seq, state, delivery_count, enqueued, ttl, scheduled, size, enqueued_seq, hops, session, message_id, reason, source
		FROM message_or_copy WHERE row<1000 EXCEPT SELECT entity, sub, seq, state, delivery_count, enqueued, ttl, scheduled, size, enqueued_seq, hops, session,
		message_id, reason, source FROM message_or_copy WHERE row>=1000)`); d != 0 {
		t.Errorf("people see %d differences", d)
	}
}
