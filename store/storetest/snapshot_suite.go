package storetest

import (
	"context"
	"fmt"
	"testing"

	"minibus/emulator"
)

// save makes a snapshot and returns what done was told.
func (h *storeHarness) save(namespace, number, instead int64) (emulator.SnapshotRecord, error) {
	h.t.Helper()
	name := fmt.Sprint("s", number)
	r := &emulator.SnapshotRecord{Number: number, Namespace: namespace, Name: name, Saved: 5, Frozen: true}
	done := make(chan error, 1)
	begun := func(told emulator.Completion) {
		h.SaveSnapshot(context.Background(), r, instead, emulator.CompletionFunc(func(err error) {
			r.Now = 7
			told.Completed(err)
		}), emulator.CompletionFunc(func(err error) { done <- err }))
	}
	if err := await(begun); err != nil {
		return *r, err
	}
	return *r, <-done
}

func (h *storeHarness) mustSave(namespace, number, instead int64) emulator.SnapshotRecord {
	h.t.Helper()
	r, err := h.save(namespace, number, instead)
	if err != nil {
		h.t.Fatalf("save %d: %v", number, err)
	}
	return r
}

// restore makes a copy of a snapshot what a namespace has.
func (h *storeHarness) restore(r emulator.NamespaceRecord, from, to int64) {
	h.t.Helper()
	err := await(func(c emulator.Completion) { h.CopySnapshot(context.Background(), from, to, c) })
	if err == nil {
		err = await(func(c emulator.Completion) { h.AdoptCopy(r, to, c) })
	}
	if err != nil {
		h.t.Fatalf("restore %d: %v", from, err)
	}
}

// moved returns what an id is under another number.
func moved(id, number int64) int64 {
	first, _ := emulator.RowsOf(emulator.NamespaceOf(id))
	to, _ := emulator.RowsOf(number)
	return id - first + to
}

func (h *storeHarness) loadCopy(number int64) *content {
	h.t.Helper()
	c := newContent(h.t)
	if err := h.LoadCopy(number, c); err != nil {
		h.t.Fatalf("load the copy %d: %v", number, err)
	}
	return c
}

func testSnapshots(t *testing.T, h *storeHarness) {
	record := namespaceRecord(2, "orders")
	h.put(record)
	queue := fillNamespace(h.in(2), 3)
	r := h.mustSave(2, 3, 0)
	if r.Entities != 1 || r.Messages != 3 || r.Bytes == 0 || r.Now != 7 {
		t.Errorf("the snapshot is %+v", r)
	}
	if next := h.NextNamespace(); next != 4 {
		t.Errorf("the next id is %d", next)
	}
	used := h.in(2)
	used.must(dropQueue(queue))
	h.restart()
	if list := h.Snapshots(2); len(list) != 1 || list[0] != r || len(h.Snapshots(1)) != 0 {
		t.Errorf("after a restart there are %+v, want %+v", list, r)
	}
	wantFilled(t, "the snapshot", h.loadCopy(3), moved(queue, 3), 3)
	record.Options = []byte(`{"port":5702}`)
	h.restore(record, 3, 4)
	for _, when := range []string{"restored", "after a restart"} {
		list := h.list()
		if len(list) != 2 || list[1].ID != 2 || string(list[1].Options) != string(record.Options) {
			t.Errorf("%s: the namespaces are %+v", when, list)
		}
		wantFilled(t, when, h.load(2), moved(queue, 4), 3)
		if next := h.Journal(2).NextRow(); emulator.NamespaceOf(next) != 4 || next < moved(used.next, 4) {
			t.Errorf("%s: the next row is %d; those before %d were used", when, next, moved(used.next, 4))
		}
		h.restart()
	}
	h.in(2).must(dropQueue(moved(queue, 4)))
	h.restore(record, 3, 5)
	wantFilled(t, "restored again", h.load(2), moved(queue, 5), 3)
}

func testSnapshotsReplaced(t *testing.T, h *storeHarness) {
	h.put(namespaceRecord(2, "orders"))
	queue := fillNamespace(h.in(2), 2)
	h.mustSave(2, 3, 0)
	in := h.in(2)
	in.must(in.message(queue, 3, "more"))
	h.mustSave(2, 4, 3)
	if list := h.Snapshots(2); len(list) != 1 || list[0].Number != 4 || list[0].Messages != 3 {
		t.Errorf("the snapshots are %+v", list)
	}
	for range 2 {
		if err := await(func(c emulator.Completion) { h.DropCopy(4, c) }); err != nil {
			t.Errorf("drop: %v", err)
		}
	}
	if err := await(func(c emulator.Completion) { h.CopySnapshot(context.Background(), 4, 5, c) }); err == nil {
		t.Error("what was dropped was copied")
	}
	h.mustSave(2, 6, 0)
	h.drop(2)
	if _, err := h.save(2, 7, 0); err == nil || len(h.Snapshots(2)) != 0 {
		t.Errorf("of a deleted namespace there are %v; saving another one: %v", h.Snapshots(2), err)
	}
	h.restart()
	if len(h.Snapshots(2)) != 0 || h.NextNamespace() < 7 {
		t.Errorf("after a restart there are %v, and the next number is %d", h.Snapshots(2), h.NextNamespace())
	}
}
