package store

import (
	"errors"
	"strings"
	"testing"
)

// asked returns what Health says once the writer has looked again.
func asked(s *Store) error {
	_ = s.Health()
	drain(s)
	drain(s) // the writer looks before it takes this
	return s.Health()
}

// TestHealth_OfAFullDiskIsTold from the first refused message until there is space, even if no client tries again.
func TestHealth_OfAFullDiskIsTold(t *testing.T) {
	t.Parallel()
	for name, makeRoom := range map[string]func(t *testing.T, s *Store, more func()){
		"messages are received": func(t *testing.T, s *Store, _ func()) {
			for i := range int64(200) {
				wait(t, s, removeOp(10+i))
			}
		},
		"space is freed": func(_ *testing.T, _ *Store, more func()) { more() },
		"a message fits": func(t *testing.T, s *Store, more func()) {
			more()
			wait(t, s, insertOp(100_000, lastSeq(t, s, 1)+1, nil))
			if err := s.Health(); err != nil {
				t.Errorf("at once: %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			left := smallDisk(s, 8<<20)
			if err := asked(s); err != nil {
				t.Errorf("while there is space: %v", err)
			}
			fillUp(t, s)
			for range 3 {
				err := asked(s)
				if err == nil || !strings.HasSuffix(err.Error(), "Receive messages, or free space there.") {
					t.Fatalf("of a full disk: %v", err)
				}
			}
			makeRoom(t, s, func() { left.Store(1 << 30) })
			if err := asked(s); err != nil {
				t.Errorf("when there is space again: %v", err)
			}
		})
	}
}

// TestHealth_OfWritesThatFailIsTold until one succeeds. The store tries by itself: clients may wait until it is
// healthy.
func TestHealth_OfWritesThatFailIsTold(t *testing.T) {
	s := newStore(t)
	onWriter(s, func() { s.beforeCommit = func() error { return errors.New("the disk is on fire") } })
	for i := range int64(2) {
		if err := <-begin(s, insertOp(10, 1, nil)); err == nil {
			t.Fatal("stored")
		}
		err := asked(s)
		if err == nil || err.Error() != "The message store could not be written: the disk is on fire." {
			t.Errorf("problem %d: %v", i, err)
		}
	}
	onWriter(s, func() { s.beforeCommit = nil })
	if err := asked(s); err != nil {
		t.Errorf("when it is out: %v", err)
	}
	wait(t, s, insertOp(10, 1, nil))

	onWriter(s, func() { s.beforeCommit = func() error { s.beforeCommit = nil; return errors.New("a hiccup") } })
	if err := <-begin(s, insertOp(11, 2, nil)); err == nil {
		t.Fatal("stored")
	}
	drain(s) // else the next one may still fail with it
	wait(t, s, insertOp(11, 2, nil))
	if err := s.Health(); err != nil {
		t.Errorf("after a write that succeeded: %v", err)
	}
}

// TestHealth_IsNoneOfAMessageThatCannotBeStored: only its sender gets an error.
func TestHealth_IsNoneOfAMessageThatCannotBeStored(t *testing.T) {
	s := newStore(t)
	wait(t, s, insertOp(10, 1, nil))
	if err := <-begin(s, insertOp(10, 2, nil)); err == nil {
		t.Fatal("two messages have one row")
	}
	if err := s.Health(); err != nil {
		t.Error(err)
	}
}
