package amqpserver

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"minibus/amqpserver/management"
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/frames"
)

// Error conditions: of the standard [AMQP 2.8.15 to 2.8.18] and the service's own (amqp-data-plane 9.1).
const (
	condInternal         amqp.Symbol = "amqp:internal-error"
	condUnauthorized     amqp.Symbol = "amqp:unauthorized-access"
	condDecode           amqp.Symbol = "amqp:decode-error"
	condResourceLimit    amqp.Symbol = "amqp:resource-limit-exceeded"
	condNotAllowed       amqp.Symbol = "amqp:not-allowed"
	condInvalidField     amqp.Symbol = "amqp:invalid-field"
	condNotImplemented   amqp.Symbol = "amqp:not-implemented"
	condIllegalState     amqp.Symbol = "amqp:illegal-state"
	condFrameTooSmall    amqp.Symbol = "amqp:frame-size-too-small"
	condForced           amqp.Symbol = "amqp:connection:forced"
	condFraming          amqp.Symbol = "amqp:connection:framing-error"
	condUnattachedHandle amqp.Symbol = "amqp:session:unattached-handle"
	condHandleInUse      amqp.Symbol = "amqp:session:handle-in-use"
	condErrantLink       amqp.Symbol = "amqp:session:errant-link"
	condDetachForced     amqp.Symbol = "amqp:link:detach-forced"
	condSizeExceeded     amqp.Symbol = "amqp:link:message-size-exceeded"
	condMessageLockLost  amqp.Symbol = "com.microsoft:message-lock-lost"
	condArgument         amqp.Symbol = "com.microsoft:argument-error"
	condTimeout          amqp.Symbol = "com.microsoft:timeout"
	condServerBusy       amqp.Symbol = "com.microsoft:server-busy"

	// Of transactions [AMQP 4.5.8].
	condUnknownTransaction  amqp.Symbol = "amqp:transaction:unknown-id"
	condTransactionRollback amqp.Symbol = "amqp:transaction:rollback"
	condTransactionTimeout  amqp.Symbol = "amqp:transaction:timeout"
)

// maxDescription bounds the error descriptions that we write, in bytes.
const maxDescription = 1024

// textLockLost is the domain's text for a lock that is over, for deliveries that it is not even asked about.
const textLockLost = "The lock supplied is invalid. Either the lock expired, or the message has already been removed from the queue."

// fault is what is wrong, in the protocol's terms.
type fault struct {
	condition amqp.Symbol
	text      string
	entity    string // path of the entity concerned, if any
}

// Error returns condition and text.
func (f fault) Error() string { return string(f.condition) + ": " + f.text }

// linkError costs the peer one link.
type linkError struct{ fault }

// sessionError costs the peer one session.
type sessionError struct{ fault }

// connError costs the peer its connection.
type connError struct{ fault }

func linkErrorf(condition amqp.Symbol, format string, args ...any) error {
	return linkError{fault{condition: condition, text: fmt.Sprintf(format, args...)}}
}

func sessionErrorf(condition amqp.Symbol, format string, args ...any) error {
	return sessionError{fault{condition: condition, text: fmt.Sprintf(format, args...)}}
}

func connErrorf(condition amqp.Symbol, format string, args ...any) error {
	return connError{fault{condition: condition, text: fmt.Sprintf(format, args...)}}
}

// faultOf finds the protocol's terms for any error. What is neither the domain's nor ours stays inside: the client
// learns only that it was an internal error.
func faultOf(err error) fault {
	var (
		le linkError
		se sessionError
		ce connError
		f  fault
		de *emulator.Error
	)
	switch {
	case errors.As(err, &le):
		return le.fault
	case errors.As(err, &se):
		return se.fault
	case errors.As(err, &ce):
		return ce.fault
	case errors.As(err, &f):
		return f
	case errors.As(err, &de):
		return fault{condition: management.Condition(de.Code), text: de.Text, entity: de.Entity}
	}
	return fault{condition: condInternal, text: "The service was unable to process the request; please retry the operation."}
}

// trackingSuffix is how the service ends every error text (ERR-9): something to quote in a support request, which
// tools and people search for.
func (s *Server) trackingSuffix(entity string) string {
	tracker := s.ns.Name()
	kind, _ := s.ns.Kind(entity)
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

// wireError is a fault as the peer reads it. The text is cut where the peer takes only tiny frames.
func (c *conn) wireError(f fault) *frames.Error {
	limit := min(maxDescription, c.peer.maxFrame-frameOverhead)
	entity := f.entity
	if f.condition == condUnauthorized {
		entity = "" // its kind would tell that it exists
	}
	text, suffix := strings.TrimSuffix(f.text, ".")+".", c.srv.trackingSuffix(entity)
	if len(suffix) > limit/2 {
		suffix = ""
	}
	return &frames.Error{Condition: f.condition, Description: amqp.Clip(text, max(limit-len(suffix), 0)) + suffix}
}

// frameOverhead is more than what surrounds an error's description in its frame.
const frameOverhead = 128
