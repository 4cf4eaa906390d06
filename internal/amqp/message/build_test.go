package message_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatalf("bad hex in test: %v", err)
	}
	return b
}

// section encodes one section of a message.
func section(t testing.TB, code byte, v any) []byte {
	t.Helper()
	b, err := amqp.AppendValue(amqp.AppendDescriptor(nil, code), v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func join(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func header(t testing.TB, fields ...any) []byte     { return section(t, 0x70, amqp.List(fields)) }
func delivery(t testing.TB, m amqp.Map) []byte      { return section(t, 0x71, m) }
func annotations(t testing.TB, m amqp.Map) []byte   { return section(t, 0x72, m) }
func properties(t testing.TB, fields ...any) []byte { return section(t, 0x73, amqp.List(fields)) }
func appProperties(t testing.TB, m amqp.Map) []byte { return section(t, 0x74, m) }
func data(t testing.TB, s string) []byte            { return section(t, 0x75, []byte(s)) }
func sequence(t testing.TB, items ...any) []byte    { return section(t, 0x76, amqp.List(items)) }
func value(t testing.TB, v any) []byte              { return section(t, 0x77, v) }
func footer(t testing.TB, m amqp.Map) []byte        { return section(t, 0x78, m) }
func one(key string, v any) amqp.Map                { return amqp.Map{{Key: amqp.Symbol(key), Value: v}} }
func text(m message.Message, s message.Span) string { return string(m.Raw[s.Start:s.End]) }

func scan(t testing.TB, raw []byte) *message.Message {
	t.Helper()
	m, err := message.Scan(raw)
	if err != nil {
		t.Fatalf("scan % x: %v", raw, err)
	}
	return &m
}

// patched writes a message out and scans the result, which checks its order and form.
func patched(t testing.TB, p message.Patch, raw []byte) *message.Message {
	t.Helper()
	m := scan(t, raw)
	out := p.Append([]byte{0xee}, m)
	if len(out)-1 > len(raw)+p.SizeHint(m) {
		t.Errorf("%d bytes grew to %d, hint was %d", len(raw), len(out)-1, p.SizeHint(m))
	}
	return scan(t, out[1:])
}

// annotationsOf decodes a map section.
func annotationsOf(t testing.TB, m *message.Message, s message.Span) amqp.Map {
	t.Helper()
	if s.Empty() {
		return nil
	}
	v, rest, err := amqp.Decode(m.Raw[s.Start:s.End])
	if err != nil || len(rest) != 0 {
		t.Fatalf("decode section: %v", err)
	}
	return v.(amqp.Described).Value.(amqp.Map)
}

// fieldsOf decodes a list section.
func fieldsOf(t testing.TB, m *message.Message, s message.Span) amqp.List {
	t.Helper()
	v, _, err := amqp.Decode(m.Raw[s.Start:s.End])
	if err != nil {
		t.Fatalf("decode section: %v", err)
	}
	return v.(amqp.Described).Value.(amqp.List)
}

// full returns a message with all sections, in the order of the standard.
func full(t testing.TB) []byte {
	return join(
		header(t, true, uint8(7), uint32(60000), false, uint32(3)),
		delivery(t, one("x-user-delivery", "d")),
		annotations(t, amqp.Map{{Key: amqp.Symbol("x-user"), Value: int32(1)}, {Key: amqp.Symbol("x-opt-partition-key"), Value: "pk"}}),
		properties(t, "id", []byte("user"), "to", "subject", "reply", uint64(9), amqp.Symbol("text/plain")),
		appProperties(t, amqp.Map{{Key: "a", Value: "1"}, {Key: "b", Value: int64(2)}}),
		data(t, "hello "), data(t, "world"),
		footer(t, one("x-foot", true)),
	)
}
