package amqptest

import (
	"testing"

	"minibus/internal/amqp"
)

// Descriptor codes of the sections of a request [AMQP 3.2].
const (
	CodeProperties            = 0x73
	CodeApplicationProperties = 0x74
	CodeValue                 = 0x77
)

// EncodeRequest encodes a request to a request/response node as a client does. A nil messageID omits the properties
// section, a nil body the body.
func EncodeRequest(t testing.TB, messageID any, properties amqp.Map, body any) []byte {
	t.Helper()
	var b []byte
	if messageID != nil {
		b = AppendSection(t, b, CodeProperties, amqp.List{messageID})
	}
	b = AppendSection(t, b, CodeApplicationProperties, properties)
	if m, ok := body.(amqp.Map); body != nil && (!ok || m != nil) {
		b = AppendSection(t, b, CodeValue, body)
	}
	return b
}

// AppendSection appends a section of a message.
func AppendSection(t testing.TB, dst []byte, code byte, v any) []byte {
	t.Helper()
	dst, err := amqp.AppendValue(amqp.AppendDescriptor(dst, code), v)
	if err != nil {
		t.Fatalf("encode section %#x: %v", code, err)
	}
	return dst
}
