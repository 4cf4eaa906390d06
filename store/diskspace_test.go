package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"minibus/emulator"
)

// killed returns the path of a copy of s's database as kill -9 would leave it.
func killed(t *testing.T, s *Store) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	drain(s)
	s.checkpointer.running.Lock()
	defer s.checkpointer.running.Unlock()
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(s.Path() + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestLogIsBounded_OverManyLives: the log that earlier processes left counts.
func TestLogIsBounded_OverManyLives(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	for life := range int64(8) {
		s := mustOpen(t, path, Options{})
		if life == 0 {
			wait(t, s, putQueue(1, "q"))
		}
		if got := stored(t, s); int64(len(got)) != 8*life {
			t.Fatalf("%d messages are stored in life %d", len(got), life)
		}
		for i := range int64(8) {
			wait(t, s, insertOp(1000*(life+1)+i, 1, make([]byte, 1<<20-100)))
		}
		path = killed(t, s)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := fileSize(path + "-wal"); got > 40<<20 {
		t.Errorf("the log has %d MiB after eight lives of 8 MiB each", got>>20)
	}
}

// smallDisk simulates a disk with size bytes for the store's files.
func smallDisk(s *Store, size int64) (left *atomic.Int64) {
	left = new(atomic.Int64)
	left.Store(size)
	onWriter(s, func() {
		r := &s.writer.disk
		r.free = func() (int64, bool) {
			return max(0, left.Load()-fileSize(r.path)-r.logSize()-r.reserve.size()), true
		}
		s.writer.disk.look()
	})
	return left
}

func isRefused(err error) bool {
	var de *emulator.Error
	return errors.As(err, &de) && de.Code == emulator.CodeQuotaExceeded
}

// fillUp inserts messages, with row ids from 10 on, until one is refused, and returns how many are stored.
func fillUp(t *testing.T, s *Store) (n int64) {
	t.Helper()
	for ; ; n++ {
		err := <-begin(s, insertOp(10+n, 1+n, make([]byte, 4000)))
		switch {
		case isRefused(err):
			drain(s)
			return n
		case err != nil:
			t.Fatal(err)
		}
	}
}

func removeOp(row int64) emulator.Op {
	r := emulator.MessageRecord{Row: row, Body: row, Entity: 1}
	return emulator.Op{Kind: emulator.OpDelete, DropBody: true, Record: r}
}

// restore appends a change that brings back a message, and returns the channel of its result.
func restore(s *Store, op emulator.Op) <-chan error {
	res := make(chan error, 1)
	done := emulator.CompletionFunc(func(err error) { res <- err })
	s.Append(&emulator.Change{Ops: []emulator.Op{op}, Requeues: true, Done: done})
	return res
}

// TestFullDisk_LogAndReserveAreSmallOnSmallDisks; on a large disk the log has its full size and there is no reserve.
func TestFullDisk_LogAndReserveAreSmallOnSmallDisks(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	smallDisk(s, 16<<20)
	n := fillUp(t, s)
	if n < 2800 {
		t.Errorf("%d messages of 4 KB fit on a disk of 16 MiB", n)
	}
	reserve, log := s.writer.disk.reserve.size(), fileSize(s.Path()+"-wal")
	if limit := int64(16 << 20 / 16); reserve > limit || reserve < limit/2 || log > 2*limit {
		t.Errorf("the reserve has %d KiB, the log %d", reserve>>10, log>>10)
	}
	smallDisk(s, 1<<40)
	if _, err := os.Stat(s.writer.disk.reserve.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a reserve on a large disk: %v", err)
	}
	wait(t, s, insertOp(10+n, 1+n, nil))
}

// TestFullDisk_RemovalsGoThroughWhileSendsAreRefused, even in one batch. The counter stays at the stored messages: a
// change that drew a number behind a refused send is refused as well, even if there was space for it.
func TestFullDisk_RemovalsGoThroughWhileSendsAreRefused(t *testing.T) {
	s := newStore(t)
	smallDisk(s, 8<<20)
	n := fillUp(t, s)
	var sends, removals []<-chan error
	for round := range int64(3) {
		hold(s, func() {
			for i := range int64(20) {
				k := 20*round + i
				sends = append(sends, begin(s, insertOp(100_000+k, n+1+i, make([]byte, 200_000))))
				removals = append(removals, begin(s, removeOp(10+k)))
				activation := insertOp(500+k, n+2+i, nil)
				activation.Kind = emulator.OpUpdate
				sends = append(sends, begin(s, activation))
			}
		})
		drain(s)
	}
	for i, r := range removals {
		if err := <-r; err != nil {
			t.Fatalf("removal %d: %v", i, err)
		}
	}
	for i, r := range sends {
		if err := <-r; !isRefused(err) {
			t.Fatalf("send %d: %v", i, err)
		}
	}
	if got := lastSeq(t, s, 1); got != n {
		t.Errorf("the counter is %d, want %d", got, n)
	}
	if got := stored(t, s); int64(len(got)) != n-60 {
		t.Errorf("%d messages are stored, want %d", len(got), n-60)
	}
	wait(t, s, insertOp(200_000, n+1, make([]byte, 4000))) // in the place of the removed ones
}

// TestFullDisk_AFewRemovalsAreEnough for a message to fit again, though they are only marked at first.
func TestFullDisk_AFewRemovalsAreEnough(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	smallDisk(s, 8<<20)
	n := fillUp(t, s)
	for i := range int64(60) {
		wait(t, s, removeOp(10+i))
	}
	for i := range int64(5) {
		wait(t, s, insertOp(10+n+i, 1+n+i, make([]byte, 4000)))
	}
}

// TestFullDisk_WhatNobodyReceivedIsStoredAgain: its sender was told long ago that the message is durable.
func TestFullDisk_WhatNobodyReceivedIsStoredAgain(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	smallDisk(s, 8<<20)
	n := fillUp(t, s)
	again := insertOp(100_000, 1, make([]byte, 60_000))
	again.DrawsNumber = false
	send := insertOp(100_001, n+1, make([]byte, 60_000))
	var res, refused <-chan error
	hold(s, func() {
		refused = begin(s, send)
		res = restore(s, again)
	})
	if err := <-refused; !isRefused(err) {
		t.Errorf("the send: %v", err)
	}
	if err := <-res; err != nil {
		t.Errorf("the message that was taken out: %v", err)
	}
	if got := lastSeq(t, s, 1); got != n {
		t.Errorf("the counter is %d, want %d", got, n)
	}
}

// TestFullDisk_LargeMessageIsStoredAgainWholeOrNot: its parts may use the reserve too, and without all of them there
// is no message.
func TestFullDisk_LargeMessageIsStoredAgainWholeOrNot(t *testing.T) {
	t.Parallel()
	for _, large := range []int{1<<20 + 100_000, 3 << 20} {
		s := newStore(t)
		left := smallDisk(s, 24<<20)
		fillUp(t, s)
		data := bytes.Repeat([]byte("x"), large)
		again := insertOp(100_000, 1, data)
		again.DrawsNumber = false
		try := func() (stored, removed error) {
			var res, r <-chan error
			hold(s, func() {
				res = restore(s, again)
				r = begin(s, removeOp(10))
			})
			return <-res, <-r
		}
		err, removed := try()
		if removed != nil {
			t.Errorf("a removal behind it: %v", removed)
		}
		if err != nil {
			t.Logf("%d bytes: %v", large, err)
			if got := count(t, s, "message WHERE row=100000") + count(t, s, "body WHERE id=100000"); got != 0 {
				t.Errorf("%d rows of the message that was refused are there", got)
			}
			left.Add(16 << 20)
			if err, _ = try(); err != nil {
				t.Errorf("with space, %d bytes: %v", large, err)
			}
		}
		done := make(chan error, 1)
		r := &emulator.BodyRead{IDs: []int64{100_000}, Done: emulator.CompletionFunc(func(err error) { done <- err })}
		s.ReadBodies(r)
		if err := <-done; err != nil || !bytes.Equal(r.Bodies[0], data) {
			t.Errorf("%d of %d bytes came back: %v, %s", len(r.Bodies[0]), large, err, r.Damaged[0].Why)
		}
	}
}

// TestFullDisk_LargeMessageIsStoredAgainBeforeOthersAreSent: senders that fill every gap do not keep it out.
func TestFullDisk_LargeMessageIsStoredAgainBeforeOthersAreSent(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	smallDisk(s, 12<<20)
	n := fillUp(t, s)
	again := insertOp(100_000, 1, make([]byte, 3<<20))
	again.DrawsNumber = false
	sent := int64(0)
	for removed := range n {
		if removed%100 == 0 {
			if <-restore(s, again) == nil {
				return
			}
		}
		wait(t, s, removeOp(10+removed))
		if err := <-begin(s, insertOp(200_000+sent, n+1+sent, make([]byte, 4000))); err == nil {
			sent++
		} else if !isRefused(err) {
			t.Fatal(err)
		}
	}
	t.Errorf("%d messages were removed and %d sent, and there was never space for it", n, sent)
}

// TestFullDisk_ComesBackWhenSpaceIsFreed without anything being removed.
func TestFullDisk_ComesBackWhenSpaceIsFreed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	left := smallDisk(s, 8<<20)
	n := fillUp(t, s)
	left.Add(2 << 20)
	for i := range int64(100) {
		wait(t, s, insertOp(10+n+i, 1+n+i, make([]byte, 4000)))
	}
	if got := lastSeq(t, s, 1); got != n+100 {
		t.Errorf("the counter is %d, want %d", got, n+100)
	}
}

// TestFullDisk_DeletedEntityIsRemoved: the sweep's steps go through as removals do.
func TestFullDisk_DeletedEntityIsRemoved(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	wait(t, s, putQueue(2, "two"))
	smallDisk(s, 8<<20)
	n := fillUp(t, s)
	wait(t, s, dropQueue(1))
	sweepNow(s)
	if m, b := count(t, s, "message"), count(t, s, "body"); m != 0 || b != 0 {
		t.Errorf("left of %d are %d messages and %d bodies", n, m, b)
	}
	op := insertOp(500_000, 1, make([]byte, 4000))
	op.Record.Entity = 2
	wait(t, s, op)
}

// TestFullDisk_LargeMessageIsRefusedInWhole: none of its parts stays.
func TestFullDisk_LargeMessageIsRefusedInWhole(t *testing.T) {
	s := newStore(t)
	smallDisk(s, 12<<20)
	wait(t, s, insertOp(10, 1, make([]byte, 3<<20)))
	if err := <-begin(s, insertOp(11, 2, make([]byte, 20<<20))); !isRefused(err) {
		t.Errorf("error is %v, want quota exceeded", err)
	}
	drain(s)
	if got := count(t, s, "body_part WHERE body<>10"); got != 0 {
		t.Errorf("%d parts of the refused message are left", got)
	}
	wait(t, s, insertOp(12, 2, make([]byte, 3<<20)))
}

// TestReserveIsGivenAndTakenBack: the file takes up space, is emptied when the store needs that, and says what it is
// for.
func TestReserveIsGivenAndTakenBack(t *testing.T) {
	r := reserve{filepath.Join(t.TempDir(), "a.db-reserve")}
	for range 2 {
		r.hold(1 << 20)
		text, err := os.ReadFile(r.path)
		if err != nil || len(text) != 1<<20 || string(text[:len(reserveText)]) != reserveText {
			t.Fatalf("the reserve has %d bytes (%v)", len(text), err)
		}
		r.release()
		if got := r.size(); got != 0 {
			t.Errorf("%d bytes are held after the release", got)
		}
	}
	r.drop()
	if _, err := os.Stat(r.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the reserve is still there: %v", err)
	}
}

// TestFullDisk_WhatMustBeStoredMayUseTheSpaceOfTheLog: a send leaves the log its share of the disk, a change that was
// promised does not.
func TestFullDisk_WhatMustBeStoredMayUseTheSpaceOfTheLog(t *testing.T) {
	s := newStore(t)
	onWriter(s, func() {
		d := &s.writer.disk
		before := *d
		defer func() { d.short, d.logCeiling, d.free = before.short, before.logCeiling, before.free }()
		d.short, d.logCeiling = true, 1<<30
		d.free = func() (int64, bool) { return 1<<30 - d.logSize(), true }
		if d.allows(1) {
			t.Error("a send may use the space that the log needs")
		}
		must(t, d.orReserve(func() error {
			if !d.allows(1) {
				t.Error("what must be stored may not use the space of the log")
			}
			return nil
		}))
		if d.allows(1) {
			t.Error("after what had to be stored, a send may use the space of the log")
		}
	})
}

// TestFullDisk_IsOverWithTheFirstThingStored, not with a removal, which needs no space.
func TestFullDisk_IsOverWithTheFirstThingStored(t *testing.T) {
	s := newStore(t)
	onWriter(s, func() {
		d := &s.writer.disk
		s.health.note(errDiskFull)
		batch := func(op emulator.Op) []item { return []item{{change: &emulator.Change{Ops: []emulator.Op{op}}}} }
		d.note(batch(emulator.Op{Kind: emulator.OpDelete}), nil)
		d.note(batch(insertOp(10, 1, nil)), errDiskFull)
		if !s.health.full() {
			t.Error("the disk is no longer full, though nothing was stored")
		}
		d.note(batch(insertOp(10, 1, nil)), nil)
		if s.health.full() {
			t.Error("a message was stored, and the disk is still full")
		}
	})
}

// TestDiskFreeIsKnown where Minibus keeps a file, and not where there is none.
func TestDiskFreeIsKnown(t *testing.T) {
	if free, known := DiskFree(t.TempDir()); !known || free <= 0 {
		t.Errorf("%d bytes are free, known: %t", free, known)
	}
	if free, known := DiskFree(filepath.Join(t.TempDir(), "none", "a.db")); known {
		t.Errorf("%d bytes are free where there is no directory", free)
	}
}

// TestUnknownFreeSpaceLimitsNothing, though there was little when it was known.
func TestUnknownFreeSpaceLimitsNothing(t *testing.T) {
	s := newStore(t)
	onWriter(s, func() {
		d := &s.writer.disk
		before := d.free
		defer func() { d.free = before }()
		d.free = func() (int64, bool) { return 1 << 20, true }
		if d.measure(); !d.short || d.logCeiling == ampleLog {
			t.Errorf("with 1 MiB the log may have %d bytes, short: %t", d.logCeiling, d.short)
		}
		d.free = func() (int64, bool) { return 0, false }
		if d.measure(); d.short || d.logCeiling != ampleLog {
			t.Errorf("with unknown space the log may have %d bytes, short: %t", d.logCeiling, d.short)
		}
	})
}
