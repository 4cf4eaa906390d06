package cbs

import (
	"fmt"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

// Descriptor codes of the sections of a response [AMQP 3.2].
const (
	codeProperties            = 0x73
	codeApplicationProperties = 0x74
)

// Positions in the properties section [AMQP 3.2.4].
const (
	fieldMessageID     = 0
	fieldCorrelationID = 5
	propertyFields     = 13
)

// Status codes, which are those of HTTP, and the conditions that go with them.
const (
	statusAccepted       = 202 // one of the two that .NET takes for success
	statusBadRequest     = 400
	statusUnauthorized   = 401
	statusNotFound       = 404
	statusNotImplemented = 501

	conditionArgument       amqp.Symbol = "com.microsoft:argument-error"
	conditionUnauthorized   amqp.Symbol = "amqp:unauthorized-access"
	conditionNotFound       amqp.Symbol = "amqp:not-found"
	conditionNotImplemented amqp.Symbol = "amqp:not-implemented"
)

// status is the outcome of a request. The condition is empty on success.
type status struct {
	code        int32
	condition   amqp.Symbol
	description string
}

func argumentError(format string, args ...any) *status {
	return &status{code: statusBadRequest, condition: conditionArgument, description: fmt.Sprintf(format, args...)}
}

// encode writes the response. On $cbs the keys are written with dashes, which .NET and Python insist on; there is no
// body.
func (s *status) encode(correlationID any) []byte {
	text := printable(s.description)
	dst := appendCorrelation(make([]byte, 0, 128+len(text)), correlationID)
	dst = amqp.AppendDescriptor(dst, codeApplicationProperties)
	dst, m := amqp.BeginMap(dst)
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

// printable makes a text fit for the wire. An audience is repeated in it, which may be of any length, and which need
// not be UTF-8 if the client wrote it as a binary; an AMQP string must be, and some clients check.
func printable(s string) string {
	const most = 1024
	if len(s) > most {
		return amqp.Clip(s, most) + "..."
	}
	return amqp.Clip(s, most)
}

// appendCorrelation writes a properties section of all thirteen fields, of which only the correlation-id is set, as the
// service does.
func appendCorrelation(dst []byte, id any) []byte {
	dst = amqp.AppendDescriptor(dst, codeProperties)
	dst, m := amqp.BeginList(dst)
	for i := range propertyFields {
		if i == fieldCorrelationID {
			if whole, err := amqp.AppendValue(dst, id); err == nil {
				dst = whole
				continue
			}
		}
		dst = amqp.AppendNull(dst)
	}
	return amqp.EndList(dst, m, propertyFields)
}

// correlationID is the message-id of a request with the type that it has: clients look it up in a map keyed by both.
// Without one, a request's own correlation-id serves; nil when there is neither.
func correlationID(req *message.Message) any {
	if req.Properties.Empty() {
		return nil
	}
	v, _, err := amqp.Decode(section(req, req.Properties))
	if err != nil {
		return nil
	}
	d, _ := v.(amqp.Described)
	fields, _ := d.Value.(amqp.List)
	for _, i := range []int{fieldMessageID, fieldCorrelationID} {
		if i < len(fields) && fields[i] != nil {
			return fields[i]
		}
	}
	return nil
}
