package store

import (
	"sync"
	"sync/atomic"
)

// maxSpare is the capacity above which a buffer is not kept for the next round, so that memory is freed after a flood.
const maxSpare = 1 << 14

// inbox is an unbounded queue that one goroutine serves. put blocks no longer than its mutex.
// After close, a temporary goroutine hands items, in order, to a function: completions
// must not run on the caller's stack, since the caller may hold the lock that they need.
type inbox[T any] struct {
	wake chan struct{} // capacity one: there are items, or the inbox was closed
	done chan struct{} // closed when the serving goroutine has ended

	batches atomic.Int32 // callers that will look themselves at what they put in

	mu      sync.Mutex
	items   []T
	spare   []T // the other buffer, empty
	closed  bool
	late    func(T)
	lateRun bool
}

func (b *inbox[T]) init() {
	b.wake = make(chan struct{}, 1)
	b.done = make(chan struct{})
}

func (b *inbox[T]) put(v T) {
	b.mu.Lock()
	if b.closed {
		b.putLateLocked(v)
		b.mu.Unlock()
		return
	}
	b.items = append(b.items, v)
	first := len(b.items) == 1
	b.mu.Unlock()
	if first && b.batches.Load() == 0 {
		b.poke()
	}
}

// look calls f with what is queued, unless the inbox is closed. f must not keep it.
func (b *inbox[T]) look(f func(items []T)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		f(b.items)
	}
}

// isClosed reports whether close was called: the serving goroutine must end.
func (b *inbox[T]) isClosed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}

func (b *inbox[T]) poke() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take returns everything that is queued, without waiting. The slice is valid until the second next call of take.
func (b *inbox[T]) take() (items []T, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.takeLocked(), b.closed
}

func (b *inbox[T]) takeLocked() []T {
	items := b.items
	b.items = b.spare[:0]
	b.spare = items
	if cap(items) > maxSpare {
		b.spare = nil
	}
	return items
}

// takeIf is take if ok says yes to what is queued; else it returns nothing.
func (b *inbox[T]) takeIf(ok func(items []T) bool) (items []T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || !ok(b.items) {
		return nil
	}
	return b.takeLocked()
}

// close waits until the serving goroutine has finished what is queued and ended; late gets the items that come after.
func (b *inbox[T]) close(late func(T)) {
	b.mu.Lock()
	b.closed, b.late = true, late
	b.lateRun = true // start no late goroutine before the serving one has ended
	b.mu.Unlock()
	b.poke()
	<-b.done
	b.mu.Lock()
	b.lateRun = false
	if len(b.items) > 0 {
		b.startLateLocked()
	}
	b.mu.Unlock()
}

func (b *inbox[T]) putLateLocked(v T) {
	b.items = append(b.items, v)
	if !b.lateRun {
		b.startLateLocked()
	}
}

func (b *inbox[T]) startLateLocked() {
	b.lateRun = true
	go b.serveLate()
}

func (b *inbox[T]) serveLate() {
	for {
		b.mu.Lock()
		items := b.items
		b.items = nil
		if len(items) == 0 {
			b.lateRun = false
			b.mu.Unlock()
			return
		}
		b.mu.Unlock()
		for _, v := range items {
			b.late(v)
		}
	}
}
