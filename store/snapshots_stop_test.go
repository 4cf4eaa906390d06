package store

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"testing"

	"minibus/emulator"
)

// TestACopyEndsWithItsRequest and leaves no row, and the snapshot that it would have replaced stays.
func TestACopyEndsWithItsRequest(t *testing.T) {
	s := mustOpen(t, filepath.Join(t.TempDir(), "a.db"), Options{})
	defer func() { _ = s.Close() }()
	if err := putNamespace(s, 2, "two"); err != nil {
		t.Fatal(err)
	}
	first, _ := emulator.RowsOf(2)
	ops := []emulator.Op{putQueue(first, "q")}
	for i := range int64(5 * copyRows) {
		ops = append(ops, into(first, insertOp(first+1+i, 1+i, bytes.Repeat([]byte("x"), 100))))
	}
	wait(t, s, ops...)
	begun, done := saving(s, 2, 3, 0)
	if err := errors.Join(begun(), done()); err != nil {
		t.Fatal(err)
	}
	want := copyContents(t, s, 3)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	s.SaveSnapshot(ctx, &emulator.SnapshotRecord{Number: 4, Namespace: 2, Name: "s"}, 3,
		emulator.CompletionFunc(func(error) { cancel() }), emulator.CompletionFunc(func(err error) { ended <- err }))
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a snapshot whose request ended: %v", err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	cancel()
	s.CopySnapshot(ctx, 3, 5, emulator.CompletionFunc(func(err error) { ended <- err }))
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a copy whose request ended: %v", err)
	}
	sweepNow(s)
	for _, table := range tables {
		if n := count(t, s, table+" WHERE ns IN (4, 5)"); n != 0 {
			t.Errorf("%s has %d rows of copies that ended", table, n)
		}
	}
	if n := count(t, s, "namespace"); n != 3 {
		t.Errorf("%d numbers are in use, want those of two namespaces and a snapshot", n)
	}
	if all := s.Snapshots(2); len(all) != 1 || all[0].Number != 3 || copyContents(t, s, 3) != want {
		t.Errorf("the snapshots are %+v", all)
	}
}
