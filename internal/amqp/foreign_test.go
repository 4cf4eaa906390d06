package amqp_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"minibus/internal/amqp"
)

// TestTheStandardsExamples decodes the encodings that the standard prints in full [AMQP 1.1, 1.2, 1.6].
func TestTheStandardsExamples(t *testing.T) {
	const greeting = "Hello Glorious Messaging World"
	for name, c := range map[string]struct {
		bytes []byte
		want  any
	}{
		"figure 1.2, a string": {append([]byte{0xa1, 0x1e}, greeting...), greeting},
		"figure 1.3, a described string": {
			append([]byte{0x00, 0xa1, 0x03, 'U', 'R', 'L', 0xa1, 0x1e}, "http://example.org/hello-world"...),
			amqp.Described{Descriptor: "URL", Value: "http://example.org/hello-world"},
		},
		"figure 1.4, a composite": {
			[]byte("\x00\xa3\x11example:book:list\xc0\x40\x03" +
				"\xa1\x15AMQP for & by Dummies" +
				"\xe0\x25\x02\xa1\x0eRob J. Godfrey\x13Rafael H. Schloming" +
				"\x40"),
			amqp.Described{Descriptor: amqp.Symbol("example:book:list"), Value: amqp.List{
				"AMQP for & by Dummies",
				amqp.Array{Code: amqp.CodeString8, Items: []any{"Rob J. Godfrey", "Rafael H. Schloming"}},
				nil,
			}},
		},
	} {
		got, rest, err := amqp.Decode(c.bytes)
		if err != nil || len(rest) > 0 || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %#v, %d bytes left, %v", name, got, len(rest), err)
		}
		again, err := amqp.AppendValue(nil, c.want)
		if back, _, _ := amqp.Decode(again); err != nil || !reflect.DeepEqual(back, c.want) {
			t.Errorf("%s: written as % x, %v", name, again, err)
		}
	}
}

// pairs are values of go-amqp and of ours.
var pairs = []struct{ theirs, ours any }{
	{nil, nil},
	{true, true},
	{false, false},
	{uint8(0), uint8(0)}, {uint8(255), uint8(255)},
	{uint16(0), uint16(0)}, {uint16(65535), uint16(65535)},
	{uint32(0), uint32(0)}, {uint32(255), uint32(255)}, {uint32(256), uint32(256)}, {uint32(math.MaxUint32), uint32(math.MaxUint32)},
	{uint64(0), uint64(0)}, {uint64(255), uint64(255)}, {uint64(256), uint64(256)}, {uint64(math.MaxUint64), uint64(math.MaxUint64)},
	{int8(-128), int8(-128)}, {int8(127), int8(127)},
	{int16(-32768), int16(-32768)}, {int16(1), int16(1)},
	{int32(-128), int32(-128)}, {int32(-129), int32(-129)}, {int32(127), int32(127)}, {int32(128), int32(128)}, {int32(math.MinInt32), int32(math.MinInt32)},
	{int64(-128), int64(-128)}, {int64(-129), int64(-129)}, {int64(128), int64(128)}, {int64(math.MaxInt64), int64(math.MaxInt64)},
	{float32(1.5), float32(1.5)}, {float32(math.Inf(-1)), float32(math.Inf(-1))},
	{2.5, 2.5}, {math.MaxFloat64, math.MaxFloat64}, {math.Inf(1), math.Inf(1)},
	{"", ""}, {"é €", "é €"}, {string(make([]byte, 255)), string(make([]byte, 255))}, {string(make([]byte, 256)), string(make([]byte, 256))},
	{goamqp.Symbol("s"), amqp.Symbol("s")},
	{[]byte{}, []byte{}}, {[]byte{0, 255}, []byte{0, 255}}, {make([]byte, 300), make([]byte, 300)},
	{time.UnixMilli(0).UTC(), amqp.Timestamp(0)}, {time.UnixMilli(-1).UTC(), amqp.Timestamp(-1)}, {time.UnixMilli(1700000000123).UTC(), amqp.Timestamp(1700000000123)},
	{goamqp.UUID{1, 15: 2}, amqp.UUID{1, 15: 2}},
	{[]any{}, amqp.List{}}, {[]any{int64(1), "a", nil, []any{true}}, amqp.List{int64(1), "a", nil, amqp.List{true}}},
	{map[string]any{"k": int32(5)}, amqp.Map{{Key: "k", Value: int32(5)}}},
	{[]int64{1, -1}, amqp.Array{Code: amqp.CodeSmallLong, Items: []any{int64(1), int64(-1)}}},
	{[]int64{1, 1000}, amqp.Array{Code: amqp.CodeLong, Items: []any{int64(1), int64(1000)}}},
	{[]string{"a", "bc"}, amqp.Array{Code: amqp.CodeString8, Items: []any{"a", "bc"}}},
	{[]bool{true, false}, amqp.Array{Code: amqp.CodeBool, Items: []any{true, false}}},
	{[]float64{0.5}, amqp.Array{Code: amqp.CodeDouble, Items: []any{0.5}}},
	{[]uint16{1, 2}, amqp.Array{Code: amqp.CodeUshort, Items: []any{uint16(1), uint16(2)}}},
	{[]goamqp.UUID{{1}}, amqp.Array{Code: amqp.CodeUUID, Items: []any{amqp.UUID{1}}}},
	{[]time.Time{time.UnixMilli(5).UTC()}, amqp.Array{Code: amqp.CodeTimestamp, Items: []any{amqp.Timestamp(5)}}},
}

// valueSection begins an amqp-value section.
var valueSection = []byte{0x00, 0x53, 0x77}

// TestForeign_WeReadWhatGoAMQPWrites, and skip and walk it to its end.
func TestForeign_WeReadWhatGoAMQPWrites(t *testing.T) {
	for _, p := range pairs {
		if p.theirs == nil {
			continue // go-amqp has no way to send it as a value
		}
		raw, err := (&goamqp.Message{Value: p.theirs}).MarshalBinary()
		if err != nil {
			t.Fatalf("%#v: %v", p.theirs, err)
		}
		encoded, isValue := bytes.CutPrefix(raw, valueSection)
		if !isValue {
			t.Fatalf("%#v: % x is no value section", p.theirs, raw)
		}
		got, rest, err := amqp.Decode(encoded)
		if err != nil || len(rest) > 0 || !reflect.DeepEqual(got, p.ours) {
			t.Errorf("% x is %#v, %d bytes left, %v; want %#v", encoded, got, len(rest), err, p.ours)
		}
		if rest, err := skip(append(encoded, 7)); err != nil || len(rest) != 1 {
			t.Errorf("skip % x: %d bytes left, %v", encoded, len(rest), err)
		}
		for n := range encoded {
			if _, _, err := amqp.Decode(encoded[:n]); err == nil {
				t.Errorf("the first %d bytes of % x are a value", n, encoded)
			}
		}
	}
}

// TestForeign_GoAMQPReadsWhatWeWrite.
func TestForeign_GoAMQPReadsWhatWeWrite(t *testing.T) {
	for _, p := range pairs {
		encoded, err := amqp.AppendValue(bytes.Clone(valueSection), p.ours)
		if err != nil {
			t.Fatalf("%#v: %v", p.ours, err)
		}
		var m goamqp.Message
		if err := m.UnmarshalBinary(encoded); err != nil {
			t.Errorf("%#v as % x: %v", p.ours, encoded, err)
			continue
		}
		got := m.Value
		switch v := got.(type) {
		case time.Time:
			got = v.UTC()
		case []time.Time:
			for i := range v {
				v[i] = v[i].UTC()
			}
		}
		want := p.theirs
		if s, isSymbol := want.(goamqp.Symbol); isSymbol {
			want = string(s) // as go-amqp has them
		}
		if list, isList := want.([]any); isList && len(list) == 0 {
			want = []any(nil)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%#v as % x: go-amqp reads %#v", p.ours, encoded, got)
		}
	}
}

// TestForeign_SizesAtTheirBounds of one byte and of four: text and binary of 0, 255, 256 and 70,000 bytes, as a hand counts them [AMQP 1.6].
func TestForeign_SizesAtTheirBounds(t *testing.T) {
	for _, n := range []int{0, 1, 254, 255, 256, 70_000} {
		content := bytes.Repeat([]byte("x"), n)
		for name, c := range map[string]struct {
			code8  byte
			append func([]byte) []byte
			want   any
		}{
			"binary": {0xa0, func(dst []byte) []byte { return amqp.AppendBinary(dst, content) }, content},
			"string": {0xa1, func(dst []byte) []byte { return amqp.AppendString(dst, string(content)) }, string(content)},
			"symbol": {0xa3, func(dst []byte) []byte { return amqp.AppendSymbol(dst, amqp.Symbol(content)) }, amqp.Symbol(content)},
		} {
			want := append([]byte{c.code8, byte(n)}, content...)
			if n > 255 {
				want = append(binary.BigEndian.AppendUint32([]byte{c.code8 + 0x10}, uint32(n)), content...)
			}
			if got := c.append([]byte{}); !bytes.Equal(got, want) {
				t.Errorf("%s of %d bytes begins % x, want % x", name, n, got[:min(6, len(got))], want[:min(6, len(want))])
			}
			wide := append(binary.BigEndian.AppendUint32([]byte{c.code8 + 0x10}, uint32(n)), content...) // legal for short ones too
			if got, rest, err := amqp.Decode(wide); err != nil || len(rest) > 0 || !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s of %d bytes in the wide form: %v", name, n, err)
			}
			if _, err := skip(wide[:len(wide)-1]); err == nil && n > 0 {
				t.Errorf("%s of %d bytes without its last one is skipped", name, n)
			}
		}
	}
}
