package receive

import (
	"context"
	"time"

	"github.com/google/uuid"

	"minibus/emulator"
)

// Session is the session from which to receive.
type Session struct {
	ID   string // unless Next; then it is set once there is one
	Next bool   // the next one that is free

	held  *Held
	token string
	// guarded by held.mu
	busy bool // a request is receiving
	lost bool // the lock has ended
}

// NewSession is New for messages of a session. Leave keeps its lock among those that are held.
func NewSession(
	entity *emulator.Entity, mode emulator.ReceiveMode, client *emulator.Client, s Session, held *Held,
) *Waiter {
	w := New(entity, emulator.Main, mode, client)
	s.held, s.token = held, uuid.NewString()
	w.session = &s
	return w
}

// Session returns the id of the waiter's session, the token of its lock and when that ends, in milliseconds since the
// Unix epoch. It is not ok without a session that was locked.
func (w *Waiter) Session() (id, token string, until int64, ok bool) {
	if w.session == nil || w.consumer == nil {
		return "", "", 0, false
	}
	return w.session.ID, w.session.token, w.consumer.SessionLockedUntil(), true
}

// Renew lets the lock of the session end one lock duration from now and returns when that is, in milliseconds since
// the Unix epoch. It may be called while Next waits.
func (w *Waiter) Renew() (until int64, err error) { return w.consumer.RenewSession() }

// Release frees the session at once. What was received and not settled is available again, as if it had not been
// delivered. It may be called while Next waits, which ends.
func (w *Waiter) Release() {
	w.session.held.drop(w)
	w.consumer.Close()
	w.tell(change{emulator.SessionLockLost(w.entity.Path()), true})
}

// accept locks the session. It returns nil if none is free in time.
func (s *Session) accept(ctx context.Context, w *Waiter, deadline <-chan time.Time) (*emulator.Consumer, error) {
	a := emulator.Accept{Mode: w.mode, Notify: w.notify, Client: w.client, Lost: func(err error) {
		s.held.drop(w)
		w.tell(change{err, true})
	}}
	if !s.Next {
		return w.entity.Sessions().Accept(s.ID, a)
	}
	granted := make(chan *emulator.Consumer, 1)
	cancel, err := w.entity.Sessions().AcceptNext(a, func(c *emulator.Consumer) { granted <- c })
	if err != nil {
		return nil, err
	}
	for {
		select {
		case c := <-granted:
			return c, nil
		case <-w.changed:
			if err = w.entity.CanReceive(w.sub); err == nil {
				continue
			}
		case <-deadline:
		case <-ctx.Done():
			err = ErrGone
		}
		break
	}
	cancel()
	select {
	case c := <-granted: // it came meanwhile
		if err == nil {
			return c, nil
		}
		c.Close()
	default:
	}
	return nil, err
}
