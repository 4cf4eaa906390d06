package management

import (
	"errors"
	"fmt"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/printable"
)

// call is a request that has no response yet.
type call struct {
	Context
	operation     string // empty when the request names none
	link          string // associated-link-name; empty when the request names none
	tracking      string // com.microsoft:tracking-id, echoed; empty when the request has none
	correlationID any    // message-id of the request, with its type
	reply         func(resp []byte)
}

// maxTracking is the length above which a tracking id is not echoed: SDKs send the text of a uuid.
const maxTracking = 128

func newCall(ctx Context, req *message.Message, reply func([]byte)) *call {
	c := &call{Context: ctx, correlationID: req.RequestID(), reply: reply}
	c.operation = property(req, "operation")
	c.link = property(req, "associated-link-name")
	if t := property(req, "com.microsoft:tracking-id"); len(t) <= maxTracking {
		c.tracking = printable.Cut(t, maxTracking)
	}
	return c
}

// property returns an application property of a request as text, or "" if it is absent or not text. The
// SDKs also send a time limit (server-timeout), which has no effect: no operation here waits for more
// than its commit.
func property(req *message.Message, key string) string {
	v, _ := req.ApplicationProperty(key)
	text, _ := amqp.AsString(v)
	return text
}

// ok answers 200. body appends the value of the amqp-value section. With a nil body there is no section, since some
// clients cannot read an empty map. size is a hint for the length that body appends.
func (c *call) ok(size int, body func(dst []byte) []byte) {
	dst := c.appendEnvelope(make([]byte, 0, size+envelopeSize), statusOK, "", "")
	if body != nil {
		dst = body(message.BeginValue(dst))
	}
	c.reply(dst)
}

// okField answers 200 with a map of one entry, the form of most replies' bodies.
func (c *call) okField(size int, key string, value func(dst []byte) []byte) {
	c.ok(size, func(dst []byte) []byte { return appendField(dst, key, value) })
}

// empty answers 204: there is nothing to return.
func (c *call) empty() {
	c.reply(c.appendEnvelope(make([]byte, 0, envelopeSize), statusNoContent, "", ""))
}

// fail answers with the status and the condition of err (ERR-6).
func (c *call) fail(err error) {
	if c.Refused != nil {
		c.Refused(c.operation, err)
	}
	f := failureOf(err)
	entity := f.entity
	if entity == "" {
		entity = c.Queue.Path()
	}
	if c.TrackingSuffix != nil {
		f.text += c.TrackingSuffix(entity)
	}
	c.reply(c.appendEnvelope(make([]byte, 0, envelopeSize+len(f.text)), f.status, f.condition, f.text))
}

// finish answers 200 without a body, or the error. Operations that return nothing use it as their completion.
func (c *call) finish(err error) {
	if err != nil {
		c.fail(err)
		return
	}
	c.ok(0, nil)
}

// envelopeSize is about what a response takes besides its body and its error text, in bytes.
const envelopeSize = 320

// appendEnvelope appends the properties and application-properties of a response as the service writes them: all
// thirteen properties, of which only the correlation-id is set, and always the same four application properties. The
// .NET client insists on an int for the status and a symbol or null for the condition.
func (c *call) appendEnvelope(dst []byte, status int32, condition amqp.Symbol, text string) []byte {
	dst = message.AppendReplyProperties(dst, c.correlationID)
	dst, m := message.BeginApplicationProperties(dst)
	dst = amqp.AppendString(dst, "statusCode")
	dst = amqp.AppendInt(dst, status)
	dst = amqp.AppendString(dst, "errorCondition")
	if condition == "" {
		dst = amqp.AppendNull(dst)
	} else {
		dst = amqp.AppendSymbol(dst, condition)
	}
	dst = amqp.AppendString(dst, "statusDescription")
	dst = appendStringOrNull(dst, text)
	dst = amqp.AppendString(dst, "com.microsoft:tracking-id")
	dst = appendStringOrNull(dst, c.tracking)
	return amqp.EndMap(dst, m, 4)
}

func appendStringOrNull(dst []byte, s string) []byte {
	if s == "" {
		return amqp.AppendNull(dst)
	}
	return amqp.AppendString(dst, s)
}

// appendField appends a map of one entry, the form of most replies' bodies.
func appendField(dst []byte, key string, value func(dst []byte) []byte) []byte {
	dst, m := amqp.BeginMap(dst)
	dst = value(amqp.AppendString(dst, key))
	return amqp.EndMap(dst, m, 1)
}

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
	emulator.CodeTransactionTimedOut: {statusBadRequest, amqp.CondTransactionTimeout}, // 408 would be tried again
}

// Condition returns the AMQP error condition of a code of the domain, the same on every channel (ERR-6,
// amqp-data-plane 9.1). An unknown code counts as an internal error.
func Condition(code emulator.Code) amqp.Symbol {
	return failureOf(&emulator.Error{Code: code}).condition
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
	text := printable.Clip(err.Error(), maxText)
	return failure{status: s.status, condition: s.condition, text: text, entity: e.Entity}
}

// maxText bounds the text of an error, in bytes; only a list of thousands of missing numbers is longer (SCHED-13).
const maxText = 4096

func argumentError(format string, args ...any) error {
	return &emulator.Error{Code: emulator.CodeArgument, Text: fmt.Sprintf(format, args...)}
}
