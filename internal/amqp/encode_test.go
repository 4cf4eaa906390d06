package amqp_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"minibus/internal/amqp"
)

func TestAppend_SmallestEncoding(t *testing.T) {
	long := strings.Repeat("x", 256)
	for _, c := range []struct {
		name string
		got  []byte
		want string
	}{
		{"null", amqp.AppendNull(nil), "40"},
		{"true", amqp.AppendBool(nil, true), "41"},
		{"false", amqp.AppendBool(nil, false), "42"},
		{"ubyte", amqp.AppendUbyte(nil, 0), "50 00"},
		{"ushort", amqp.AppendUshort(nil, 0x1234), "60 1234"},
		{"uint 0", amqp.AppendUint(nil, 0), "43"},
		{"uint 255", amqp.AppendUint(nil, 255), "52 ff"},
		{"uint 256", amqp.AppendUint(nil, 256), "70 00000100"},
		{"ulong 0", amqp.AppendUlong(nil, 0), "44"},
		{"ulong 255", amqp.AppendUlong(nil, 255), "53 ff"},
		{"ulong 256", amqp.AppendUlong(nil, 256), "80 0000000000000100"},
		{"byte", amqp.AppendByte(nil, -1), "51 ff"},
		{"short", amqp.AppendShort(nil, -2), "61 fffe"},
		{"int -128", amqp.AppendInt(nil, -128), "54 80"},
		{"int 128", amqp.AppendInt(nil, 128), "71 00000080"},
		{"int 200", amqp.AppendInt(nil, 200), "71 000000c8"},
		{"long 127", amqp.AppendLong(nil, 127), "55 7f"},
		{"long -129", amqp.AppendLong(nil, -129), "81 ffffffffffffff7f"},
		{"float", amqp.AppendFloat(nil, 1.5), "72 3fc00000"},
		{"double", amqp.AppendDouble(nil, -2.5), "82 c004000000000000"},
		{"char", amqp.AppendChar(nil, 'A'), "73 00000041"},
		{"timestamp", amqp.AppendTimestamp(nil, 258), "83 0000000000000102"},
		{"uuid", amqp.AppendUUID(nil, someUUID), "98 b5dc4a70ac5d43b3b132ec8fcdac3a9d"},
		{"binary", amqp.AppendBinary(nil, []byte{1}), "a0 01 01"},
		{"binary nil", amqp.AppendBinary(nil, nil), "a0 00"},
		{"string", amqp.AppendString(nil, "hi"), "a1 02 6869"},
		{"symbol", amqp.AppendSymbol(nil, "a"), "a3 01 61"},
		{"descriptor", amqp.AppendDescriptor(nil, 0x14), "00 53 14"},
		{"symbols", amqp.AppendSymbolArray(nil, []amqp.Symbol{"a", "bc"}), "e0 07 02 a3 01 61 02 6263"},
		{"no symbols", amqp.AppendSymbolArray(nil, nil), "e0 02 00 a3"},
		{"longs", amqp.AppendLongArray(nil, []int64{1}), "e0 0a 01 81 0000000000000001"},
		{"timestamps", amqp.AppendTimestampArray(nil, []amqp.Timestamp{1}), "e0 0a 01 83 0000000000000001"},
		{"uuids", amqp.AppendUUIDArray(nil, []amqp.UUID{someUUID}), "e0 12 01 98 b5dc4a70ac5d43b3b132ec8fcdac3a9d"},
		{"long string", amqp.AppendString(nil, long)[:5], "b1 00000100"},
		{"long symbol in array", amqp.AppendSymbolArray(nil, []amqp.Symbol{amqp.Symbol(long)})[:14], "f0 00000109 00000001 b3 00000100"},
		{"many longs", amqp.AppendLongArray(nil, make([]int64, 32))[:10], "f0 00000105 00000020 81"},
	} {
		if want := unhex(t, c.want); !bytes.Equal(c.got, want) {
			t.Errorf("%s: got % x, want % x", c.name, c.got, want)
		}
	}
}

func TestBeginList_IsNeverList0(t *testing.T) {
	b, m := amqp.BeginList([]byte{0xee})
	b = amqp.EndList(b, m, 0)
	if want := unhex(t, "ee d0 00000004 00000000"); !bytes.Equal(b, want) {
		t.Errorf("got % x, want % x", b, want)
	}
	b, m = amqp.BeginMap(nil)
	b = amqp.EndMap(amqp.AppendNull(amqp.AppendSymbol(b, "k")), m, 1)
	if want := unhex(t, "d1 00000008 00000002 a3 01 6b 40"); !bytes.Equal(b, want) {
		t.Errorf("got % x, want % x", b, want)
	}
}

func TestAppendValue_RoundTripOfEveryVector(t *testing.T) {
	for _, v := range vectors {
		b, err := amqp.AppendValue(nil, v.want)
		if err != nil {
			t.Errorf("%s: %v", v.name, err)
			continue
		}
		got, rest, err := amqp.Decode(b)
		if err != nil || len(rest) != 0 {
			t.Errorf("%s: decode % x: %v, rest % x", v.name, b, err, rest)
			continue
		}
		if !reflect.DeepEqual(normal(got), normal(v.want)) {
			t.Errorf("%s: got %#v, want %#v", v.name, got, v.want)
		}
	}
}

// normal removes the array codes that encoding may widen.
func normal(v any) any {
	if a, ok := v.(amqp.Array); ok {
		return a.Items
	}
	return v
}

func TestAppendValue_Conveniences(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.UTC)
	for _, c := range []struct {
		in, want any
	}{
		{int(-5), int64(-5)},
		{at, amqp.TimestampOf(at)},
		{[]any{true}, amqp.List{true}},
		{[]amqp.Symbol{"a"}, amqp.Array{Code: amqp.CodeSymbol8, Items: []any{amqp.Symbol("a")}}},
		{[]int64{7}, amqp.Array{Code: amqp.CodeLong, Items: []any{int64(7)}}},
		{[]amqp.Timestamp{7}, amqp.Array{Code: amqp.CodeTimestamp, Items: []any{amqp.Timestamp(7)}}},
		{[]amqp.UUID{someUUID}, amqp.Array{Code: amqp.CodeUUID, Items: []any{someUUID}}},
	} {
		b, err := amqp.AppendValue(nil, c.in)
		if err != nil {
			t.Fatalf("%T: %v", c.in, err)
		}
		if got, _, err := amqp.Decode(b); err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%T: got %#v, %v", c.in, got, err)
		}
	}
}

// described returns values with one descriptor, which an array has once.
func described(a, b any) []any {
	return []any{amqp.Described{amqp.Symbol("d"), a}, amqp.Described{amqp.Symbol("d"), b}}
}

func TestAppendValue_ArraysOfEveryConstructor(t *testing.T) {
	text := "t"
	for _, c := range []struct {
		code  byte
		items []any
	}{
		{amqp.CodeNull, []any{nil, nil}}, {amqp.CodeTrue, []any{true}}, {amqp.CodeFalse, []any{false}},
		{amqp.CodeBool, []any{true, false}}, {amqp.CodeUint0, []any{uint32(0)}}, {amqp.CodeUlong0, []any{uint64(0)}},
		{amqp.CodeList0, []any{amqp.List{}}}, {amqp.CodeUbyte, []any{uint8(1)}}, {amqp.CodeByte, []any{int8(-1)}},
		{amqp.CodeSmallUint, []any{uint32(0), uint32(9)}}, {amqp.CodeUint, []any{uint32(0), uint32(9), uint32(1 << 20)}},
		{amqp.CodeSmallUlong, []any{uint64(0), uint64(9)}}, {amqp.CodeUlong, []any{uint64(0), uint64(9), uint64(1 << 40)}},
		{amqp.CodeSmallInt, []any{int32(-9)}}, {amqp.CodeInt, []any{int32(-9), int32(math.MinInt32)}},
		{amqp.CodeSmallLong, []any{int64(-9)}}, {amqp.CodeLong, []any{int64(-9), int64(math.MinInt64)}},
		{amqp.CodeBinary8, []any{[]byte(text)}}, {amqp.CodeBinary32, []any{[]byte(text)}},
		{amqp.CodeString8, []any{text, ""}}, {amqp.CodeString32, []any{text, strings.Repeat("x", 300)}},
		{amqp.CodeSymbol8, []any{amqp.Symbol(text)}}, {amqp.CodeSymbol32, []any{amqp.Symbol(text)}},
		{amqp.CodeList8, []any{amqp.List{text}, amqp.List{}}}, {amqp.CodeList32, []any{amqp.List{text}}},
		{amqp.CodeMap8, []any{amqp.Map{{text, nil}}}}, {amqp.CodeMap32, []any{amqp.Map{{text, nil}}}},
		{amqp.CodeArray8, []any{amqp.Array{Code: amqp.CodeUbyte, Items: []any{uint8(1)}}}},
		{amqp.CodeArray32, []any{amqp.Array{Code: amqp.CodeUbyte, Items: []any{uint8(1)}}}},
		{amqp.CodeArray32, []any{amqp.Array{Code: amqp.CodeUUID, Items: []any{someUUID}}}},
		{amqp.CodeDecimal128, []any{amqp.Decimal128{1}}}, {amqp.CodeChar, []any{amqp.Char('x')}},
		{amqp.CodeDescribed, described(text, "u")}, {amqp.CodeDescribed, described(text, nil)[:1]}, {amqp.CodeDescribed, described(true, false)}, {amqp.CodeDescribed, described(nil, nil)},
		{amqp.CodeDescribed, described(uint32(0), uint32(1<<20))}, {amqp.CodeDescribed, described(uint64(0), uint64(1<<40))},
		{amqp.CodeDescribed, described(int32(1), int32(1<<20))}, {amqp.CodeDescribed, described(int64(1), int64(1<<40))},
		{amqp.CodeDescribed, described(amqp.List{}, amqp.List{true})},
		{amqp.CodeDescribed, described(
			amqp.Array{Code: amqp.CodeLong, Items: []any{int64(1)}}, amqp.Array{Code: amqp.CodeLong, Items: []any{int64(2)}})},
	} {
		in := amqp.Array{Code: c.code, Items: c.items}
		b, err := amqp.AppendValue(nil, in)
		if err != nil {
			t.Errorf("%#02x: %v", c.code, err)
			continue
		}
		if got, rest, err := amqp.Decode(b); err != nil || len(rest) > 0 || !reflect.DeepEqual(got, in) {
			t.Errorf("%#02x: got %#v, %v, from % x", c.code, got, err, b)
		}
	}
}

func TestAppendValue_SmallArrays(t *testing.T) {
	if b, err := amqp.AppendValue(nil, amqp.Array{}); err != nil || b[len(b)-1] != amqp.CodeNull {
		t.Errorf("empty array: % x, %v", b, err)
	}
	if b, err := amqp.AppendValue(nil, []int64{1}); err != nil || b[0] != amqp.CodeArray8 {
		t.Errorf("small array: % x, %v", b, err)
	}
	want := amqp.Array{Code: amqp.CodeArray32, Items: []any{amqp.Array{Code: amqp.CodeLong, Items: []any{int64(1)}}}}
	b, err := amqp.AppendValue(nil, amqp.Array{Code: amqp.CodeArray32, Items: []any{[]int64{1}}})
	if err != nil {
		t.Fatalf("array of small arrays: %v", err)
	}
	if got, rest, err := amqp.Decode(b); err != nil || len(rest) != 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("array of small arrays: %v, %v", got, err)
	}
}

func TestAppendValue_ArrayItemsThatOutgrowTheirCodeGetTheWideOne(t *testing.T) {
	items := []any{"short", strings.Repeat("x", 300)}
	b, err := amqp.AppendValue(nil, amqp.Array{Code: amqp.CodeString8, Items: items})
	if err != nil {
		t.Fatal(err)
	}
	want := amqp.Array{Code: amqp.CodeString32, Items: items}
	if got, _, err := amqp.Decode(b); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestAppendValue_RefusesAndLeavesTheDestination(t *testing.T) {
	type other struct{}
	dst := []byte{1, 2}
	for _, v := range []any{
		other{}, map[string]any{}, amqp.List{true, other{}}, amqp.Map{{other{}, 1}}, amqp.Map{{1, other{}}},
		amqp.Described{other{}, 1}, amqp.Described{1, other{}},
		amqp.Array{Code: amqp.CodeUbyte, Items: []any{"text"}},
		amqp.Array{Code: amqp.CodeSmallInt, Items: []any{int32(1000)}},
		amqp.Array{Code: amqp.CodeString8, Items: []any{int32(1)}},
		amqp.Array{Code: amqp.CodeList0, Items: []any{amqp.List{1}}},
		amqp.Array{Code: amqp.CodeDescribed, Items: []any{1}},
		amqp.Array{Items: described(other{}, 1)}, amqp.Array{Items: described(amqp.Described{1, 1}, 1)},
	} {
		out, err := amqp.AppendValue(dst, v)
		if !errors.Is(err, amqp.ErrNoEncoding) {
			t.Errorf("%#v: %v", v, err)
		}
		if !bytes.Equal(out, dst) {
			t.Errorf("%#v: left % x", v, out)
		}
	}
}

func TestAppend_DoesNotAllocate(t *testing.T) {
	dst := make([]byte, 0, 1024)
	symbols := []amqp.Symbol{"a", "b"}
	n := testing.AllocsPerRun(100, func() {
		b, m := amqp.BeginList(dst)
		b = amqp.AppendString(amqp.AppendLong(b, 1<<40), "text")
		b = amqp.AppendSymbolArray(amqp.AppendUUID(b, someUUID), symbols)
		_ = amqp.EndList(b, m, 4)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}
