package message

import "minibus/internal/amqp"

// Compose encodes a message with application properties, given as an encoded map, and a body of bytes.
func Compose(properties, body []byte) []byte {
	m := amqp.AppendDescriptor(nil, codeApplicationProperties)
	m = append(m, properties...)
	m = amqp.AppendDescriptor(m, codeData)
	return amqp.AppendBinary(m, body)
}

// DataSection encodes a body of bytes.
func DataSection(body []byte) []byte {
	return amqp.AppendBinary(amqp.AppendDescriptor(nil, codeData), body)
}
