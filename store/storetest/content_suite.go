package storetest

import (
	"bytes"
	"reflect"
	"testing"

	"minibus/emulator"
)

func testAllFields(t *testing.T, h *harness) {
	q := h.queue("Orders/New")
	want := emulator.MessageRecord{
		Row: h.id(), Entity: q, Seq: 1 << 50, Body: h.id(), Enqueued: 1_700_000_000_123, TTL: 1 << 40,
		Scheduled: 1_800_000_000_000, Size: 5, DeliveryCount: 1<<32 - 1, Sub: emulator.TransferDeadLetter,
		State: emulator.Scheduled, HasSession: true, SessionID: "s-1", MessageID: "id",
		Overlay: []byte{0xc1, 0, 1}, System: []byte{0xd1, 2}, Reason: "because", EnqueuedSeq: 77,
		Hops: 255, Source: "Orders/Old",
	}
	h.must(emulator.Op{Kind: emulator.OpInsert, DrawsNumber: true, Record: want, Data: []byte("hello")})
	c := h.restart()
	if got := c.rows[want.Row]; !reflect.DeepEqual(got, want) {
		t.Errorf("message is\n%+v, want\n%+v", got, want)
	}
	wantEntity := emulator.EntityRecord{
		ID: q, Kind: emulator.KindQueue, Path: "Orders/New", Options: []byte(`{"maxDeliveryCount":3}`),
		Last: []emulator.CounterRecord{{Seq: want.Seq}},
	}
	if got := c.entities[q]; !reflect.DeepEqual(got, wantEntity) {
		t.Errorf("entity is %+v, want %+v", got, wantEntity)
	}
	if got := h.bodies(want.Body)[0]; string(got) != "hello" {
		t.Errorf("body is %q", got)
	}
}

func testOddTexts(t *testing.T, h *harness) {
	q := h.queue("q")
	for i, text := range []string{"", "a\x00b", "\xff\xfe not UTF-8", "Grüße", "'); DROP TABLE message;--"} {
		op := h.message(q, int64(i+1), "x")
		op.Record.HasSession, op.Record.SessionID = true, text
		op.Record.MessageID = text
		op.Record.Reason, op.Record.Source = text, text
		h.must(op, sessionState(q, text, []byte(text), 1))
		c := h.restart()
		if got := c.rows[op.Record.Row]; !reflect.DeepEqual(got, op.Record) {
			t.Errorf("%q came back as %+v", text, got)
		}
		if state, ok := c.sessions[sessionKey{q, text}]; !ok || string(state.state) != text {
			t.Errorf("the state of session %q came back as %q (%t)", text, state.state, ok)
		}
	}
	op := h.message(q, 9, "x")
	h.must(op)
	if got := h.restart().rows[op.Record.Row]; got.HasSession || got.SessionID != "" {
		t.Errorf("a message without session came back with session %q", got.SessionID)
	}
}

func testUpdate(t *testing.T, h *harness) {
	op := h.message(h.queue("q"), 1, "x")
	op.Record.Scheduled, op.Record.State = 5, emulator.Scheduled
	op.Record.MessageID = "id"
	h.must(op)
	want := op.Record
	want = emulator.MessageRecord{
		Row: want.Row, Entity: want.Entity, Body: want.Body, Size: want.Size, MessageID: want.MessageID,
		Sub: emulator.DeadLetter, Seq: 8, State: emulator.Deferred, Enqueued: 1_700_000_000_999, TTL: 60_000,
		DeliveryCount: 4, Overlay: []byte{0xc1}, Reason: "tired",
		EnqueuedSeq: 1, Hops: 3, Source: "other", System: []byte{0xd1, 0},
	}
	change := want
	change.Body, change.Size = 999, 999
	change.MessageID, change.HasSession = "other", true
	h.must(emulator.Op{Kind: emulator.OpUpdate, Record: change, DrawsNumber: true})
	c := h.restart()
	if got := c.rows[want.Row]; !reflect.DeepEqual(got, want) {
		t.Errorf("message is\n%+v, want\n%+v", got, want)
	}
	if got := c.last(want.Entity, 0); got != 8 {
		t.Errorf("last number is %d, want the one that the update drew", got)
	}
	change.Row = h.id()
	if err := h.try(emulator.Op{Kind: emulator.OpUpdate, Record: change}); err == nil {
		t.Error("an update of a row that does not exist succeeded")
	}
}

func testDelete(t *testing.T, h *harness) {
	q := h.queue("q")
	first := h.message(q, 1, "shared")
	copied := h.message(q, 2, "")
	copied.Data, copied.Record.Body = nil, first.Record.Body
	h.must(first, copied)
	h.must(emulator.Op{Kind: emulator.OpDelete, Record: first.Record})
	if got := h.bodies(first.Record.Body)[0]; string(got) != "shared" {
		t.Fatalf("the body of the copy is %q", got)
	}
	many := []emulator.Op{{Kind: emulator.OpDelete, Record: copied.Record, DropBody: true}}
	for range 10 {
		many = append(many, emulator.Op{Kind: emulator.OpDelete}) // a journal may delay a single removal
	}
	h.must(many...)
	if got := h.bodies(first.Record.Body)[0]; got != nil {
		t.Errorf("the body was to go, and is %q", got)
	}
	if err := h.try(emulator.Op{Kind: emulator.OpDelete, Record: copied.Record, DropBody: true}); err != nil {
		t.Errorf("deleting what is gone: %v", err)
	}
	last := h.message(q, 3, "alone")
	h.must(last)
	h.must(emulator.Op{Kind: emulator.OpDelete, Record: last.Record})
	h.must(emulator.Op{Kind: emulator.OpDelete, Record: emulator.MessageRecord{Body: last.Record.Body}, DropBody: true})
	if got := h.bodies(last.Record.Body)[0]; got != nil {
		t.Errorf("the body that was dropped alone is %q", got)
	}
	if c := h.restart(); len(c.rows) != 0 {
		t.Errorf("%d messages are left", len(c.rows))
	}
}

func testBodies(t *testing.T, h *harness) {
	q := h.queue("q")
	var ids []int64
	var want [][]byte
	for i, size := range []int{0, 1, 1024, 100_000, 1 << 20, 1<<20 + 1, 5<<20 + 17} {
		op := h.message(q, int64(i+1), "")
		op.Data = bytes.Repeat([]byte{byte(i + 1)}, size)
		h.begin(op)
		ids, want = append(ids, op.Record.Body), append(want, op.Data)
	}
	h.flush()
	ids, want = append(ids, h.id(), ids[2]), append(want, nil, want[2])
	h.restart()
	for i, got := range h.bodies(ids...) {
		if !bytes.Equal(got, want[i]) || (got == nil) != (want[i] == nil) {
			t.Errorf("body %d has %d bytes (nil: %t), want %d", i, len(got), got == nil, len(want[i]))
		}
	}
}
