package store

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"minibus/emulator"
)

// completions notes in which order completions come. Those of errors end with an exclamation mark.
type completions struct {
	mu   sync.Mutex
	list []string
	last chan struct{} // closed after the one that is awaited
}

func (o *completions) done(what string) emulator.Completion { return o.then(what, func() {}) }

func (o *completions) then(what string, then func()) emulator.Completion {
	return emulator.CompletionFunc(func(err error) {
		o.mu.Lock()
		if o.list = append(o.list, what); err != nil {
			o.list[len(o.list)-1] += "!"
		}
		o.mu.Unlock()
		then()
	})
}

func (o *completions) want(t *testing.T, want string) {
	t.Helper()
	<-o.last
	o.mu.Lock()
	defer o.mu.Unlock()
	if got := strings.Join(o.list, " "); got != want {
		t.Errorf("completed were %q, want %q", got, want)
	}
}

// end returns the completion that want waits for.
func (o *completions) end(what string) emulator.Completion {
	return o.then(what, func() { close(o.last) })
}

// twoNamespaces have 50 messages each, and a copy takes a step for each.
func twoNamespaces(t *testing.T, o Options) (s *Store, add func(namespace, row int64, done emulator.Completion)) {
	t.Helper()
	s = mustOpen(t, filepath.Join(t.TempDir(), "a.db"), o)
	t.Cleanup(func() { _ = s.Close() })
	queues := map[int64]int64{1: newNamespace(t, s, 1, 50), 2: newNamespace(t, s, 2, 50)}
	onWriter(s, func() { s.writer.copier.size = 1 })
	return s, func(namespace, row int64, done emulator.Completion) {
		queue := queues[namespace]
		op := into(queue, insertOp(queue+row, row, []byte("more")))
		s.Journal(namespace).Append(&emulator.Change{Ops: []emulator.Op{op}, Done: done})
	}
}

func save(s *Store, namespace, number int64, begun, done emulator.Completion) {
	r := &emulator.SnapshotRecord{Number: number, Namespace: namespace, Name: "s"}
	s.SaveSnapshot(context.Background(), r, 0, begun, done)
}

// TestChangesWaitForTheSnapshotOfTheirNamespace, in order, and those of another namespace do not.
func TestChangesWaitForTheSnapshotOfTheirNamespace(t *testing.T) {
	inFileAndMemory(t, func(t *testing.T, o Options) {
		s, add := twoNamespaces(t, o)
		want := namespaceContents(t, s, 1)
		order := completions{last: make(chan struct{})}
		hold(s, func() {
			save(s, 1, 3, order.done("begun"), order.done("saved"))
			add(1, 1000, order.done("waits"))
			s.Journal(1).Flush(order.done("flushed"))
			add(1, 1001, order.done("waits too"))
			add(2, 1000, order.done("other"))
			s.Journal(2).Flush(order.done("other flushed"))
			save(s, 1, 4, order.done("begun again"), order.end("saved again"))
		})
		order.want(t, "begun other other flushed waits flushed waits too begun again saved saved again")
		if got := copyContents(t, s, 3); got != want {
			t.Errorf("the snapshot has%s", difference(got, want))
		}
		if got, want := copyContents(t, s, 4), namespaceContents(t, s, 1); got != want {
			t.Errorf("the second snapshot has%s", difference(got, want))
		}
	})
}

// TestBodiesAreCopiedBesideChanges: changes wait for the rows of a snapshot alone. Messages that are removed while their
// bodies are still to be copied are in the snapshot, and leave nothing behind. Those that are stored again stay.
func TestBodiesAreCopiedBesideChanges(t *testing.T) {
	inFileAndMemory(t, func(t *testing.T, o Options) {
		s, _ := twoNamespaces(t, o)
		want := namespaceContents(t, s, 1)
		first, _ := emulator.RowsOf(1)
		var all []emulator.Op
		for row := range int64(51) {
			all = append(all, into(first, removeOp(first+1+row)))
		}
		again := []emulator.Op{
			into(first, insertOp(first+50, 50, []byte("message 49 of 1"))),
			into(first, insertOp(first+51, 51, make([]byte, maxInline+1))),
		}
		order := completions{last: make(chan struct{})}
		hold(s, func() {
			save(s, 1, 3, order.done("begun"), order.end("saved"))
			s.Journal(1).Append(&emulator.Change{Ops: all, Done: order.then("removed", func() {
				s.Journal(1).Append(&emulator.Change{Ops: again, Requeues: true, Done: order.done("stored again")})
				items, _ := s.inbox.take()
				s.writer.copier.ready = items // the next batch, before the copy goes on
			})})
		})
		order.want(t, "begun removed stored again saved")
		if got := copyContents(t, s, 3); got != want {
			t.Errorf("the snapshot has%s", difference(got, want))
		}
		onWriter(s, func() { housekeep(s) })
		if n := count(t, s, "body WHERE ns=1"); n != 2 {
			t.Errorf("the namespace has %d bodies, want 2", n)
		}
		wantNoOrphans(t, s, 1)
		wantNoOrphans(t, s, 3)
		if n := count(t, s, "body_part WHERE ns=1"); n != 2 {
			t.Errorf("the namespace has %d parts of bodies, want 2", n)
		}
	})
}

// TestChangesThatWaitForASnapshotAreCommittedInTheEnd, if it fails, its namespace is deleted, or the store is closed.
func TestChangesThatWaitForASnapshotAreCommittedInTheEnd(t *testing.T) {
	t.Run("failed", func(t *testing.T) {
		s, add := twoNamespaces(t, Options{})
		order := completions{last: make(chan struct{})}
		hold(s, func() {
			save(s, 1, 3, order.then("begun", func() {
				s.beforeCommit = func() error { s.beforeCommit = nil; return errors.New("the disk is on fire") }
			}), order.done("saved"))
			add(1, 1000, order.end("waits"))
		})
		order.want(t, "begun saved! waits")
	})
	t.Run("deleted", func(t *testing.T) {
		s, add := twoNamespaces(t, Options{})
		order := completions{last: make(chan struct{})}
		hold(s, func() {
			save(s, 2, 3, order.done("begun"), order.done("saved"))
			add(2, 1000, order.done("waits"))
			add(1, 1000, order.then("other", func() {
				s.DeleteNamespace(2, order.end("deleted"))
			}))
		})
		order.want(t, "begun other saved! waits deleted")
	})
	t.Run("closed", func(t *testing.T) {
		s, add := twoNamespaces(t, Options{})
		order := completions{last: make(chan struct{})}
		closed := make(chan error)
		hold(s, func() {
			save(s, 1, 3, order.done("begun"), order.done("saved"))
			add(1, 1000, order.end("waits"))
			go func() { closed <- s.Close() }()
			for !s.inbox.isClosed() {
			}
		})
		must(t, <-closed)
		order.want(t, "begun saved! waits")
		s = mustOpen(t, s.Path(), Options{})
		defer func() { _ = s.Close() }()
		must(t, s.Journal(2).Load(rows{}))
		if n := len(stored(t, s)); n != 52 || len(s.Snapshots(1)) != 0 {
			t.Errorf("stored are %d messages and the snapshots %v", n, s.Snapshots(1))
		}
		sweepNow(s)
		wantNumbers(t, s, 1, 2)
	})
}

// TestNothingPassesWhatWaitsForASnapshot: neither while a large body of another namespace is written, nor when a
// commit of another namespace fails, nor when the caller of EndBatch could commit.
func TestNothingPassesWhatWaitsForASnapshot(t *testing.T) {
	t.Run("a large body", func(t *testing.T) {
		s, add := twoNamespaces(t, Options{})
		first, _ := emulator.RowsOf(2)
		order := completions{last: make(chan struct{})}
		hold(s, func() {
			save(s, 1, 3, order.then("begun", func() {
				s.beforeCommit = func() error {
					s.beforeCommit = nil
					add(1, 1001, order.end("waits too")) // while the first part is written
					return nil
				}
			}), order.done("saved"))
			add(1, 1000, order.done("waits"))
			op := into(first, insertOp(first+1000, 1000, make([]byte, 2*maxInline)))
			s.Journal(2).Append(&emulator.Change{Ops: []emulator.Op{op}, Done: order.done("large")})
		})
		order.want(t, "begun large waits waits too")
	})
	t.Run("a failure", func(t *testing.T) {
		s, add := twoNamespaces(t, Options{})
		order := completions{last: make(chan struct{})}
		hold(s, func() {
			save(s, 1, 3, order.then("begun", func() {
				s.beforeCommit = func() error { s.beforeCommit = nil; return errors.New("the disk is on fire") }
			}), order.done("saved"))
			add(1, 1000, order.done("waits"))
			add(2, 1000, order.then("other", func() { add(1, 1001, order.end("waits too")) }))
		})
		order.want(t, "begun other! waits waits too")
	})
	t.Run("what fails with the beginning", func(t *testing.T) {
		s, add := twoNamespaces(t, Options{})
		order := completions{last: make(chan struct{})}
		hold(s, func() {
			s.beforeCommit = func() error { s.beforeCommit = nil; return errors.New("the disk is on fire") }
			save(s, 1, 3, order.done("begun"), order.done("saved"))
			add(1, 1000, order.end("behind"))
		})
		order.want(t, "begun! behind!")
		wantNumbers(t, s, 1, 2)
	})
	t.Run("a caller of EndBatch", func(t *testing.T) {
		s, add := twoNamespaces(t, Options{})
		drain(s)
		order := completions{last: make(chan struct{})}
		s.BeginBatch()
		add(1, 1000, order.done("waited"))
		s.writer.mu.Lock()
		items, _ := s.inbox.take()
		s.writer.copier.ready = slices.Clone(items)
		s.writer.mu.Unlock()
		add(1, 1001, order.end("released"))
		s.EndBatch()
		order.want(t, "waited released")
	})
}

// TestACopyThatClientsWaitForGetsAStepAfterEachBatch: neither clients of other namespaces that never pause hold it up, nor
// a long checkpoint.
func TestACopyThatClientsWaitForGetsAStepAfterEachBatch(t *testing.T) {
	s, add := twoNamespaces(t, Options{})
	order := completions{last: make(chan struct{})}
	hold(s, func() {
		save(s, 1, 3, order.done("begun"), order.done("saved"))
		add(2, 1000, order.then("other", func() {
			w := s.writer
			before := w.copier.copies[0].progress
			w.rounds, w.turn = 0, 3 // the copy is next
			if w.afterWork(); w.copier.copies[0].progress.cursor != before.cursor {
				t.Error("nobody waits for it, and it got a step after a batch")
			}
			w.s.checkpointer.restartPending.Store(true)
			if w.idleWork() {
				t.Error("nobody waits for it, and it got a step while the log was about to be restarted")
			}
			add(1, 1000, order.end("waits"))
			items, _ := s.inbox.take()
			w.copier.admit(items)
			if !w.idleWork() {
				t.Error("somebody waits for it, and it got no step while the log was about to be restarted")
			}
			w.s.checkpointer.restartPending.Store(false)
			w.turn = 3
			after := w.copier.copies[0].progress
			w.afterWork()
			if now := w.copier.copies[0].progress; now.phase == after.phase && now.cursor == after.cursor {
				t.Error("somebody waits for it, and it got no step")
			}
		}))
	})
	order.want(t, "begun other waits")
}

// TestAStepOfACopyThatIsTriedAgainCopiesTheSame: each step finds the disk full once, and is tried again.
func TestAStepOfACopyThatIsTriedAgainCopiesTheSame(t *testing.T) {
	s, _ := twoNamespaces(t, Options{})
	onWriter(s, func() { s.writer.copier.size = 7 })
	want := namespaceContents(t, s, 1)
	order := completions{last: make(chan struct{})}
	failed := false
	save(s, 1, 3, order.then("begun", func() {
		s.beforeCommit = func() error {
			if failed = !failed; failed {
				return errDiskFull
			}
			return nil
		}
	}), order.then("saved", func() { s.beforeCommit = nil; close(order.last) }))
	order.want(t, "begun saved")
	if got := copyContents(t, s, 3); got != want {
		t.Errorf("the snapshot has%s", difference(got, want))
	}
	if r := s.Snapshots(1)[0]; r.Messages != 51 {
		t.Errorf("the snapshot counts %d messages", r.Messages)
	}
}
