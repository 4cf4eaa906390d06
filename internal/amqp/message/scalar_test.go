package message_test

import (
	"bytes"
	"math"
	"testing"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
)

func TestScalar_ThereAndBack(t *testing.T) {
	for _, c := range []struct {
		v    any
		want message.Scalar
	}{
		{nil, message.Scalar{Type: message.TypeNull}}, {true, message.Scalar{Type: message.TypeBool, Bits: 1}}, {false, message.Scalar{Type: message.TypeBool}},
		{uint8(200), message.Scalar{Type: message.TypeUbyte, Bits: 200}}, {uint16(5), message.Scalar{Type: message.TypeUshort, Bits: 5}},
		{uint32(0), message.Scalar{Type: message.TypeUint}}, {uint32(7), message.Scalar{Type: message.TypeUint, Bits: 7}},
		{uint64(math.MaxUint64), message.Scalar{Type: message.TypeUlong, Bits: math.MaxUint64}},
		{int8(-1), message.Scalar{Type: message.TypeByte, Bits: math.MaxUint64}}, {int16(-300), message.Scalar{Type: message.TypeShort, Bits: uint64(1<<64 - 300)}},
		{int32(5), message.Scalar{Type: message.TypeInt, Bits: 5}}, {int64(1 << 40), message.Scalar{Type: message.TypeLong, Bits: 1 << 40}},
		{float32(1.5), message.Scalar{Type: message.TypeFloat, Bits: math.Float64bits(1.5)}}, {2.5, message.Scalar{Type: message.TypeDouble, Bits: math.Float64bits(2.5)}},
		{amqp.Char('x'), message.Scalar{Type: message.TypeChar, Bits: 'x'}}, {amqp.Timestamp(9), message.Scalar{Type: message.TypeTimestamp, Bits: 9}},
		{amqp.UUID{7: 1, 15: 2}, message.Scalar{Type: message.TypeUUID, Bits: 1, Low: 2}},
		{amqp.Decimal128{7: 1, 15: 2}, message.Scalar{Type: message.TypeDecimal128, Bits: 1, Low: 2}},
		{"text", message.Scalar{Type: message.TypeString, Text: "text"}},
		{amqp.Described{Descriptor: amqp.Symbol("com.microsoft:uri"), Value: "u"}, message.Scalar{Type: message.TypeURI, Text: "u"}},
		{amqp.Described{Descriptor: amqp.Symbol("com.microsoft:timespan"), Value: int64(5)}, message.Scalar{Type: message.TypeTimeSpan, Bits: 5}},
		{amqp.Described{Descriptor: amqp.Symbol("com.microsoft:datetime-offset"), Value: int64(5)}, message.Scalar{Type: message.TypeDateTimeOffset, Bits: 5}},
	} {
		encoded, err := message.EncodeValue(c.v)
		if err != nil {
			t.Fatal(err)
		}
		got := message.DecodeScalar(encoded)
		if got != c.want {
			t.Errorf("%T %v: %+v, want %+v", c.v, c.v, got, c.want)
		}
		if again := got.Append(nil); !bytes.Equal(again, encoded) {
			t.Errorf("%T %v: % x, was % x", c.v, c.v, again, encoded)
		}
	}
}

func TestScalar_WhatIsNoScalarIsCarriedAsItIs(t *testing.T) {
	for _, raw := range [][]byte{
		section(t, 5, "x"), amqp.AppendBinary(nil, []byte{1}), {0xd0, 0, 0, 0, 4, 0, 0, 0, 0}, {0x00}, {0x00, 0xa3, 200}, {0x71, 1}, {0x82}, {0x98, 1}, {0x56, 7}, {0x3f},
	} {
		s := message.DecodeScalar(raw)
		if s.Type != message.TypeOther || !bytes.Equal(s.Append(nil), raw) {
			t.Errorf("% x: %+v", raw, s)
		}
	}
	if s := message.DecodeScalar(nil); s.Type != message.TypeAbsent || s.Append(nil) != nil {
		t.Errorf("nothing: %+v", s)
	}
}

func TestDUP11_TextOfAScalar(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
		ok   bool
	}{
		{"s", "s", true}, {"", "", true}, {uint64(7), "7", true}, {int32(-7), "-7", true}, {[]byte{0xab}, "ab", true},
		{amqp.UUID{0xab}, "ab000000-0000-0000-0000-000000000000", true}, {nil, "", false}, {2.5, "", false}, {amqp.List{}, "", false},
	} {
		encoded, err := message.EncodeValue(c.v)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := message.DecodeScalar(encoded).TextOf(); got != c.want || ok != c.ok {
			t.Errorf("%v: %q, %v", c.v, got, ok)
		}
	}
}

func TestEntriesAndOverlay(t *testing.T) {
	var o message.Overlay
	if o.Bytes() != nil {
		t.Error("an empty overlay has bytes")
	}
	o.Add("a", message.Scalar{Type: message.TypeInt, Bits: 1}.Append(nil))
	o.Add("b", message.Scalar{Type: message.TypeNull}.Append(nil))
	raw := join(appProperties(t, decodeMap(t, o.Bytes())), data(t, "x"))
	m := scan(t, raw)
	for name, e := range map[string]message.Entries{"message": m.UserProperties(), "overlay": message.OverlayEntries(o.Bytes())} {
		var got []string
		for e.Next() {
			got = append(got, string(e.Key()))
			if s := e.Value(); !bytes.Equal(s.Append(nil), e.Encoded()) {
				t.Errorf("%s: %s is %+v", name, e.Key(), s)
			}
		}
		if len(got) != 2 || got[0] != "a" || got[1] != "b" {
			t.Errorf("%s has %v", name, got)
		}
	}
	empty := scan(t, nil)
	if e := empty.UserProperties(); e.Next() {
		t.Error("an empty message has properties")
	}
	props := scan(t, properties(t, "id", nil, "to"))
	for i, want := range map[int]message.Type{0: message.TypeString, 1: message.TypeNull, 2: message.TypeString, 3: message.TypeAbsent, 99: message.TypeAbsent, -1: message.TypeAbsent} {
		if got := props.Field(i).Type; got != want {
			t.Errorf("field %d: %v, want %v", i, got, want)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		for e := m.UserProperties(); e.Next(); {
			_ = e.Value()
		}
		_ = props.Field(2)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if _, err := message.DecodeValue([]byte{0x40, 0x40}); err == nil {
		t.Error("a value with bytes behind it was decoded")
	}
}
