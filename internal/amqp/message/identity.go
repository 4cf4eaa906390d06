package message

import "minibus/internal/amqp"

// Map is [amqp.Map], for callers that build overlays.
type Map = amqp.Map

// HasMessageID says whether the sender gave the message a message-id; the broker makes one where not (PROP-10).
func (m *Message) HasMessageID() bool {
	n, r := m.list(m.Properties)
	return n > PropertyMessageID && !r.Null()
}

// HeaderBytes returns how many bytes the message's properties of all kinds have, which is what a limit on the message's
// header counts (QUO-8).
func (m *Message) HeaderBytes() int {
	return m.MessageAnnotations.Len() + m.Properties.Len() + m.ApplicationProperties.Len() + m.Header.Len()
}
