package receive

import (
	"context"
	"time"

	"minibus/emulator"
)

// Session is the session from which to receive.
type Session struct {
	ID   string // unless Next
	Next bool   // the next one that is free
}

// NewSession is New for messages of a session.
func NewSession(entity *emulator.Entity, mode emulator.ReceiveMode, who *emulator.Who, s Session) *Waiter {
	w := New(entity, emulator.Main, mode, who)
	w.session = &s
	return w
}

// accept locks the session. It returns nil if none is free in time.
func (s *Session) accept(ctx context.Context, w *Waiter, deadline <-chan time.Time) (*emulator.Consumer, error) {
	a := emulator.Accept{Mode: w.mode, Notify: w.notify, Lost: func(err error) { w.tell(change{err, true}) }, Who: w.who}
	if !s.Next {
		return w.entity.AcceptSession(s.ID, a)
	}
	granted := make(chan *emulator.Consumer, 1)
	cancel, err := w.entity.AcceptNextSession(a, func(c *emulator.Consumer) { granted <- c })
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
