package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"minibus/emulator"
)

// drained is the number of messages of a burst that is received: each is marked by a batch of its own.
const drained = 3*tombstonesTogether + 5

// TestMarkedMessagesAreRemovedBesideTheWork, a block of them at a time. After a failure the next block takes them
// along.
func TestMarkedMessagesAreRemovedBesideTheWork(t *testing.T) {
	for _, failing := range []bool{false, true} {
		t.Run(fmt.Sprint("failing=", failing), func(t *testing.T) {
			s := newStore(t)
			insertMany(t, s, 1, 10, drained)
			failed := 0
			for i := range int64(drained) {
				// The batch whose message makes a block full, and the removal after it.
				if failing && i == tombstonesTogether-1 {
					onWriter(s, func() {
						commits := 0
						s.beforeCommit = func() error {
							if commits++; commits > 1 {
								failed++
								return errors.New("the disk is on fire")
							}
							return nil
						}
					})
				}
				wait(t, s, removeOp(10+i))
				drain(s)
				if failing && i == tombstonesTogether-1 {
					onWriter(s, func() { s.beforeCommit = nil })
				}
				if n := count(t, s, marked); n > 2*tombstonesTogether || n >= tombstonesTogether && !failing {
					t.Fatalf("%d messages are marked after %d were received", n, i+1)
				}
			}
			if failing != (failed > 0) {
				t.Errorf("%d removals failed", failed)
			}
			rows, bodies := count(t, s, "message"), count(t, s, "body")
			if rows >= tombstonesTogether || rows != bodies {
				t.Errorf("%d rows and %d bodies of received messages are left", rows, bodies)
			}
		})
	}
}

// TestMarkedMessagesOfEarlierLivesAreRemoved with those of this one, though no life has a block of them.
func TestMarkedMessagesOfEarlierLivesAreRemoved(t *testing.T) {
	const some = tombstonesTogether/2 + 1
	s := newStore(t)
	insertMany(t, s, 1, 10, 2*some)
	for life := range int64(2) {
		for i := range int64(some) {
			wait(t, s, removeOp(10+life*some+i))
		}
		if life == 0 {
			s = mustOpen(t, killed(t, s), Options{})
			defer s.Close()
			stored(t, s)
		}
	}
	drain(s)
	if n := count(t, s, marked); n >= tombstonesTogether {
		t.Errorf("%d messages are marked and not removed", n)
	}
}

// TestSnapshotThatIsDroppedIsMarked with the change that drops it, and so is one that another replaces, and what a
// namespace had before it was restored: a kill leaves none that would come back.
func TestSnapshotThatIsDroppedIsMarked(t *testing.T) {
	drop := func(number int64) emulator.Op {
		return emulator.Op{Kind: opDropCopy, Entity: emulator.EntityRecord{ID: number}}
	}
	for name, c := range map[string]struct {
		does func(t *testing.T, s *Store) error
		gone int64 // number
	}{
		"dropped": {func(_ *testing.T, s *Store) error { return <-begin(s, drop(2)) }, 2},
		"replaced": {func(_ *testing.T, s *Store) error {
			_, done := saving(s, 1, 3, 2)
			return done()
		}, 2},
		"restored": {func(_ *testing.T, s *Store) error { return restoreCopy(s, 1, 2, 3) }, 1},
		"restored again": {func(_ *testing.T, s *Store) error {
			return errors.Join(restoreCopy(s, 1, 2, 3), restoreCopy(s, 1, 2, 4))
		}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			insertMany(t, s, 1, 10, 20)
			want := namespaceContents(t, s, 1)
			_, done := saving(s, 1, 2, 0)
			must(t, done())
			onWriter(s, func() { // nothing is removed until the kill
				_ = s.writer.conn.exec(fmt.Sprintf(`CREATE TEMP TRIGGER no BEFORE DELETE ON message WHEN old.ns=%d
					BEGIN SELECT raise(ABORT, 'no'); END`, c.gone))
			})
			must(t, c.does(t, s))
			state := "namespace WHERE deleted=1 AND id=" + fmt.Sprint(c.gone)
			if name == "restored" { // the number of a namespace stays its id
				state = "namespace WHERE id=1 AND number=3"
			}
			if count(t, s, state) != 1 || count(t, s, "snapshot WHERE number="+fmt.Sprint(c.gone)) != 0 {
				t.Errorf("what is gone is not marked as that")
			}
			again := mustOpen(t, killed(t, s), Options{})
			defer again.Close()
			if got := namespaceContents(t, again, 1); got != want {
				t.Errorf("after a kill the namespace has%s", difference(got, want))
			}
			for _, r := range again.Snapshots(1) {
				if r.Number == c.gone {
					t.Error("after a kill the snapshot is there again")
				}
			}
			sweepNow(again)
			for _, table := range tables {
				if n := count(t, again, fmt.Sprintf("%s WHERE ns=%d", table, c.gone)); n != 0 {
					t.Errorf("%d rows of %s are left", n, table)
				}
			}
		})
	}
}

// TestSweepBeginsAtTheFirstRow, with the first ids of a namespace: of a queue whose first message came right after it
// was made, of the older one of two queues that are deleted together, and after a failure, when the sweep is
// thorough.
func TestSweepBeginsAtTheFirstRow(t *testing.T) {
	first, _ := emulator.RowsOf(2)
	for _, thorough := range []bool{false, true} {
		t.Run(fmt.Sprint("thorough=", thorough), func(t *testing.T) {
			s := newStore(t)
			must(t, putNamespace(s, 2, "two"))
			for i := range int64(3) {
				wait(t, s, putQueue(first+100+i, fmt.Sprint("q", i)))
			}
			older, younger, stays := first+100, first+101, first+102
			copies := into(older, insertOp(first+10, 2, []byte("shared")))
			for i := range int64(packedCopies) {
				copies.Copies = append(copies.Copies, emulator.CopyRecord{Entity: older, Seq: 2 + i})
			}
			kept := into(stays, insertOp(first+1, 1, nil))
			kept.Record.Body = first // the body of the first message of all
			wait(t, s, into(older, insertOp(first, 1, []byte("first"))), kept, copies)
			wait(t, s, into(younger, insertOp(first+50, 1, []byte("young"))))
			wait(t, s, putQueue(first+103, "q3"))
			wait(t, s, into(first+103, insertOp(first+104, 1, []byte("right behind"))))
			onWriter(s, func() {
				s.writer.sweeper.failed = thorough
				ops := []emulator.Op{dropQueue(younger), dropQueue(older), dropQueue(first + 103)}
				if err := s.writer.store([]item{{change: &emulator.Change{Ops: ops}}}); err != nil {
					t.Error(err)
				}
			})
			sweepNow(s)
			m := count(t, s, "message")
			p := count(t, s, "publication")
			b := count(t, s, "body")
			if m != 1 || p != 0 || b != 1 {
				t.Errorf("left are %d messages, %d publications, %d bodies; want the one that stays, with its body",
					m, p, b)
			}
			if n := count(t, s, fmt.Sprint("body WHERE id=", first)); n != 1 {
				t.Error("the body of the message that stays is gone")
			}
		})
	}
}

// TestSweepRemovesTheFirstBodyOfANamespace, when the sweep is thorough and nothing has the body any more.
func TestSweepRemovesTheFirstBodyOfANamespace(t *testing.T) {
	first, _ := emulator.RowsOf(2)
	s := newStore(t)
	must(t, putNamespace(s, 2, "two"))
	queue := first + 100
	wait(t, s, putQueue(queue, "q"))
	remove := into(queue, insertOp(first, 1, nil))
	remove.Kind = emulator.OpDelete
	wait(t, s, into(queue, insertOp(first, 1, []byte("first"))))
	wait(t, s, remove, into(queue, insertOp(first+1, 2, []byte("second"))))
	onWriter(s, func() {
		s.writer.sweeper.failed = true
		if err := s.writer.store([]item{{change: &emulator.Change{Ops: []emulator.Op{dropQueue(queue)}}}}); err != nil {
			t.Error(err)
		}
	})
	sweepNow(s)
	if n := count(t, s, "body"); n != 0 {
		t.Errorf("%d bodies are left", n)
	}
}

// TestPassing_EachHasItsOwnResult: one that is at fault itself fails alone, whether it passes or is passed.
func TestPassing_EachHasItsOwnResult(t *testing.T) {
	for name, faulty := range map[string]string{
		"the large one": "large", "the first that passes": "first", "the last": "last",
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			wait(t, s, putQueue(2, "two"), putQueue(3, "three"))
			results := map[string]<-chan error{}
			add := func(name string, op emulator.Op) {
				if name == faulty {
					op.Record.Entity += 1000 // there is no such entity
				}
				results[name] = begin(s, op)
			}
			hold(s, func() {
				add("large", largeInsert(1, 10, 1))
				add("first", smallInsert(2, 11, 1))
				add("last", smallInsert(3, 12, 1))
			})
			for name, result := range results {
				if err := <-result; (err != nil) != (name == faulty) {
					t.Errorf("%s: %v", name, err)
				}
			}
			if n := len(stored(t, s)); n != 2 || count(t, s, "body_part WHERE body NOT IN (SELECT id FROM body)") != 0 {
				t.Errorf("%d messages are stored, want two, and no parts that belong to none", n)
			}
		})
	}
}

// TestDiskIsLookedAt again and again: at the first change, while batches go by, and with each checkpoint.
func TestDiskIsLookedAt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s := mustOpen(t, path, Options{})
	defer func() { must(t, s.Close()) }()
	looks := 0
	s.writer.mu.Lock()
	free := s.writer.disk.free
	s.writer.disk.free = func() (int64, bool) { looks++; return free() }
	s.writer.mu.Unlock()
	looked := func() (n int) {
		onWriter(s, func() { n, looks = looks, 0 })
		return n
	}
	wait(t, s, putQueue(1, "q"))
	if looked() == 0 {
		t.Error("the first change comes without a look")
	}
	for i := range int64(2 * batchesPerLook) {
		wait(t, s, sessionOp(1, "s", fmt.Append(nil, i)))
	}
	if n := looked(); n < 2 || n > 4 {
		t.Errorf("%d looks in %d batches", n, 2*batchesPerLook)
	}
	onWriter(s, func() { s.writer.wal.checkpoint = 16 })
	for i := range int64(batchesPerLook / 8) {
		wait(t, s, insertOp(10+i, 1+i, make([]byte, 9000)))
	}
	if looked() < 2 {
		t.Error("checkpoints come without a look")
	}
}

// TestDrainedFileIsNoticed by the store itself: it gives the space back while clients rest.
func TestDrainedFileIsNoticed(t *testing.T) {
	s := newStore(t)
	const n, size = 300, 200 << 10
	for i := range int64(n) {
		begin(s, insertOp(10+i, 1+i, make([]byte, size)))
	}
	drain(s)
	pages := func() (all int64) {
		onWriter(s, func() { all, _ = s.writer.conn.queryInt("PRAGMA page_count") })
		return all
	}
	deep := pages()
	for i := range int64(n) {
		wait(t, s, removeOp(10+i))
	}
	for i := range int64(2 * batchesPerLook) {
		wait(t, s, sessionOp(1, "s", fmt.Append(nil, i)))
	}
	onWriter(s, func() { housekeep(s) })
	if left := pages(); left > vacuumWorthPages { // so many, if most was given back while messages were received
		t.Errorf("%d pages of %d are left", left, deep)
	}
}

// TestFailedChangeIsTakenBackInOrder: what its operations did to the same thing is undone from the last to the first.
func TestFailedChangeIsTakenBackInOrder(t *testing.T) {
	s := newStore(t)
	if err := <-begin(s, putQueue(1, "a"), putQueue(1, "b"), emulator.Op{Kind: 77}); err == nil {
		t.Fatal("a change with an unknown operation succeeded")
	}
	onWriter(s, func() {
		if got := s.writer.entities.byID[1].path; got != "q" {
			t.Errorf("the queue is %q", got)
		}
	})
}

// TestReservedIDsLastForManyMessages: the writer knows how many ids it has reserved, and does not write that with
// every change.
func TestReservedIDsLastForManyMessages(t *testing.T) {
	s := newStore(t)
	reserved := int64(0)
	for i := range int64(20) {
		wait(t, s, insertOp(10+i, 1+i, nil))
		onWriter(s, func() {
			next, err := s.writer.conn.queryInt("SELECT next_row FROM namespace WHERE id=1")
			rows := s.writer.namespaces.byNumber[1]
			if err != nil || next != rows.reserved || next <= rows.high || reserved != 0 && next != reserved {
				t.Errorf("message %d: %d is stored, the writer knows %d, before it was %d: %v",
					i, next, rows.reserved, reserved, err)
			}
			reserved = next
		})
	}
}

// TestLargeStatesLeaveNoBuffer: the statement that wrote a large state of a session keeps no copy of it.
func TestLargeStatesLeaveNoBuffer(t *testing.T) {
	s := newStore(t)
	wait(t, s, sessionOp(1, "s", make([]byte, maxInline+1)))
	onWriter(s, func() {
		for i, b := range s.writer.entities.putSession.bufs {
			if b.size > maxInline {
				t.Errorf("parameter %d has a buffer of %d bytes", i, b.size)
			}
		}
	})
}

// TestNumbersOfAChangeAreNotedOnce for each entity, however many are drawn from it.
func TestNumbersOfAChangeAreNotedOnce(t *testing.T) {
	s := newStore(t)
	onWriter(s, func() {
		es := &s.writer.entities
		e, err := es.live(1)
		must(t, err)
		for seq := range int64(3) {
			es.draw(e, 0, 1+seq)
		}
		if len(es.drawn) != 1 {
			t.Errorf("the entity is noted %d times", len(es.drawn))
		}
		es.dropCounters()
	})
}

// TestFailedReservationGivesItsNumberBack: the next copy of a namespace has the number of one that could not be begun.
func TestFailedReservationGivesItsNumberBack(t *testing.T) {
	s := newStore(t)
	onWriter(s, func() {
		n := &s.writer.namespaces
		from, next := n.byNumber[1], n.next
		to := &rowRange{number: next + 5}
		must(t, s.writer.conn.exec("BEGIN"))
		must(t, n.reserve(from, to))
		if n.byNumber[to.number] != to || n.next != to.number+1 {
			t.Errorf("the copy is %v, the next number %d", n.byNumber[to.number], n.next)
		}
		must(t, s.writer.conn.exec("ROLLBACK"))
		for _, f := range s.writer.undo {
			f()
		}
		s.writer.undo = nil
		if n.byNumber[to.number] != nil || n.next != next {
			t.Errorf("after the failure the copy is %v, the next number %d, want %d", n.byNumber[to.number], n.next, next)
		}
	})
}
