package store

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"minibus/emulator"
)

// TestRemovalKeepsUpWithSnapshots: two clients save and restore snapshots without a pause, each in a namespace of its
// own. What that leaves is removed meanwhile.
func TestRemovalKeepsUpWithSnapshots(t *testing.T) {
	t.Parallel()
	inFileAndMemory(t, func(t *testing.T, o Options) {
		const messages, rounds = 600, 20
		s := mustOpen(t, filepath.Join(t.TempDir(), "a.db"), o)
		defer func() { _ = s.Close() }()
		newNamespace(t, s, 1, messages)
		newNamespace(t, s, 2, messages)
		var numbers sync.Mutex
		next := int64(2)
		draw := func() int64 {
			numbers.Lock()
			defer numbers.Unlock()
			next++
			return next
		}
		most := int64(0)
		var clients sync.WaitGroup
		for ns := int64(1); ns <= 2; ns++ {
			clients.Go(func() {
				last := int64(0)
				for range rounds {
					number := draw()
					begun, done := saving(s, ns, number, last)
					if err := begun(); err != nil {
						t.Error(err)
						return
					}
					if err := done(); err != nil {
						t.Error(err)
						return
					}
					if last = number; ns == 2 {
						if err := restoreCopy(s, ns, number, draw()); err != nil {
							t.Error(err)
							return
						}
					}
					numbers.Lock()
					most = max(most, count(t, s, "message"))
					numbers.Unlock()
				}
			})
		}
		clients.Wait()
		t.Logf("up to %d messages were stored", most)
		if limit := int64(9 * messages); most > limit {
			t.Errorf("up to %d messages were stored, of two namespaces and two snapshots with %d each", most, messages)
		}
	})
}

// TestRemovalKeepsUpBesideSnapshots: entities that are deleted while snapshots are saved without a pause are removed
// too.
func TestRemovalKeepsUpBesideSnapshots(t *testing.T) {
	t.Parallel()
	inFileAndMemory(t, func(t *testing.T, o Options) {
		const messages, rounds = 200, 40
		s := mustOpen(t, filepath.Join(t.TempDir(), "a.db"), o)
		defer func() { _ = s.Close() }()
		newNamespace(t, s, 1, messages)
		id := s.Journal(1).NextRow()
		most, last := int64(0), int64(0)
		for i := range int64(rounds) {
			number := 2 + i
			begun, done := saving(s, 1, number, last)
			if err := begun(); err != nil {
				t.Fatal(err)
			}
			queue := id
			wait(t, s, putQueue(queue, fmt.Sprint("more", i)))
			for k := range int64(messages) {
				begin(s, into(queue, insertOp(queue+1+k, 1+k, []byte("x"))))
			}
			id += messages + 1
			wait(t, s, emulator.Op{Kind: emulator.OpDeleteEntity, Entity: emulator.EntityRecord{ID: queue}})
			second := make(chan error, 1)
			go func() { second <- done() }()
			if err := <-second; err != nil {
				t.Fatal(err)
			}
			last = number
			most = max(most, count(t, s, "message"))
		}
		t.Logf("up to %d messages were stored", most)
		if limit := int64(9 * messages); most > limit {
			t.Errorf("up to %d messages were stored, of a queue, a snapshot and deleted queues with %d each",
				most, messages)
		}
	})
}

// TestRemovalThatLagsGetsItsTime: when clients have not paused for long, what is removed after a batch takes as long
// as the batch.
func TestRemovalThatLagsGetsItsTime(t *testing.T) {
	s := newStore(t)
	newNamespace(t, s, 2, 20*clearRows)
	left := func() int64 {
		n, err := s.writer.conn.queryInt("SELECT count(*) FROM message WHERE ns=2")
		if err != nil {
			t.Error(err)
		}
		return n
	}
	hold(s, func() {
		s.DeleteNamespace(2, nil)
		s.Flush(emulator.CompletionFunc(func(error) {
			w := s.writer
			afterBatch := func() (removed int64) {
				before := left()
				w.rounds, w.spent = busyBatchesPerStep, time.Second
				w.afterWork()
				return before - left()
			}
			if n := afterBatch(); n != 0 {
				t.Errorf("%d messages were removed although it does not lag", n)
			}
			w.sweeper.since = w.sweeper.since.Add(-lagsAfter - time.Second)
			if n := afterBatch(); n < clearRows { // on a slow machine one step takes as long as it may
				t.Errorf("%d messages were removed although it lags", n)
			}
			for w.sweeper.step() {
			}
			if w.sweeper.lags() {
				t.Error("it lags with nothing left")
			}
		}))
	})
	drain(s)
}
