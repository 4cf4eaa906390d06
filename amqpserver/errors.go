package amqpserver

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"minibus/amqpserver/management"
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
	"minibus/internal/loglimit"
	"minibus/internal/printable"
)

// maxDescription bounds the error descriptions that we write, in bytes.
const maxDescription = 1024

// amqpError is an error in the protocol's terms.
type amqpError struct {
	condition amqp.Symbol
	text      string
	entity    string // path of the entity concerned, if any
	ends      scope
	detaches  bool // a refused delivery's link ends too [AMQP 2.7.3]
}

// scope says what an error ends that a frame's handler returns.
type scope uint8

const (
	endsConn scope = iota
	endsSession
	endsLink
)

func (e amqpError) Error() string { return string(e.condition) + ": " + e.text }

func linkErrorf(condition amqp.Symbol, format string, args ...any) error {
	return amqpError{condition: condition, text: fmt.Sprintf(format, args...), ends: endsLink}
}

func sessionErrorf(condition amqp.Symbol, format string, args ...any) error {
	return amqpError{condition: condition, text: fmt.Sprintf(format, args...), ends: endsSession}
}

func connErrorf(condition amqp.Symbol, format string, args ...any) error {
	return amqpError{condition: condition, text: fmt.Sprintf(format, args...)}
}

// amqpErrorOf translates an error into the protocol's terms. If neither the domain nor this package made it, the client
// learns only that it was an internal error.
func amqpErrorOf(err error) amqpError {
	var failure amqpError
	var de *emulator.Error
	switch {
	case errors.As(err, &failure):
	case errors.As(err, &de):
		failure.condition = management.Condition(de.Code)
		failure.text = de.Text
		failure.entity = de.Entity
		failure.detaches = de.Code == emulator.CodeMessageTooLarge
	default:
		failure.condition = amqp.CondInternal
		failure.text = "The service was unable to process the request; please retry the operation."
	}
	return failure
}

// lockLost refuses a delivery of an entity whose lock has ended.
func lockLost(entity string) amqpError {
	return amqpError{condition: amqp.CondMessageLockLost, text: emulator.LockLostText, entity: entity}
}

// trackingSuffix returns the text that ends every error description of the service (ERR-9). Users quote it in support
// requests, and tools search for it.
func (c *conn) trackingSuffix(entity string) string {
	tracker := c.ns.Name()
	kind, _ := c.ns.Kind(entity)
	switch {
	case entity == "":
	case strings.HasPrefix(entity, tracker+":"):
		tracker = entity // the full name of a subscription or of a rule
	case kind == emulator.KindTopic:
		tracker += ":Topic:" + entity
	default:
		tracker += ":Queue:" + entity
	}
	return fmt.Sprintf(" TrackingId:%s_G0_B0, SystemTracker:%s, Timestamp:%s",
		uuid.NewString(), tracker, time.Now().UTC().Format("2006-01-02T15:04:05"))
}

// wireError returns an error as the peer reads it, with the text cut to the peer's frame size.
func (c *conn) wireError(failure amqpError) *frames.Error {
	limit := min(maxDescription, c.peer.maxFrame-frameOverhead)
	entity := failure.entity
	if failure.condition == amqp.CondUnauthorized {
		entity = "" // its kind would reveal that it exists
	}
	text := strings.TrimSuffix(failure.text, ".") + "."
	suffix := c.trackingSuffix(entity)
	if len(suffix) > limit/2 {
		suffix = ""
	}
	text = printable.Cut(text, max(limit-len(suffix), 0))
	return &frames.Error{Condition: failure.condition, Description: text + suffix}
}

// frameOverhead is an upper bound for what surrounds an error's description in its frame.
const frameOverhead = 128

// fail handles the error of a frame's handler, which says whether link, session or connection ends. Any error but an
// amqpError is a mistake of ours and ends the connection. (A refused attach is no error of its frame; see refuseLink.)
func (c *conn) fail(in *inFrame, err error) {
	failure := amqpErrorOf(err)
	s := c.sessions.open[in.channel]
	switch {
	case s != nil && failure.ends == endsLink: // only handlers of transfers fail so
		if l, err := s.linkOf(in.transfer.Handle); err == nil {
			l.detach(failure)
		}
	case s != nil && failure.ends == endsSession:
		c.log.ended("session", failure)
		s.endWith(failure)
	default:
		c.close(err)
	}
}

// close sends close with an error and waits a little for the peer's. If open has not been sent it is sent first
// [AMQP 2.4.6].
func (c *conn) close(err error) {
	if c.state >= stateClosing {
		return
	}
	c.log.ended("connection", causeOf("", err))
	c.flushOutcomes()
	c.releaseLinks()
	clear(c.sessions.open)
	c.runQueue = runQueue{}
	c.sendOpen(&frames.Open{Properties: amqp.Map{{Key: amqp.Symbol(keyFailed), Value: true}}})
	closing := &frames.Close{Error: c.wireError(amqpErrorOf(err))}
	c.trace.frame(traceOut, 0, closing, 0)
	c.out.buf = frames.AppendFrame(c.out.buf, 0, closing) // write would close once more if it is too large
	c.state = stateClosing
	c.linger()
}

// connLog writes the log of one connection.
type connLog struct {
	*slog.Logger
	refusals *loglimit.Limiter
}

// refused logs an operation that was refused or failed, once, here at the edge.
func (l *connLog) refused(operation string, failure amqpError) {
	l.logError(operation+" refused", operation, operation, failure)
}

// refusedErr logs an error as the domain returned it. The log has the cause of an internal error; the client does not
// learn it.
func (l *connLog) refusedErr(operation, entity string, err error) {
	l.refused(operation, causeOf(entity, err))
}

// refusedRequest does the same for a request to $management; operation is the client's name for it.
func (l *connLog) refusedRequest(operation, entity string, err error) {
	l.logError(operation+" refused", "request", operation, causeOf(entity, err))
}

// ended logs that we end a connection, session or link.
func (l *connLog) ended(scope string, failure amqpError) {
	l.logError(scope+" closed", scope+" closed", scope, failure)
}

// logError logs an error, unless the limit for its kind and condition is reached: a flood of one kind does not hide the
// first of another. Internal errors are never dropped: only the log has their cause. rest holds further attributes.
func (l *connLog) logError(message, kind, operation string, failure amqpError, rest ...any) {
	level := slog.LevelWarn
	switch failure.condition {
	case amqp.CondInternal:
		level = slog.LevelError
	case amqp.CondForced, amqp.CondDetachForced, amqp.CondTimeout:
		level = slog.LevelInfo
	}
	if !l.may(level, kind+" "+string(failure.condition)) {
		return
	}
	attributes := []any{"operation", operation, "entity", failure.entity,
		"condition", string(failure.condition), "reason", failure.text}
	l.Log(noContext, level, message, append(attributes, rest...)...)
}

func (l *connLog) may(level slog.Level, kind string) bool {
	switch level {
	case slog.LevelWarn:
		return l.refusals.Take(kind)
	case slog.LevelInfo:
		return l.refusals.TakeAccess(kind)
	}
	return true
}

// causeOf returns an error for the log, with the cause of an internal error.
func causeOf(entity string, err error) amqpError {
	failure := amqpErrorOf(err)
	if failure.entity == "" {
		failure.entity = entity
	}
	if failure.condition == amqp.CondInternal {
		failure.text = err.Error()
	}
	return failure
}
