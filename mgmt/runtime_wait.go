package mgmt

import (
	"context"
	"net/http"
	"time"

	"minibus/emulator"
)

// errClientGone ends a request whose client has gone, or whose server is shutting down.
var errClientGone = problemf(http.StatusServiceUnavailable, "SubCode=50004. The server is shutting down. ")

// waiter waits for one message. A lock belongs to its token, not to the consumer, so it outlives the consumer (LOCK-10).
type waiter struct {
	entity *emulator.Entity
	sub    emulator.SubQueue
	mode   emulator.ReceiveMode
	who    *emulator.Who

	ready    chan struct{} // the consumer may have a message
	changed  chan change   // the entity was changed or deleted
	consumer *emulator.Consumer
	taken    *emulator.Delivery
	over     bool // the time is up
}

// change is a change of the entity, with the reason for which a link would be detached; nil: none.
type change struct{ reason error }

// next returns a delivery that is ready to be written, or nil if none came in time. It measures real time (DEC-35). If the client
// goes away, next gives the message back.
func (w *waiter) next(ctx context.Context, wait time.Duration) (*emulator.Delivery, error) {
	unwatch := w.entity.Watch(w.sub, w.tell)
	defer unwatch()
	var err error
	if w.consumer, err = w.entity.NewConsumer(w.sub, w.mode, w.notify); err != nil {
		return nil, err
	}
	w.consumer.Introduce(w.who)
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	for {
		if ctx.Err() != nil {
			return nil, w.giveUp()
		}
		if d := w.look(); d != nil || w.taken == nil && w.over {
			return d, nil
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

// look takes a message, unless it has one, and returns it once it can be written: the store may first have to read its body
// or commit its removal. After the time is up look takes no more messages, but still returns the one it has.
func (w *waiter) look() *emulator.Delivery {
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

// tell passes on a change of the entity; only the last one counts.
func (w *waiter) tell(err error) {
	select {
	case <-w.changed:
	default:
	}
	select {
	case w.changed <- change{err}:
	default:
	}
}

// notify wakes next. It does not block, because the entity calls it under its mutex.
func (w *waiter) notify() {
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// allowed returns nil if the wait goes on after a change of the entity. It keeps the consumer, because a new one might be
// refused (QUO-12). A message taken before the change still goes to the client, unless the entity was deleted.
func (w *waiter) allowed(c change) error {
	if hasCode(c.reason, emulator.CodeNotFound) {
		return c.reason
	}
	if w.taken != nil {
		return nil
	}
	return w.consumer.Err()
}

func (w *waiter) take() *emulator.Delivery {
	var one [1]*emulator.Delivery
	if ds := w.consumer.Take(one[:0], 1); len(ds) > 0 {
		return ds[0]
	}
	return nil
}

func (w *waiter) giveUp() error {
	if w.taken != nil {
		w.consumer.Return([]*emulator.Delivery{w.taken})
	}
	return errClientGone
}
