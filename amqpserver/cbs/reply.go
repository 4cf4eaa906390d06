package cbs

import (
	"fmt"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/printable"
)

// Status codes, as in HTTP.
const (
	statusAccepted       = 202 // one of the two that .NET takes for success
	statusBadRequest     = 400
	statusUnauthorized   = 401
	statusNotFound       = 404
	statusNotImplemented = 501
)

// status is the outcome of a request. The condition is empty on success.
type status struct {
	code        int32
	condition   amqp.Symbol
	description string
}

func argumentError(format string, args ...any) *status {
	return &status{code: statusBadRequest, condition: amqp.CondArgument, description: fmt.Sprintf(format, args...)}
}

// maxText bounds a description, in bytes: it repeats the audience, which may have any length.
const maxText = 1024

// encode returns the encoded response. On $cbs the keys are written with dashes, which .NET and Python insist on; there is no
// body.
func (s *status) encode(correlationID any) []byte {
	text := printable.Clip(s.description, maxText)
	dst := message.AppendReplyProperties(make([]byte, 0, 128+len(text)), correlationID)
	dst, m := message.BeginApplicationProperties(dst)
	dst = amqp.AppendString(dst, "status-code")
	dst = amqp.AppendInt(dst, s.code)
	dst = amqp.AppendString(dst, "status-description")
	dst = amqp.AppendString(dst, text)
	pairs := 2
	if s.condition != "" {
		dst = amqp.AppendString(dst, "error-condition")
		dst = amqp.AppendSymbol(dst, s.condition)
		pairs++
	}
	return amqp.EndMap(dst, m, pairs)
}
