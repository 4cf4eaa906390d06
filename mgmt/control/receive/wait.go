package receive

import (
	"context"
	"errors"
	"time"

	"minibus/emulator"
)

// ErrGone ends a wait whose client has gone, or whose server is shutting down.
var ErrGone = errors.New("the client has gone, or the server is shutting down")

// Waiter receives messages one by one. A lock belongs to its token, not to the waiter, so it outlives the waiter
// (LOCK-10). Its methods must not be called from two goroutines at once.
type Waiter struct {
	entity *emulator.Entity
	sub    emulator.SubQueue
	mode   emulator.ReceiveMode
	client *emulator.Client

	session *Session // nil: none

	ready    chan struct{} // the consumer may have a message
	changed  chan change   // the entity was changed or deleted, or the session lost
	unwatch  func()
	consumer *emulator.Consumer
	taken    *emulator.Delivery
	over     bool // the time is up

	budget MemoryBudget // nil: any message may be taken
	done   func()       // gives back what budget gave; nil: nothing
}

// MemoryBudget waits until a message of so many bytes may be in memory. It returns what gives the bytes back, or an
// error when the time is up or ctx ends.
type MemoryBudget func(ctx context.Context, bytes int, wait time.Duration) (done func(), err error)

const (
	freely    = 1 << 20     // bytes of a message that does not count
	lookAgain = time.Second // while it waits for memory: its message may have gone elsewhere
)

// change is a change of the entity, with the reason for which a link would be detached; nil: none.
type change struct {
	reason error
	lost   bool // it is the session that is lost
}

// New returns a waiter of a client on a sub-queue, which Close ends.
func New(entity *emulator.Entity, sub emulator.SubQueue, mode emulator.ReceiveMode, client *emulator.Client) *Waiter {
	return &Waiter{
		entity:  entity,
		sub:     sub,
		mode:    mode,
		client:  client,
		ready:   make(chan struct{}, 1),
		changed: make(chan change, 1),
		unwatch: func() {},
	}
}

// Bound makes Next ask the budget before it takes a message of more than 1 MiB. Close gives the bytes back. Call Bound
// before Next.
func (w *Waiter) Bound(budget MemoryBudget) { w.budget = budget }

// Next returns a delivery that is ready to be written, or nil if none came in time. It measures real time (DEC-35).
// If the client goes away, Next gives the message back and fails with [ErrGone].
func (w *Waiter) Next(ctx context.Context, wait time.Duration) (*emulator.Delivery, error) {
	until := time.Now().Add(wait)
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	if err := w.open(ctx, deadline.C); err != nil || w.consumer == nil {
		return nil, err
	}
	w.over = false
	for {
		if ctx.Err() != nil {
			return nil, w.giveUp()
		}
		if d := w.look(); d != nil || w.taken == nil && w.over {
			w.taken = nil
			return d, nil
		}
		if w.taken == nil {
			w.freeMemory() // what it was for went to another receiver
			if size := w.consumer.OverLimit(); size > 0 {
				if err := w.awaitMemory(ctx, size, time.Until(until)); err != nil {
					return nil, err
				}
				continue
			}
		}
		select {
		case <-w.ready:
		case <-deadline.C:
			w.over = true
		case c := <-w.changed:
			if err := w.allowed(c); err != nil {
				return nil, err
			}
		case <-ctx.Done():
		}
	}
}

// Open waits for the session, if there is to be one, and returns the consumer, or nil if no session was free in time.
func (w *Waiter) Open(ctx context.Context, wait time.Duration) (*emulator.Consumer, error) {
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	err := w.open(ctx, deadline.C)
	return w.consumer, err
}

// open makes the consumer, unless there is one. It is nil if no session was free in time.
func (w *Waiter) open(ctx context.Context, deadline <-chan time.Time) (err error) {
	if w.consumer != nil {
		return nil
	}
	w.watch()
	if w.session != nil {
		if w.consumer, err = w.session.accept(ctx, w, deadline); w.consumer != nil {
			w.session.ID, _ = w.consumer.SessionID()
		}
		return err
	}
	if w.consumer, err = w.entity.NewConsumer(w.sub, w.mode, w.notify); err == nil {
		w.consumer.Introduce(w.client)
		if w.budget != nil {
			w.consumer.Limit(freely)
		}
	}
	return err
}

// awaitMemory waits until the next message, which has that size, may be taken, or may not be the next one any more.
func (w *Waiter) awaitMemory(ctx context.Context, size int, wait time.Duration) error {
	done, err := w.budget(ctx, size, min(wait, lookAgain))
	switch {
	case err == nil:
		w.done = done
		w.consumer.Limit(size)
	case ctx.Err() == nil && wait <= lookAgain:
		return err
	}
	select {
	case c := <-w.changed:
		return w.allowed(c)
	default:
		return nil
	}
}

func (w *Waiter) freeMemory() {
	if w.done != nil {
		w.done()
		w.done = nil
		w.consumer.Limit(freely)
	}
}

// watch lets the waiter learn of changes of its entity, until unwatch.
func (w *Waiter) watch() {
	w.unwatch()
	w.unwatch = w.entity.Watch(w.sub, func(err error) { w.tell(change{reason: err}) })
}

// Return gives deliveries back that did not reach the client (LOCK-13, RAD-5): those of Next, and those that the
// client named by number.
func (w *Waiter) Return(ds ...*emulator.Delivery) {
	if w.consumer != nil {
		w.consumer.Return(ds)
		return
	}
	for _, d := range ds {
		d.Return()
	}
}

// Close ends the waiter. It frees its session, if it has one.
func (w *Waiter) Close() {
	w.unwatch()
	w.freeMemory()
	if w.session != nil {
		w.session.held.drop(w)
	}
	if w.consumer != nil {
		w.consumer.Close()
	}
}

// Leave ends the waiter but not the lock of its session, if it has one: until that ends, [Held] has it.
func (w *Waiter) Leave() {
	if w.session == nil || w.consumer == nil {
		w.Close()
		return
	}
	w.unwatch()
	w.consumer.Take(nil, 0)
	w.session.held.keep(w)
}

// look takes a message, unless it has one, and returns it once it can be written: the store may first have to read
// its body or commit its removal. After the time is up look takes no more messages, but still returns the one it has.
func (w *Waiter) look() *emulator.Delivery {
	for {
		if w.taken == nil && !w.over {
			w.taken = w.take()
		}
		if w.taken == nil {
			return nil
		}
		ready, gone := w.taken.Ready()
		switch {
		case ready:
			return w.taken
		case !gone:
			return nil
		}
		w.taken = nil // the message went elsewhere; take another one
	}
}

// tell passes on a change of the entity; only the last one counts, but a session that is lost stays so.
func (w *Waiter) tell(c change) {
	select {
	case old := <-w.changed:
		if old.lost {
			c = old
		}
	default:
	}
	select {
	case w.changed <- c:
	default:
	}
}

// notify wakes Next. It does not block, because the entity calls it under its mutex.
func (w *Waiter) notify() {
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// allowed returns nil if the wait goes on after a change of the entity. It keeps the consumer, because a new one
// might be refused (QUO-12). A message taken before the change still goes to the client, unless the entity was
// deleted.
func (w *Waiter) allowed(c change) error {
	var e *emulator.Error
	if c.lost || errors.As(c.reason, &e) && e.Code == emulator.CodeNotFound {
		return c.reason
	}
	if w.taken != nil {
		return nil
	}
	return w.consumer.Err()
}

func (w *Waiter) take() *emulator.Delivery {
	var one [1]*emulator.Delivery
	if ds := w.consumer.Take(one[:0], 1); len(ds) > 0 {
		return ds[0]
	}
	return nil
}

func (w *Waiter) giveUp() error {
	if w.taken != nil {
		w.Return(w.taken)
		w.taken = nil
	}
	return ErrGone
}
