package messagejson

import (
	"bytes"

	"minibus/internal/printable"
)

// Malformed is a section of a message that does not decode, since its sender encoded it wrongly.
type Malformed struct {
	Section     string `json:"section" doc:"As the properties of a message are named, or message for all of it"`
	Error       string `json:"error" doc:"What is wrong"`
	BytesBase64 []byte `json:"bytesBase64" doc:"As its sender encoded it, up to 4096 bytes"`
	Bytes       int64  `json:"bytes" doc:"How many the section has"`
}

// Bounds of a [Malformed].
const (
	malformedBytes = 4096
	malformedError = 300
)

// MalformedMessage returns a message of which nothing could be read, because of err.
func MalformedMessage(raw []byte, err error) *Message {
	m := new(Message)
	m.note("message", raw, err)
	return m
}

// note notes that a section does not decode, if err is one.
func (m *Message) note(section string, raw []byte, err error) {
	if err != nil {
		m.Malformed = append(m.Malformed, Malformed{
			Section:     section,
			Error:       printable.Clip(err.Error(), malformedError),
			BytesBase64: bytes.Clone(raw[:min(len(raw), malformedBytes)]),
			Bytes:       int64(len(raw)),
		})
	}
}
