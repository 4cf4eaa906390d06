package main

import (
	"sync"
	"time"
)

// settling is how long after a fault operations may still fail for it.
const settling = 2 * time.Second

// trouble knows when faults happened, so that errors can be told from those that have no reason.
type trouble struct {
	mu     sync.Mutex
	open   int       // faults that last
	last   time.Time // when one ended
	broken time.Time // when connections ended last
	abrupt time.Time // when they ended last without a word, by kill -9 or a reset
}

// begin notes the beginning of a fault; the returned function notes its end.
func (t *trouble) begin() (end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.open--
		t.last = time.Now()
	}
}

// breaking notes that connections are about to end, abruptly or with a word.
func (t *trouble) breaking(abrupt bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.broken = time.Now()
	if abrupt {
		t.abrupt = t.broken
	}
}

// excuses reports whether an operation that began at a time may have failed.
func (t *trouble) excuses(began time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	began = began.Add(-settling)
	return t.open > 0 || t.last.After(began) || t.broken.After(began)
}

// brokenSince reports whether connections ended since a time.
func (t *trouble) brokenSince(began time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.broken.After(began.Add(-settling))
}

// abruptSince reports whether connections ended without a word since a time.
func (t *trouble) abruptSince(began time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.abrupt.After(began)
}
