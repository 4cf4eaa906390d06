package message

import "minibus/internal/amqp"

// LargestProperty returns the name of the largest value among the application properties and the fields of the
// properties section, and its size in bytes without type and length. It skips sections of at most floor bytes.
func (m *Message) LargestProperty(floor int) (name string, size int) {
	if m.ApplicationProperties.Len() > floor {
		for e := m.UserProperties(); e.Next(); {
			if n := contentLength(e.Encoded()); n > size {
				name, size = string(e.Key()), n
			}
		}
	}
	if m.Properties.Len() > floor {
		fields, r := m.list(m.Properties)
		for i := range fields {
			raw, err := r.Raw()
			if n := contentLength(raw); err == nil && n > size {
				name, size = propertyNames[i], n
			}
		}
	}
	return name, size
}

// contentLength returns the size of an encoded value without its constructor and, for text or binary, its length field.
func contentLength(raw []byte) int {
	if len(raw) == 0 {
		return 0
	}
	switch raw[0] {
	case amqp.CodeBinary8, amqp.CodeString8, amqp.CodeSymbol8:
		return len(raw) - 2
	case amqp.CodeBinary32, amqp.CodeString32, amqp.CodeSymbol32:
		return len(raw) - 5
	}
	return len(raw) - 1
}
