package storetest

import (
	"errors"
	"testing"
	"time"

	"minibus/emulator"
)

func testNextRow(t *testing.T, h *harness) {
	q := h.queue("q")
	op := h.message(q, 1, "x")
	h.must(op)
	h.must(emulator.Op{Kind: emulator.OpDelete, Record: op.Record, DropBody: true})
	h.nextRowIsAfter(op.Record.Body)
	id := h.next + 1000
	h.must(putQueue(id, "last"))
	h.must(dropQueue(id))
	h.nextRowIsAfter(id)
}

// nextRowIsAfter checks NextRow after a restart. A journal that stays the same one answers as at its opening.
func (h *harness) nextRowIsAfter(used int64) {
	h.t.Helper()
	before := h.Journal
	h.restart()
	if got := h.NextRow(); h.Journal != before && got <= used {
		h.t.Errorf("next row is %d, although %d was used", got, used)
	}
}

func testSecret(t *testing.T, h *harness) {
	before := h.Secret()
	if before == [16]byte{} {
		t.Error("the secret is empty")
	}
	h.restart()
	if h.Secret() != before {
		t.Error("the secret changed with a restart")
	}
}

func testCreated(t *testing.T, h *harness) {
	before := h.Created()
	if age := time.Since(time.UnixMilli(before)); age < -time.Second || age > time.Minute {
		t.Errorf("the database was made %s ago", age)
	}
	h.restart()
	if h.Created() != before {
		t.Error("the time of creation changed with a restart")
	}
}

func testPutEntity(t *testing.T, h *harness) {
	q := h.queue("q")
	h.must(h.message(q, 5, "x"))
	now := emulator.EntityRecord{ID: q, Kind: emulator.KindQueue, Path: "Q", Options: []byte(`{"a":1}`)}
	h.must(emulator.Op{Kind: emulator.OpPutEntity, Entity: now})
	c := h.restart()
	if got := c.entities[q]; got.Path != "Q" || string(got.Options) != `{"a":1}` || c.last(q, 0) != 5 {
		t.Errorf("entity is %+v", got)
	}
	if len(c.rows) != 1 || len(c.entities) != 1 {
		t.Errorf("%d messages in %d entities, want one in one", len(c.rows), len(c.entities))
	}
}

func testDeleteEntity(t *testing.T, h *harness) {
	old, other := h.queue("q"), h.queue("other")
	gone, stays := h.message(old, 1, "gone"), h.message(other, 1, "stays")
	h.must(gone)
	h.must(stays)
	h.must(dropQueue(old))
	again := h.queue("q")
	fresh := h.message(again, 1, "fresh")
	h.must(fresh)
	c := h.restart()
	if len(c.entities) != 2 || c.last(again, 0) != 1 {
		t.Errorf("entities are %+v", c.entities)
	}
	if _, ok := c.rows[gone.Record.Row]; ok || len(c.rows) != 2 {
		t.Errorf("messages are %+v", c.rows)
	}
	got := h.bodies(stays.Record.Body, fresh.Record.Body)
	if string(got[0]) != "stays" || string(got[1]) != "fresh" {
		t.Errorf("bodies are %q", got)
	}
}

func testDeleteShared(t *testing.T, h *harness) {
	a, b := h.queue("a"), h.queue("b")
	first := h.message(a, 1, "shared")
	copied := h.message(b, 1, "")
	copied.Data, copied.Record.Body = nil, first.Record.Body
	h.must(first, copied)
	h.must(dropQueue(a))
	h.restart()
	if got := h.bodies(first.Record.Body)[0]; string(got) != "shared" {
		t.Errorf("the body of the copy in the other entity is %q", got)
	}
}

// testDeleteEverything deletes one of two entities that have rows of each kind.
func testDeleteEverything(t *testing.T, h *harness) {
	old, other := h.queue("old"), h.queue("other")
	for _, q := range []int64{old, other} {
		h.must(h.message(q, 1, "x"), duplicateOp(q, 1, 100), sessionState(q, "s", []byte("state"), 1))
	}
	h.must(duplicateOp(old, 2, 101), dropQueue(old))
	c := h.restart()
	if len(c.entities) != 1 || len(c.rows) != 1 || len(c.sessions) != 1 || len(c.duplicates) != 1 ||
		c.last(other, 0) != 1 {
		t.Errorf("left is %+v, want one of each kind", c)
	}
}

func testNotFound(t *testing.T, h *harness) {
	q := h.queue("q")
	op := h.message(q, 1, "x")
	h.must(op)
	h.must(dropQueue(q))
	for name, ops := range map[string][]emulator.Op{
		"insert into a deleted entity":  {h.message(q, 2, "x")},
		"insert into an unknown entity": {h.message(h.id(), 1, "x")},
		"counter of a deleted entity":   {counterOp(q, 0, 9)},
		"deletion of a deleted entity":  {dropQueue(q)},
		"update in a deleted entity":    {{Kind: emulator.OpUpdate, Record: op.Record}},
		"session of a deleted entity":   {sessionState(q, "s", []byte("x"), 1)},
		"a key of a deleted entity":     {duplicateOp(q, 1, 1)},
	} {
		var de *emulator.Error
		if err := h.try(ops...); !errors.As(err, &de) || de.Code != emulator.CodeNotFound {
			t.Errorf("%s: error is %v, want not found", name, err)
		}
	}
	h.must(pruneDuplicates(q, 5)) // nothing to be done
	if c := h.restart(); len(c.rows)+len(c.entities)+len(c.sessions)+len(c.duplicates) != 0 {
		t.Errorf("left is %+v", c)
	}
}
