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

// Error returns condition and text.
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
		return failure
	case errors.As(err, &de):
		return amqpError{condition: management.Condition(de.Code), text: de.Text, entity: de.Entity, detaches: de.Code == emulator.CodeMessageTooLarge}
	}
	return amqpError{condition: amqp.CondInternal, text: "The service was unable to process the request; please retry the operation."}
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
	text, suffix := strings.TrimSuffix(failure.text, ".")+".", c.trackingSuffix(entity)
	if len(suffix) > limit/2 {
		suffix = ""
	}
	return &frames.Error{Condition: failure.condition, Description: printable.Cut(text, max(limit-len(suffix), 0)) + suffix}
}

// frameOverhead is an upper bound for what surrounds an error's description in its frame.
const frameOverhead = 128
