package management

import (
	"errors"
	"fmt"

	"minibus/emulator"
	"minibus/internal/amqp"
)

// Status codes of responses, which are those of HTTP. Clients know only the usual ones.
const (
	statusOK             int32 = 200
	statusNoContent      int32 = 204
	statusBadRequest     int32 = 400
	statusUnauthorized   int32 = 401
	statusForbidden      int32 = 403
	statusNotFound       int32 = 404
	statusTimeout        int32 = 408
	statusConflict       int32 = 409
	statusGone           int32 = 410
	statusInternalError  int32 = 500
	statusNotImplemented int32 = 501
	statusUnavailable    int32 = 503
)

// statuses is the table of ERR-6: what each code of the domain is on this node, and its condition everywhere. A
// transaction that has ended has no status of its own; 400 is one that no client takes for a reason to try again.
var statuses = map[emulator.Code]struct {
	status    int32
	condition amqp.Symbol
}{
	emulator.CodeInternal:        {statusInternalError, "amqp:internal-error"},
	emulator.CodeNotFound:        {statusNotFound, "amqp:not-found"},
	emulator.CodeMessageNotFound: {statusNotFound, "com.microsoft:message-not-found"},
	emulator.CodeMessageLockLost: {statusGone, "com.microsoft:message-lock-lost"},
	emulator.CodeSessionLockLost: {statusGone, "com.microsoft:session-lock-lost"},
	emulator.CodeSessionLocked:   {statusGone, "com.microsoft:session-cannot-be-locked"},
	emulator.CodeNotAllowed:      {statusBadRequest, "amqp:not-allowed"},
	emulator.CodeArgument:        {statusBadRequest, "com.microsoft:argument-error"},
	emulator.CodeEntityDisabled:  {statusBadRequest, "com.microsoft:entity-disabled"},
	emulator.CodeQuotaExceeded:   {statusForbidden, "amqp:resource-limit-exceeded"},
	emulator.CodeMessageTooLarge: {statusForbidden, "amqp:link:message-size-exceeded"},
	emulator.CodeAlreadyExists:   {statusConflict, "com.microsoft:entity-already-exists"},
	emulator.CodeTimeout:         {statusTimeout, "com.microsoft:timeout"},
	emulator.CodeServerBusy:      {statusUnavailable, "com.microsoft:server-busy"},
	emulator.CodeUnauthorized:    {statusUnauthorized, "amqp:unauthorized-access"},
	emulator.CodeNotImplemented:  {statusNotImplemented, "amqp:not-implemented"},
	emulator.CodeDetached:        {statusUnavailable, "amqp:link:detach-forced"},

	emulator.CodeTransactionEnded:    {statusBadRequest, "amqp:transaction:unknown-id"},
	emulator.CodeTransactionTimedOut: {statusBadRequest, "amqp:transaction:timeout"}, // 408 would invite to try again
}

// Condition returns the AMQP error condition that stands for a code of the domain on every channel (ERR-6,
// amqp-data-plane 9.1); for a code that it does not know, that of an internal error.
func Condition(code emulator.Code) amqp.Symbol {
	s, ok := statuses[code]
	if !ok {
		s = statuses[emulator.CodeInternal]
	}
	return s.condition
}

// failure is an error as a response carries it.
type failure struct {
	status    int32
	condition amqp.Symbol
	text      string
	entity    string // empty when the error names none
}

// failureOf finds the status of an error. What is not the domain's own error is a failure of the broker.
func failureOf(err error) failure {
	e := &emulator.Error{Code: emulator.CodeInternal}
	errors.As(err, &e)
	s, ok := statuses[e.Code]
	if !ok {
		s = statuses[emulator.CodeInternal]
	}
	return failure{status: s.status, condition: s.condition, text: printable(err.Error(), maxText), entity: e.Entity}
}

// maxText bounds the text of an error, in bytes; only a list of thousands of missing numbers is longer (SCHED-13).
const maxText = 4096

// printable makes a text fit for the wire: what a client wrote as symbol or binary may be repeated in it and need not
// be UTF-8, which an AMQP string must be and some clients check.
func printable(s string, most int) string {
	if len(s) > most {
		return amqp.Clip(s, most) + "..."
	}
	return amqp.Clip(s, most)
}

func argumentError(format string, args ...any) error {
	return &emulator.Error{Code: emulator.CodeArgument, Text: fmt.Sprintf(format, args...)}
}
