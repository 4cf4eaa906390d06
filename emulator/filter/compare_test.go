package filter

import (
	"math"
	"testing"

	"minibus/internal/dotnet"
)

const guidText = "0f8fad5b-d9cb-469f-a165-70867728950e"

// Comparison by value across types, and unknown for types that do not fit. Each line gives the order
// of a and b; the test checks both directions and all operators.
func TestComparisons(t *testing.T) {
	guid, ok := parseGUID(guidText)
	if !ok {
		t.Fatal("parse Guid")
	}
	const unordered, equalOnly, notEqualOnly = 2, 3, 4
	for _, c := range []struct {
		a, b  Value
		order int
	}{
		{Int32(10), Int64(10), 0}, {Int8(-1), UInt64(math.MaxUint64), -1}, {UInt64(math.MaxUint64), Int64(-1), 1},
		{UInt64(math.MaxUint64), UInt64(math.MaxUint64 - 1), 1}, {UInt32(7), UInt8(7), 0}, {Char('A'), Int32(65), 0},
		{Int64(10), Float64(10), 0}, {Float32(0.5), Float64(0.5), 0}, {Float32(0.1), Float64(0.1), 1}, {Float64(9.99), Int32(10), -1},
		{UInt64(1 << 63), Float64(1 << 63), 0}, {Float64(math.Inf(1)), Int64(math.MaxInt64), 1},
		{decimal(t, "10.0"), Int32(10), 0}, {decimal(t, "2.5"), Float64(2.5), 0}, {decimal(t, "0.1"), decimal(t, "0.10"), 0},
		{decimal(t, "9.99"), UInt64(10), -1}, {decimal(t, "-1"), Float64(math.Inf(-1)), 1}, {Float64(0), Float64(math.Copysign(0, -1)), 0},
		{String("a"), String("b"), -1}, {String("a"), String("a"), 0}, {String("B"), String("a"), -1}, {String(""), String("a"), -1},
		{DateTime(1), DateTimeOffset(dotnet.UnixEpoch + dotnet.Millisecond), 0}, {DateTime(1), DateTime(2), -1}, {TimeSpan(-1), TimeSpan(1), -1},
		{Bool(true), Bool(true), equalOnly}, {Bool(true), Bool(false), notEqualOnly}, {guid, guid, equalOnly},
		{guid, String("{0F8FAD5B-D9CB-469F-A165-70867728950E}"), equalOnly}, {guid, String("0f8fad5bd9cb469fa16570867728950f"), notEqualOnly},
		{guid, String("no guid"), unordered}, {String("11"), Int32(11), unordered}, {String("true"), Bool(true), unordered},
		{Int32(1), Bool(true), unordered}, {DateTime(0), String("1970-01-01"), unordered}, {DateTime(0), Int64(0), unordered},
		{TimeSpan(0), DateTime(0), unordered}, {Char('a'), String("a"), unordered}, {Opaque("x"), Opaque("x"), unordered},
		{Null(), Null(), unordered}, {Value{}, Int32(1), unordered}, {guid, Int64(1), unordered},
	} {
		for op := Equal; op <= GreaterOrEqual; op++ {
			want, back := Unknown, Unknown
			switch {
			case c.order <= 1:
				want, back = triOf(op.holds(c.order)), triOf(op.holds(-c.order))
			case c.order != unordered && op <= NotEqual:
				want = triOf((op == Equal) == (c.order == equalOnly))
				back = want
			}
			if got := Compare(op, c.a, c.b); got != want {
				t.Errorf("%s %q %s %s %q: %v, want %v", c.a.Kind(), c.a, op, c.b.Kind(), c.b, got, want)
			}
			if got := Compare(op, c.b, c.a); got != back {
				t.Errorf("%s %q %s %s %q: %v, want %v", c.b.Kind(), c.b, op, c.a.Kind(), c.a, got, back)
			}
		}
	}
}

func TestNaNEqualsNothing(t *testing.T) {
	nan := Float64(math.NaN())
	for _, other := range []Value{nan, Int32(1), Float32(1), decimal(t, "1")} {
		for op := Equal; op <= GreaterOrEqual; op++ {
			if got, want := Compare(op, nan, other), triOf(op == NotEqual); got != want {
				t.Errorf("NaN %s %s: %v, want %v", op, other.Kind(), got, want)
			}
		}
	}
	if _, ok := keyOf(nan); ok {
		t.Error("NaN has a key")
	}
}

// valuesOfAllKinds is a set of values with many that are equal across kinds.
func valuesOfAllKinds(t testing.TB) []Value {
	guid, _ := parseGUID(guidText)
	values := []Value{{}, Null(), Bool(true), Bool(false), String(""), String("10"), String("blue"), String("Blue"), String(guidText),
		String("{0F8FAD5B-D9CB-469F-A165-70867728950E}"), guid, GUID([16]byte{}), DateTime(0), DateTimeOffset(dotnet.UnixEpoch), DateTime(1),
		TimeSpan(0), TimeSpan(10), Opaque("x"), Float64(math.NaN()), Float64(math.Inf(1)), Float32(float32(math.Inf(1))),
		Float64(math.Copysign(0, -1)), Float64(2.5), Float32(2.5), Float32(0.1), Float64(0.1), decimal(t, "0.1"), decimal(t, "2.5"),
		Int64(math.MaxInt64), Int64(math.MinInt64), UInt64(math.MaxUint64), UInt64(1 << 63), Float64(1 << 63), decimal(t, "9223372036854775808"),
		Int64(1<<53 + 1), Float64(1 << 53), decimal(t, "9007199254740993"), Int32(-1)}
	for _, n := range []int8{0, 1, 10} {
		values = append(values, Int8(n), Int16(int16(n)), Int32(int32(n)), Int64(int64(n)), UInt8(uint8(n)), UInt16(uint16(n)),
			UInt32(uint32(n)), UInt64(uint64(n)), Char(rune(n)), Float32(float32(n)), Float64(float64(n)), decimal(t, Int8(n).String()))
	}
	return values
}

// The index finds by key what a comparison calls equal: all pairs of values.
func TestEqualValuesHaveEqualKeys(t *testing.T) {
	values := valuesOfAllKinds(t)
	for _, a := range values {
		for _, b := range values {
			ka, okA := keyOf(a)
			kb, okB := keyOf(b)
			if Compare(Equal, a, b) == True && (!okA || !okB || ka != kb) {
				t.Errorf("%s %q = %s %q, but the keys differ", a.Kind(), a, b.Kind(), b)
			}
			if sameValue(a, b) && Compare(Equal, a, b) != True {
				t.Errorf("%s %q and %s %q correlate without being equal", a.Kind(), a, b.Kind(), b)
			}
		}
	}
}
