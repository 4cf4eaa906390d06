package mgmt

import (
	"context"
	"net/http"
	"time"

	"minibus/emulator"
)

// errClientGone ends a request whose client does not hear the answer, or whose server is being shut down.
var errClientGone = problemf(http.StatusServiceUnavailable, "SubCode=50004. The server is shutting down. ")

// waiter waits for one message. A lock belongs to nobody but its token, so it stays when the consumer is closed (LOCK-10).
type waiter struct {
	queue *emulator.Entity
	sub   emulator.SubQueue
	mode  emulator.ReceiveMode

	ready    chan struct{} // the consumer wants to be asked
	changed  chan change   // the entity was changed or deleted
	consumer *emulator.Consumer
	taken    *emulator.Delivery
	over     bool // the time is
}

// change is why a link would be detached.
type change struct{ reason error }

// next returns a delivery that is ready to be written, or nil if none came in time. The time is the real one (DEC-35). A
// message that was taken for a client that has gone is given back.
func (w *waiter) next(ctx context.Context, wait time.Duration) (*emulator.Delivery, error) {
	unwatch := w.queue.Watch(w.sub, w.tell)
	defer unwatch()
	var err error
	if w.consumer, err = w.queue.NewConsumer(w.sub, w.mode, w.notify); err != nil {
		return nil, err
	}
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

// look takes a message, unless there is one, and returns it once it can be written: its body may have to be read before,
// or its removal written. When the time is over that is still waited for, but nothing is taken any more.
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
		w.taken = nil // its message went elsewhere; another one may be there
	}
}

// tell hears of changes of the entity; only the last one counts.
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

// notify may run under the queue's mutex.
func (w *waiter) notify() {
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// allowed reports whether the wait goes on after a change of the entity. Its consumer stays: a new one could find that there
// is no room for it (QUO-12). A message that was taken before the change is the client's all the same.
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
