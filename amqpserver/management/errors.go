package management

import (
	"errors"
	"fmt"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/printable"
)

// Status codes of responses, as in HTTP. Clients know only the usual ones.
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

// statuses is the table of ERR-6: for each code of the domain its status on this node, and its condition everywhere. A
// transaction that has ended has no status of its own; no client tries again after a 400.
var statuses = map[emulator.Code]struct {
	status    int32
	condition amqp.Symbol
}{
	emulator.CodeInternal:        {statusInternalError, amqp.CondInternal},
	emulator.CodeNotFound:        {statusNotFound, amqp.CondNotFound},
	emulator.CodeMessageNotFound: {statusNotFound, amqp.CondMessageNotFound},
	emulator.CodeMessageLockLost: {statusGone, amqp.CondMessageLockLost},
	emulator.CodeSessionLockLost: {statusGone, amqp.CondSessionLockLost},
	emulator.CodeSessionLocked:   {statusGone, amqp.CondSessionLocked},
	emulator.CodeNotAllowed:      {statusBadRequest, amqp.CondNotAllowed},
	emulator.CodeArgument:        {statusBadRequest, amqp.CondArgument},
	emulator.CodeEntityDisabled:  {statusBadRequest, amqp.CondEntityDisabled},
	emulator.CodeQuotaExceeded:   {statusForbidden, amqp.CondResourceLimit},
	emulator.CodeMessageTooLarge: {statusForbidden, amqp.CondSizeExceeded},
	emulator.CodeHeaderTooLarge:  {statusForbidden, amqp.CondSizeExceeded},
	emulator.CodeAlreadyExists:   {statusConflict, amqp.CondAlreadyExists},
	emulator.CodeTimeout:         {statusTimeout, amqp.CondTimeout},
	emulator.CodeServerBusy:      {statusUnavailable, amqp.CondServerBusy},
	emulator.CodeUnauthorized:    {statusUnauthorized, amqp.CondUnauthorized},
	emulator.CodeNotImplemented:  {statusNotImplemented, amqp.CondNotImplemented},
	emulator.CodeDetached:        {statusUnavailable, amqp.CondDetachForced},

	emulator.CodeTransactionEnded:    {statusBadRequest, amqp.CondUnknownTransaction},
	emulator.CodeTransactionTimedOut: {statusBadRequest, amqp.CondTransactionTimeout}, // clients would try again after 408
}

// Condition returns the AMQP error condition of a code of the domain, the same on every channel (ERR-6,
// amqp-data-plane 9.1). An unknown code counts as an internal error.
func Condition(code emulator.Code) amqp.Symbol {
	s, ok := statuses[code]
	if !ok {
		s = statuses[emulator.CodeInternal]
	}
	return s.condition
}

// Status returns the status of an error on a request/response node (ERR-6).
func Status(err error) int32 { return failureOf(err).status }

// failure is an error as a response carries it.
type failure struct {
	status    int32
	condition amqp.Symbol
	text      string
	entity    string // empty when the error names none
}

// failureOf finds the status of an error. An error that the domain did not make is an internal one.
func failureOf(err error) failure {
	e := &emulator.Error{Code: emulator.CodeInternal}
	errors.As(err, &e)
	s, ok := statuses[e.Code]
	if !ok {
		s = statuses[emulator.CodeInternal]
	}
	return failure{status: s.status, condition: s.condition, text: printable.Clip(err.Error(), maxText), entity: e.Entity}
}

// maxText bounds the text of an error, in bytes; only a list of thousands of missing numbers is longer (SCHED-13).
const maxText = 4096

func argumentError(format string, args ...any) error {
	return &emulator.Error{Code: emulator.CodeArgument, Text: fmt.Sprintf(format, args...)}
}
