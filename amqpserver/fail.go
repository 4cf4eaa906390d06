package amqpserver

import (
	"errors"
	"log/slog"

	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// fail handles the error of a frame's handler: its type says whether link, session or connection ends. Any other error
// is a mistake of ours and ends the connection. (A refused attach is no
// error of its frame; see refuseLink.)
func (c *conn) fail(in *inFrame, err error) {
	var (
		le linkError
		se sessionError
	)
	s := c.sessions[in.channel]
	switch {
	case s != nil && errors.As(err, &le):
		if e, err := s.endpoint(in.handle()); err == nil {
			s.detach(e, le.fault)
		}
	case s != nil && errors.As(err, &se):
		c.logEnd("session", se.fault)
		s.endWith(se.fault)
	default:
		c.close(err)
	}
}

// handle returns the handle of a frame's link; only handlers of transfers fail with a linkError.
func (in *inFrame) handle() uint32 {
	if t, ok := in.other.(*frames.Transfer); ok {
		return t.Handle
	}
	return in.transfer.Handle
}

// close sends close with an error and waits a little for the peer's. If open has not been sent it is sent first
// [AMQP 2.4.6].
func (c *conn) close(err error) {
	if c.state >= stateClosing {
		return
	}
	c.logEnd("connection", causeOf("", err))
	c.flushDispositions()
	c.letGo()
	clear(c.sessions)
	c.runnable, c.awaiting = nil, nil
	c.sendOpen()
	c.append(0, &frames.Close{Error: c.wireError(faultOf(err))})
	c.state = stateClosing
	c.linger()
}

// refused logs an operation that was refused or failed, once, here at the edge.
func (c *conn) refused(operation string, f fault) {
	c.logFault(operation+" refused", operation, operation, f)
}

// refusedErr logs an error as the domain returned it. The log has the cause of an internal error; the client does not
// learn it.
func (c *conn) refusedErr(operation, entity string, err error) {
	c.refused(operation, causeOf(entity, err))
}

// refusedRequest does the same for a request to $management; operation is the client's name for it.
func (c *conn) refusedRequest(operation, entity string, err error) {
	c.logFault(operation+" refused", "request", operation, causeOf(entity, err))
}

// logEnd logs that we end a connection, session or link.
func (c *conn) logEnd(scope string, f fault) { c.logFault(scope+" closed", scope+" closed", scope, f) }

// logFault logs a fault, unless the limit for its kind and condition is reached: a flood of one kind does not hide the first of
// another. Internal errors are never dropped: only the log has their cause. rest holds further attributes.
func (c *conn) logFault(message, kind, operation string, f fault, rest ...any) {
	level := slog.LevelWarn
	switch f.condition {
	case amqp.CondInternal:
		level = slog.LevelError
	case amqp.CondForced, amqp.CondDetachForced, amqp.CondTimeout:
		level = slog.LevelInfo
	}
	if !c.mayLog(level, kind+" "+string(f.condition)) {
		return
	}
	attributes := append([]any{"operation", operation, "entity", f.entity, "condition", string(f.condition), "reason", f.text}, rest...)
	c.log.Log(noContext, level, message, attributes...)
}

// mayLog reports whether one more line of a kind may be written.
func (c *conn) mayLog(level slog.Level, kind string) bool {
	switch level {
	case slog.LevelWarn:
		return c.srv.options.Refusals.Take(kind)
	case slog.LevelInfo:
		return c.srv.options.Refusals.TakeAccess(kind)
	}
	return true
}

// causeOf returns a fault for the log, with the cause of an internal error.
func causeOf(entity string, err error) fault {
	f := faultOf(err)
	if f.entity == "" {
		f.entity = entity
	}
	if f.condition == amqp.CondInternal {
		f.text = err.Error()
	}
	return f
}
