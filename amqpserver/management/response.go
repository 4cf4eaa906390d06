package management

import (
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

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
