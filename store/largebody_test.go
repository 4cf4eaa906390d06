package store

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	lib "modernc.org/sqlite/lib"

	"minibus/emulator"
)

// finished notes in which order changes are completed, and with which errors.
type finished struct {
	mu    sync.Mutex
	names []string
	errs  []error
	all   sync.WaitGroup
}

// change returns a change; then runs when it is completed.
func (f *finished) change(name string, then func(), ops ...emulator.Op) *emulator.Change {
	f.all.Add(1)
	return &emulator.Change{Ops: ops, Done: emulator.CompletionFunc(func(err error) {
		f.mu.Lock()
		f.names, f.errs = append(f.names, name), append(f.errs, err)
		f.mu.Unlock()
		if then != nil {
			then()
		}
		f.all.Done()
	})}
}

func (f *finished) want(t *testing.T, names string, cause error) {
	t.Helper()
	f.all.Wait()
	if got := strings.Join(f.names, " "); got != names {
		t.Errorf("completed in the order %q, want %q", got, names)
	}
	for i, err := range f.errs {
		if !errors.Is(err, cause) {
			t.Errorf("%s: %v, want %v", f.names[i], err, cause)
		}
	}
}

// largeInsert is an insert of a message whose body has three parts.
func largeInsert(entity, row, seq int64) emulator.Op {
	return into(entity, insertOp(row, seq, make([]byte, 2*maxInline+1)))
}

func smallInsert(entity, row, seq int64) emulator.Op {
	return into(entity, insertOp(row, seq, []byte("small")))
}

func TestPassing_OtherEntitiesDoNotWaitForALargeBody(t *testing.T) {
	s := newStore(t)
	wait(t, s, putQueue(2, "two"), putQueue(3, "three"))
	wait(t, s, smallInsert(2, 9, 1))
	var f finished
	var late *emulator.Change
	hold(s, func() {
		late = f.change("late", nil, smallInsert(2, 16, 3))
		s.Append(f.change("large", nil, largeInsert(1, 10, 1)))
		s.Append(f.change("same", nil, smallInsert(1, 11, 2)))
		s.Append(f.change("large too", nil, largeInsert(3, 12, 1)))
		s.Append(f.change("both", nil, smallInsert(2, 13, 2), smallInsert(3, 14, 2)))
		s.Append(f.change("after both", nil, smallInsert(2, 15, 4)))
		s.Append(f.change("gone", func() { s.Append(late) }, into(4, removeOp(9))))
	})
	f.want(t, "gone large same large too both after both late", nil)
	if got := stored(t, s); len(got) != 7 || lastSeq(t, s, 1) != 2 || lastSeq(t, s, 3) != 2 {
		t.Errorf("stored are %v", got)
	}
}

func TestPassing_ChangesThatComeWhileTheBodyIsWritten(t *testing.T) {
	s := newStore(t)
	wait(t, s, putQueue(2, "two"))
	var f finished
	hold(s, func() {
		third := f.change("third", nil, smallInsert(2, 13, 3))
		second := f.change("second", func() { s.Append(third) }, smallInsert(2, 12, 2))
		s.Append(f.change("large", nil, largeInsert(1, 10, 1)))
		s.Append(f.change("first", func() { s.Append(second) }, smallInsert(2, 11, 1)))
	})
	f.want(t, "first second third large", nil)
}

// What is about more than messages keeps its place, and nothing passes it. What is tied to others, of whatever
// entity, keeps its place too, but is passed.
func TestPassing_WhatKeepsItsPlace(t *testing.T) {
	tied := func(f *finished) []*emulator.Change {
		a := f.change("a", nil, smallInsert(2, 20, 1))
		b := f.change("b", nil, smallInsert(3, 21, 1))
		none := f.change("none", nil)
		b.Needs(a)
		none.Needs(a) // all that it had to say is known already
		return []*emulator.Change{a, b, none, f.change("of a's entity", nil, smallInsert(2, 22, 2))}
	}
	restored := func(f *finished) []*emulator.Change {
		c := f.change("restored", nil, smallInsert(3, 20, 1))
		c.Requeues = true
		return []*emulator.Change{c}
	}
	for name, c := range map[string]struct {
		between func(f *finished) []*emulator.Change
		order   string
	}{
		"an entity": {func(f *finished) []*emulator.Change {
			return []*emulator.Change{f.change("put", nil, putQueue(5, "five"))}
		}, "large put small"},
		"tied":     {tied, "small large a b none of a's entity"},
		"restored": {restored, "large restored small"},
		"flush":    {func(f *finished) []*emulator.Change { return []*emulator.Change{nil} }, "small large flush"},
		"state, and keys that are forgotten": {func(f *finished) []*emulator.Change {
			r := emulator.MessageRecord{Entity: 3, Enqueued: 1}
			return []*emulator.Change{
				f.change("state of the same", nil, sessionOp(1, "s", []byte("x"))),
				f.change("state", nil, sessionOp(2, "s", []byte("x"))),
				f.change("forgets", nil, emulator.Op{Kind: emulator.OpPruneDuplicates, Record: r}),
			}
		}, "state forgets small large state of the same"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			wait(t, s, putQueue(2, "two"), putQueue(3, "three"), putQueue(4, "four"))
			var f finished
			hold(s, func() {
				s.Append(f.change("large", nil, largeInsert(1, 10, 1)))
				for _, b := range c.between(&f) {
					if b != nil {
						s.Append(b)
						continue
					}
					s.Flush(f.change("flush", nil).Done)
				}
				s.Append(f.change("small", nil, smallInsert(4, 11, 1)))
			})
			f.want(t, c.order, nil)
		})
	}
}

// If a passing change can't be written, the large one and all behind it fail too: the domain made them before it knew.
func TestPassing_FailureFailsWhatWasPassed(t *testing.T) {
	for name, c := range map[string]struct {
		cause   error
		code    emulator.Code
		commits int   // that are tried: the first part, the passing change, and the removal of the part
		parts   int64 // that are left
	}{
		"the disk is on fire": {errors.New("the disk is on fire"), emulator.CodeInternal, 3, 0},
		"another program holds the lock, and would go on with that": {
			&sqliteError{code: lib.SQLITE_BUSY}, emulator.CodeServerBusy, 2, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			wait(t, s, putQueue(2, "two"))
			var f finished
			commits := 0
			hold(s, func() {
				s.beforeCommit = func() error {
					if commits++; commits == 2 {
						return c.cause
					}
					return nil
				}
				s.Append(f.change("large", nil, largeInsert(1, 10, 1)))
				s.Append(f.change("same", nil, smallInsert(1, 11, 2)))
				s.Append(f.change("other", nil, smallInsert(2, 12, 1)))
			})
			f.all.Wait()
			if got := fmt.Sprint(f.names); got != "[other large same]" {
				t.Errorf("completed in the order %v", got)
			}
			for i, err := range f.errs {
				var de *emulator.Error
				if !errors.As(err, &de) || de.Code != c.code {
					t.Errorf("%s: %v", f.names[i], err)
				}
			}
			onWriter(s, func() {
				if commits != c.commits {
					t.Errorf("%d commits were tried, not %d", commits, c.commits)
				}
				if n, err := s.writer.conn.queryInt("SELECT count(*) FROM body_part"); n != c.parts || err != nil {
					t.Errorf("%d parts are left (%v)", n, err)
				}
			})
			if got := stored(t, s); len(got) != 0 {
				t.Errorf("stored are %v", got)
			}
		})
	}
}

// Parts that could not be removed do not stand in the way of a message that comes again, with the same body, until it
// can be stored.
func TestParts_AreWrittenAgain(t *testing.T) {
	s := newStore(t)
	commits := 0
	hold(s, func() {
		s.beforeCommit = func() error {
			if commits++; commits == 3 {
				return &sqliteError{code: lib.SQLITE_BUSY}
			}
			return nil
		}
	})
	op := largeInsert(1, 10, 1)
	for again := range 2 {
		if err := <-restore(s, op); (err == nil) != (again == 1) {
			t.Fatalf("time %d: %v", again, err)
		}
		drain(s) // until then changes still count as queued behind the failed one
	}
	if got := stored(t, s); len(got) != 1 {
		t.Errorf("stored are %v", got)
	}
}

// While the checkpointer is at work on a log that is nearly full, a large body waits and small changes go on.
func TestPassing_SmallChangesGoOnWhileTheLogIsCopied(t *testing.T) {
	s := newStore(t)
	wait(t, s, putQueue(2, "two"))
	onWriter(s, func() {
		s.writer.disk.free = func() (int64, bool) { return 64 << 20, true } // of which a sixteenth is the log's
		s.writer.disk.look()
	})
	s.checkpointer.running.Lock() // it copies, and copies
	copying := true
	end := func() {
		if copying {
			copying = false
			s.checkpointer.running.Unlock()
		}
	}
	defer end()
	large := begin(s, into(1, insertOp(10, 1, make([]byte, 12<<20))))
	for seq := range int64(10) {
		small := begin(s, smallInsert(2, 100+seq, seq+1))
		select {
		case err := <-small:
			if err != nil {
				t.Fatal(err)
			}
		case err := <-large:
			t.Fatalf("the large body was written (%v) while the log could not be restarted", err)
		case <-time.After(10 * time.Second):
			t.Fatalf("small change %d waits", seq)
		}
		if seq == 0 {
			for !s.checkpointer.restartPending.Load() {
				time.Sleep(time.Millisecond)
			}
		}
	}
	end()
	if err := <-large; err != nil {
		t.Fatal(err)
	}
	if got := stored(t, s); len(got) != 11 {
		t.Errorf("%d messages are stored, want 11", len(got))
	}
}
