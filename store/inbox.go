package store

import "sync"

// maxSpare is the capacity above which a buffer is not kept for the next round: after a flood, memory goes back.
const maxSpare = 1 << 14

// inbox is an unbounded queue with one goroutine that serves it. put never blocks for longer than a mutex takes.
// What is put after close is handed, in order, to a function on a goroutine that exists only meanwhile: completions
// must not run on the caller's stack, since the caller may hold the lock that they need.
type inbox[T any] struct {
	wake chan struct{} // capacity one: something is there, or the inbox was closed
	done chan struct{} // closed when the serving goroutine has ended

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
	if first {
		b.poke()
	}
}

// isClosed reports whether close was called: the serving goroutine is to come to an end.
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

// take returns everything that is queued, without waiting. The slice is valid until the next call but one of take.
func (b *inbox[T]) take() (items []T, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	items = b.items
	b.items = b.spare[:0]
	b.spare = items
	if cap(items) > maxSpare {
		b.spare = nil
	}
	return items, b.closed
}

// close lets the serving goroutine finish what is queued and waits until it has ended; late gets what comes after.
func (b *inbox[T]) close(late func(T)) {
	b.mu.Lock()
	b.closed, b.late = true, late
	b.lateRun = true // nobody is late before the goroutine has ended
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
