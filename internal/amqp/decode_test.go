package amqp_test

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"runtime"
	"testing"

	"minibus/internal/amqp"
)

var someUUID = amqp.UUID{0xb5, 0xdc, 0x4a, 0x70, 0xac, 0x5d, 0x43, 0xb3, 0xb1, 0x32, 0xec, 0x8f, 0xcd, 0xac, 0x3a, 0x9d}

// vectors lists every legal encoding of the standard's types, written by hand from [AMQP 1.6].
var vectors = []struct {
	name string
	hex  string
	want any
}{
	{"null", "40", nil},
	{"true", "41", true},
	{"false", "42", false},
	{"boolean octet true", "56 01", true},
	{"boolean octet false", "56 00", false},
	{"ubyte", "50 ff", uint8(255)},
	{"ushort", "60 0102", uint16(258)},
	{"uint0", "43", uint32(0)},
	{"smalluint", "52 ff", uint32(255)},
	{"uint", "70 fffffffe", uint32(math.MaxUint32 - 1)},
	{"uint, longer than needed", "70 00000000", uint32(0)},
	{"ulong0", "44", uint64(0)},
	{"smallulong", "53 80", uint64(128)},
	{"ulong", "80 ffffffffffffffff", uint64(math.MaxUint64)},
	{"ulong, longer than needed", "80 0000000000000075", uint64(0x75)},
	{"byte", "51 80", int8(-128)},
	{"short", "61 fffe", int16(-2)},
	{"smallint", "54 ff", int32(-1)},
	{"int", "71 80000000", int32(math.MinInt32)},
	{"int, longer than needed", "71 000000c8", int32(200)},
	{"smalllong", "55 80", int64(-128)},
	{"long", "81 8000000000000000", int64(math.MinInt64)},
	{"float", "72 3fc00000", float32(1.5)},
	{"double", "82 c004000000000000", float64(-2.5)},
	{"decimal32", "74 01020304", amqp.Decimal32{1, 2, 3, 4}},
	{"decimal64", "84 0102030405060708", amqp.Decimal64{1, 2, 3, 4, 5, 6, 7, 8}},
	{"decimal128", "94 000102030405060708090a0b0c0d0e0f", amqp.Decimal128{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
	{"char", "73 0001f68c", amqp.Char('🚌')},
	{"char, a surrogate of .NET", "73 0000d83d", amqp.Char(0xd83d)},
	{"timestamp", "83 0000000000000001", amqp.Timestamp(1)},
	{"timestamp before the epoch", "83 ffffffffffffffff", amqp.Timestamp(-1)},
	{"uuid", "98 b5dc4a70ac5d43b3b132ec8fcdac3a9d", someUUID},
	{"vbin8", "a0 02 00ff", []byte{0, 255}},
	{"vbin8 empty", "a0 00", []byte{}},
	{"vbin32", "b0 00000001 07", []byte{7}},
	{"str8", "a1 02 c3a9", "é"},
	{"str32", "b1 00000002 6869", "hi"},
	{"sym8", "a3 01 61", amqp.Symbol("a")},
	{"sym32", "b3 00000001 61", amqp.Symbol("a")},
	{"list0", "45", amqp.List{}},
	{"list8", "c0 03 02 41 40", amqp.List{true, nil}},
	{"list8 empty", "c0 01 00", amqp.List{}},
	{"list32", "d0 00000006 00000002 41 40", amqp.List{true, nil}},
	{"list in list", "c0 06 02 c0 02 01 43 45", amqp.List{amqp.List{uint32(0)}, amqp.List{}}},
	{"map8", "c1 06 02 a1 01 6b 54 05", amqp.Map{{"k", int32(5)}}},
	{"map32", "d1 00000009 00000002 a3 02 6b6b 40", amqp.Map{{amqp.Symbol("kk"), nil}}},
	{"map8 empty", "c1 01 00", amqp.Map{}},
	{"array8 of symbol", "e0 06 02 a3 01 61 01 62", amqp.Array{Code: 0xa3, Items: []any{amqp.Symbol("a"), amqp.Symbol("b")}}},
	{"array32 of long", "f0 0000000d 00000001 81 0000000000000005", amqp.Array{Code: 0x81, Items: []any{int64(5)}}},
	{"array of smalllong", "e0 04 02 55 01 ff", amqp.Array{Code: 0x55, Items: []any{int64(1), int64(-1)}}},
	{"array of list0", "e0 02 02 45", amqp.Array{Code: 0x45, Items: []any{amqp.List{}, amqp.List{}}}},
	{"array of list8", "e0 07 02 c0 01 00 02 01 41", amqp.Array{Code: 0xc0, Items: []any{amqp.List{}, amqp.List{true}}}},
	{"array of map8", "e0 08 01 c1 05 02 50 01 50 02", amqp.Array{Code: 0xc1, Items: []any{amqp.Map{{uint8(1), uint8(2)}}}}},
	{"array of array8", "e0 06 01 e0 03 01 50 09", amqp.Array{Code: 0xe0, Items: []any{amqp.Array{Code: 0x50, Items: []any{uint8(9)}}}}},
	{"array of true", "e0 02 03 41", amqp.Array{Code: 0x41, Items: []any{true, true, true}}},
	{"array empty", "e0 02 00 a3", amqp.Array{Code: 0xa3, Items: []any{}}},
	{"array empty without constructor", "e0 01 00", amqp.Array{Code: 0x40, Items: []any{}}},
	{"array of described", "e0 07 02 00 53 05 50 01 02", amqp.Array{Code: 0x00, Items: []any{
		amqp.Described{uint64(5), uint8(1)}, amqp.Described{uint64(5), uint8(2)}}}},
	{"described by ulong", "00 53 24 45", amqp.Described{uint64(0x24), amqp.List{}}},
	{"described by long ulong", "00 80 000000137000000c a1 01 73", amqp.Described{uint64(0x137000000c), "s"}},
	{"described by symbol", "00 a3 01 75 a1 01 78", amqp.Described{amqp.Symbol("u"), "x"}},
	{"described twice", "00 53 01 00 53 02 40", amqp.Described{uint64(1), amqp.Described{uint64(2), nil}}},
}

func TestDecode_EveryLegalEncoding(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			b := append(unhex(t, v.hex), 0xee)
			got, rest, err := amqp.Decode(b)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, v.want) {
				t.Errorf("got %#v, want %#v", got, v.want)
			}
			if len(rest) != 1 || rest[0] != 0xee {
				t.Errorf("rest is % x", rest)
			}
			if rest, err := skip(b); err != nil || len(rest) != 1 {
				t.Errorf("skip: % x, %v", rest, err)
			}
		})
	}
}

func TestDecode_EveryProperPrefixIsTruncated(t *testing.T) {
	for _, v := range vectors {
		b := unhex(t, v.hex)
		for n := range b {
			if _, _, err := amqp.Decode(b[:n]); !errors.Is(err, amqp.ErrTruncated) {
				t.Errorf("%s: decode of %d bytes of %d: %v", v.name, n, len(b), err)
			}
			if _, err := skip(b[:n]); !errors.Is(err, amqp.ErrTruncated) {
				t.Errorf("%s: skip of %d bytes of %d: %v", v.name, n, len(b), err)
			}
		}
	}
}

func TestDecode_Refuses(t *testing.T) {
	for _, c := range []struct {
		name, hex string
		want      error
	}{
		{"unknown constructor", "4f", amqp.ErrMalformed},
		{"boolean of 2", "56 02", amqp.ErrMalformed},
		{"string that is no UTF-8", "a1 01 ff", amqp.ErrMalformed},
		{"symbol that is no UTF-8", "a3 01 ff", amqp.ErrMalformed},
		{"char beyond Unicode", "73 00110000", amqp.ErrMalformed},
		{"list with bytes left over", "c0 03 01 41 40", amqp.ErrMalformed},
		{"list that claims more than its bytes", "c0 02 05 40", amqp.ErrTooMany},
		{"list whose item reaches beyond it", "c0 03 01 a1 05 6162636465", amqp.ErrTruncated},
		{"list too small for its count", "c0 00 00", amqp.ErrMalformed},
		{"map with odd count", "c1 03 01 a1 00", amqp.ErrMalformed},
		{"map with bytes left over", "d1 0000000a 00000002 a3 01 6b 40 a0 00", amqp.ErrMalformed},
		{"array of unknown", "e0 03 01 4f 00", amqp.ErrMalformed},
		{"array with bytes left over", "e0 04 01 50 01 02", amqp.ErrMalformed},
		{"array without constructor", "e0 01 01", amqp.ErrTruncated},
		{"array described by nothing", "e0 04 01 00 53 05", amqp.ErrTruncated},
		{"list32 of four billion", "d0 00000004 ffffffff", amqp.ErrTooMany},
		{"list32 larger than everything", "d0 ffffffff 00000001 40", amqp.ErrTruncated},
		{"array of four billion bytes", "f0 00000006 ffffffff 50 00", amqp.ErrTooMany},
		{"array of four billion nulls", "f0 00000005 ffffffff 40", amqp.ErrTooMany},
		{"array of four billion list0", "f0 00000005 ffffffff 45", amqp.ErrTooMany},
	} {
		b := unhex(t, c.hex)
		_, _, err := amqp.Decode(b)
		var d *amqp.DecodeError
		if !errors.Is(err, c.want) || !errors.As(err, &d) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		} else if d.Offset < 0 || d.Offset > len(b) || d.What == "" {
			t.Errorf("%s: bad position in %v", c.name, err)
		}
	}
}

// Memory may be a multiple of the input, since a byte can be a value, but only a small one, and must not follow a claimed count.
func TestDecode_MemoryIsBoundedByTheInput(t *testing.T) {
	const size, factor = 1 << 16, 64
	wrap := func(one []byte) []byte {
		n := size / len(one)
		b, m := amqp.BeginList(nil)
		return amqp.EndList(append(b, bytes.Repeat(one, n)...), m, n)
	}
	lying := func() []byte { // lists in lists, each of which claims all bytes after it
		var b []byte
		for range amqp.MaxDepth {
			b, _ = amqp.BeginList(b)
		}
		b = append(b, bytes.Repeat([]byte{0x40}, size)...)
		for m := amqp.Mark(0); int(m) < 9*amqp.MaxDepth; m += 9 {
			b = amqp.EndList(b, m, len(b)-int(m)-9)
		}
		return b
	}
	for name, b := range map[string][]byte{
		"nulls": wrap([]byte{0x40}), "list0": wrap([]byte{0x45}), "small lists": wrap(unhex(t, "c0 02 01 40")),
		"small maps": wrap(unhex(t, "c1 03 02 40 40")), "small arrays": wrap(unhex(t, "e0 03 01 50 07")),
		"empty arrays": wrap(unhex(t, "e0 01 00")), "symbols": wrap(unhex(t, "a3 01 61")), "described": wrap(unhex(t, "00 44 40")),
		"lying lists": lying(), "array of four billion": unhex(t, "f0 00000005 ffffffff 40"),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, _ = amqp.Decode(b)
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > factor*size {
			t.Errorf("%s: %d bytes allocated for %d", name, got, len(b))
		}
	}
}

func TestDecode_ZeroWidthBudgetIsShared(t *testing.T) {
	const each = 200
	one := []byte{0xe0, 2, each, 0x40}
	list := func(n int) []byte {
		b, m := amqp.BeginList(nil)
		for range n {
			b = append(b, one...)
		}
		return amqp.EndList(b, m, n)
	}
	if _, _, err := amqp.Decode(list(5)); err != nil {
		t.Errorf("a thousand: %v", err)
	}
	if _, _, err := amqp.Decode(list(6)); !errors.Is(err, amqp.ErrTooMany) {
		t.Errorf("more: %v", err)
	}
}

func TestDecode_NestingIsBounded(t *testing.T) {
	kinds := map[string]func(inner []byte) []byte{
		"list": func(b []byte) []byte { o, m := amqp.BeginList(nil); return amqp.EndList(append(o, b...), m, 1) },
		"map": func(b []byte) []byte {
			o, m := amqp.BeginMap(nil)
			return amqp.EndMap(append(append(o, 0x40), b...), m, 1)
		},
		"described":  func(b []byte) []byte { return append([]byte{0, 0x44}, b...) },
		"descriptor": func(b []byte) []byte { return append(append([]byte{0}, b...), 0x40) },
		"array": func(b []byte) []byte { // the inner value's constructor is the outer's element constructor
			size := len(b) + 4
			return append([]byte{0xf0, 0, 0, byte(size >> 8), byte(size), 0, 0, 0, 1}, b...)
		},
	}
	for name, wrap := range kinds {
		b := []byte{0x40}
		for range amqp.MaxDepth {
			b = wrap(b)
		}
		if _, rest, err := amqp.Decode(b); err != nil || len(rest) != 0 {
			t.Errorf("%s: depth %d: %v", name, amqp.MaxDepth, err)
		}
		if _, _, err := amqp.Decode(wrap(b)); !errors.Is(err, amqp.ErrTooDeep) {
			t.Errorf("%s: one deeper: %v", name, err)
		}
	}
	deep := bytes.Repeat([]byte{0}, 1<<20)
	if _, err := skip(deep); !errors.Is(err, amqp.ErrTooDeep) {
		t.Errorf("skip of a million descriptors: %v", err)
	}
}

func TestDecode_BinaryAliasesAndCannotGrowIntoItsNeighbour(t *testing.T) {
	b := unhex(t, "a0 01 aa 41")
	v, _, err := amqp.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	bin := v.([]byte)
	if &bin[0] != &b[2] {
		t.Error("the binary was copied")
	}
	_ = append(bin, 0xff)
	if b[3] != 0x41 {
		t.Error("appending to the binary wrote over the next value")
	}
}

func TestSkip_DoesNotAllocate(t *testing.T) {
	b := unhex(t, "00 53 70 d0 0000000a 00000002 c1 03 02 40 40 43")
	if _, err := skip(b); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = skip(b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
