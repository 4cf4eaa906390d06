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

// RequestID returns the message-id of a request with its type: clients look the response up by both.
// A request without one is named by its correlation-id. RequestID returns nil if it has neither.
func (m *Message) RequestID() any {
	for _, field := range []int{PropertyMessageID, PropertyCorrelationID} {
		if v, err := m.Property(field); err == nil && v != nil {
			return v
		}
	}
	return nil
}

// AppendReplyProperties appends the properties of a response as the service writes them: all thirteen fields, of
// which only the correlation-id is set.
func AppendReplyProperties(dst []byte, requestID any) []byte {
	dst, mark := amqp.BeginList(amqp.AppendDescriptor(dst, codeProperties))
	for i := range propertyFields {
		if i == PropertyCorrelationID {
			if whole, err := amqp.AppendValue(dst, requestID); err == nil {
				dst = whole
				continue
			}
		}
		dst = amqp.AppendNull(dst)
	}
	return amqp.EndList(dst, mark, propertyFields)
}

// BeginApplicationProperties begins a section of application properties, to be ended as a map.
func BeginApplicationProperties(dst []byte) ([]byte, amqp.Mark) {
	return amqp.BeginMap(amqp.AppendDescriptor(dst, codeApplicationProperties))
}

// BeginValue begins an amqp-value section; one value follows.
func BeginValue(dst []byte) []byte { return amqp.AppendDescriptor(dst, codeValue) }
