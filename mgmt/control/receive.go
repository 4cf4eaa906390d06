package control

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"minibus/emulator"
	"minibus/internal/amqp/messagejson"
	"minibus/mgmt/control/receive"
)

// longestWait is how long a request waits at most.
const longestWait = time.Minute

// Waiting is an argument of operations that wait.
type Waiting string

// duration returns how long to wait; the document's pattern has been checked.
func (w Waiting) duration() (time.Duration, error) {
	if w == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(string(w))
	if err != nil || d > longestWait {
		return 0, badRequest("wait: %q is not a time of at most 60s.", string(w))
	}
	return d, nil
}

// receiving says what to receive.
type receiving struct {
	Max             int     `json:"max,omitempty" minimum:"1" maximum:"64" default:"1" doc:"The most messages"`
	Wait            Waiting `json:"wait,omitempty" pattern:"^[0-9]{1,5}(ms|s)$" default:"0s" example:"10s" doc:"How long to wait for the first one, at most 60s"`
	Mode            string  `json:"mode,omitempty" enum:"peekLock,receiveAndDelete" default:"peekLock"`
	Session         *string `json:"session,omitempty" doc:"The id of the session, on an entity that requires sessions"`
	NextSession     bool    `json:"nextSession,omitempty" doc:"The next session that is free, instead of session"`
	SequenceNumbers []int64 `json:"sequenceNumbers,omitempty" nullable:"false" maxItems:"250" doc:"Deferred messages, all or none, instead of active ones"`
}

// heldSession is a session that a receive has locked.
type heldSession struct {
	ID          string    `json:"id"`
	LockedUntil time.Time `json:"lockedUntil"`
}

// receipt is the answer to a receive.
type receipt struct {
	Messages []*messagejson.Message `json:"messages" nullable:"false" doc:"None, if none came in time"`
	Session  *heldSession           `json:"session,omitempty" doc:"The session of the messages. It stays locked until lockedUntil, or until it is broken"`
}

// receive registers the operations that receive and settle.
func (a *api) receive() {
	tags := []string{"receive"}
	register(a, huma.Operation{
		OperationID: "receiveMessages", Method: http.MethodPost, Path: "namespaces/{namespace}/entities/{entity}/receive", Tags: tags,
		Summary: "Receives messages, and waits for the first one",
		Description: "With mode peekLock the messages are locked as long as the entity's LockDuration says, and settled or renewed by their lockToken. A session stays " +
			"locked as long, so that its messages can be settled; breaking its lock frees it before. With mode receiveAndDelete they are removed. " +
			"If the client goes away while the request waits, no message is taken.",
	}, a.receiveMessages, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict)
	register(a, huma.Operation{
		OperationID: "settleMessages", Method: http.MethodPost, Path: "namespaces/{namespace}/entities/{entity}/settle", Tags: tags, DefaultStatus: http.StatusNoContent,
		Summary:     "Completes, abandons, defers, dead-letters or releases locked messages, all or none",
		Description: "Any client's lock can be settled by its token. The answer comes when the change is durable.",
	}, a.settle, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge)
	register(a, huma.Operation{
		OperationID: "renewLocks", Method: http.MethodPost, Path: "namespaces/{namespace}/entities/{entity}/renew", Tags: tags,
		Summary: "Renews the locks of messages, all or none",
	}, a.renew, http.StatusBadRequest, http.StatusNotFound, http.StatusConflict)
}

func (a *api) receiveMessages(ctx context.Context, in *struct {
	AtEntity
	Body receiving
}) (*struct{ Body receipt }, error) {
	e, sub, err := in.find(a)
	if err != nil {
		return nil, err
	}
	mode := emulator.PeekLock
	if in.Body.Mode == "receiveAndDelete" {
		mode = emulator.ReceiveAndDelete
	}
	wait, err := in.Body.Wait.duration()
	if err != nil {
		return nil, err
	}
	w := receive.New(e, sub, mode, in.who)
	if in.Body.Session != nil || in.Body.NextSession {
		if in.Body.Session != nil && in.Body.NextSession || sub != emulator.Main {
			return nil, badRequest("Name a session or ask for the next one, and not of a dead-letter queue, which has no sessions.")
		}
		s := receive.Session{Next: in.Body.NextSession}
		if !s.Next {
			s.ID = *in.Body.Session
		}
		w = receive.NewSession(e, mode, in.who, s)
	}
	out, err := in.Body.from(ctx, w, wait, func(holder *emulator.Consumer) ([]*emulator.Delivery, error) {
		return deferred(e, sub, in.Body.SequenceNumbers, mode, holder)
	})
	if out.Session == nil || err != nil || mode == emulator.ReceiveAndDelete {
		w.Close()
	} else {
		w.Leave()
	}
	if errors.Is(err, receive.ErrGone) {
		err = newError(http.StatusServiceUnavailable, nil, "The server is shutting down, or the client has gone.")
	}
	if err != nil {
		return nil, err
	}
	return &struct{ Body receipt }{out}, nil
}

// from receives from a waiter.
func (r *receiving) from(ctx context.Context, w *receive.Waiter, wait time.Duration, byNumber func(*emulator.Consumer) ([]*emulator.Delivery, error)) (out receipt, err error) {
	out.Messages = []*messagejson.Message{}
	var ds []*emulator.Delivery
	if len(r.SequenceNumbers) > 0 {
		var holder *emulator.Consumer
		if r.Session != nil || r.NextSession {
			if holder, err = w.Open(ctx, wait); err != nil || holder == nil {
				return out, err
			}
		}
		ds, err = byNumber(holder)
	} else {
		ds, err = r.next(ctx, w, wait)
	}
	if err != nil {
		return out, err
	}
	for _, d := range ds {
		m, err := shownReceived(d)
		if err != nil {
			return out, err
		}
		out.Messages = append(out.Messages, m)
	}
	if c := w.Consumer(); c != nil && len(ds) > 0 {
		if id, ok := c.SessionID(); ok {
			out.Session = &heldSession{id, time.UnixMilli(c.SessionLockedUntil()).UTC()}
		}
	}
	return out, nil
}

// next receives active messages. It waits for the first one only.
func (r *receiving) next(ctx context.Context, w *receive.Waiter, wait time.Duration) (ds []*emulator.Delivery, err error) {
	for len(ds) < r.Max {
		d, err := w.Next(ctx, wait)
		if err != nil && len(ds) > 0 && ctx.Err() != nil {
			w.Return(ds...)
			return nil, err
		}
		if d == nil { // what came before the end of the wait, or an error, is the client's
			if len(ds) > 0 {
				return ds, nil
			}
			return nil, err
		}
		ds, wait = append(ds, d), 0
	}
	return ds, nil
}

// deferred receives deferred messages.
func deferred(e *emulator.Entity, sub emulator.SubQueue, seqs []int64, mode emulator.ReceiveMode, holder *emulator.Consumer) (ds []*emulator.Delivery, err error) {
	done := make(completion, 1)
	err = done.wait(e.ReceiveDeferred(sub, seqs, mode, holder, func(list []*emulator.Delivery, err error) {
		ds = list
		done.Completed(err)
	}))
	return ds, err
}

// completion waits until the broker has made an operation durable.
type completion chan error

// Completed implements [emulator.Completion].
func (c completion) Completed(err error) { c <- err }

// wait returns the result of an operation whose start returned err.
func (c completion) wait(err error) error {
	if err != nil {
		return err
	}
	return <-c
}
