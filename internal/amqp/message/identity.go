package message

import "minibus/internal/amqp"

// Map is [amqp.Map], for callers that build overlays.
type Map = amqp.Map

// HasMessageID reports whether the sender gave the message a message-id; otherwise the broker makes one (PROP-10).
func (m *Message) HasMessageID() bool {
	n, r := m.list(m.Properties)
	return n > PropertyMessageID && !r.Null()
}

// HeaderBytes returns the bytes of the message's properties of all kinds, which count against the limit on the
// message's header (QUO-8).
func (m *Message) HeaderBytes() int {
	return m.MessageAnnotations.Len() + m.Properties.Len() + m.ApplicationProperties.Len() + m.Header.Len()
}
