package main

import (
	"sync"
	"time"
)

// settling is how long after a fault operations may still fail because of it.
const settling = 2 * time.Second

// trouble records when faults happened, to explain errors.
type trouble struct {
	mu     sync.Mutex
	open   int       // faults under way
	last   time.Time // when the last one ended
	broken time.Time // when connections were last ended
	abrupt time.Time // when they were last ended abruptly, by kill -9 or a reset
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

// breaking notes that connections are about to end, abruptly or not.
func (t *trouble) breaking(abrupt bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.broken = time.Now()
	if abrupt {
		t.abrupt = t.broken
	}
}

// excuses reports whether a fault explains the failure of an operation that began at a time.
func (t *trouble) excuses(began time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	began = began.Add(-settling)
	return t.open > 0 || t.last.After(began) || t.broken.After(began)
}

// brokenSince reports whether connections were ended since a time.
func (t *trouble) brokenSince(began time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.broken.After(began.Add(-settling))
}

// abruptSince reports whether connections were ended abruptly since a time.
func (t *trouble) abruptSince(began time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.abrupt.After(began)
}
