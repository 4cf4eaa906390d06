package filter

import (
	"errors"
	"math"
	"testing"

	"minibus/internal/dotnet"
)

func decimal(t testing.TB, text string) Value {
	t.Helper()
	v, ok := parseDecimal(text)
	if !ok {
		t.Fatalf("parse decimal %q", text)
	}
	return v
}

// Promotion and results of the binary operators. The kind of the result matters as much as its value.
func TestArithmetic(t *testing.T) {
	dec := func(text string) Value { return decimal(t, text) }
	for _, c := range []struct {
		op   arithOp
		a, b Value
		want Value
	}{
		{opAdd, UInt8(200), UInt8(100), Int32(300)},
		{opAdd, Int8(-1), Int16(2), Int32(1)},
		{opAdd, Char('a'), Int32(1), Int32(98)},
		{opAdd, Int32(math.MaxInt32), Int32(1), Int32(math.MinInt32)},
		{opMul, Int32(1 << 20), Int32(1 << 20), Int32(0)},
		{opAdd, Int32(-1), UInt32(1), Int64(0)},
		{opAdd, UInt32(math.MaxUint32), UInt32(1), UInt32(0)},
		{opMul, UInt32(math.MaxUint32), UInt32(math.MaxUint32), UInt32(1)},
		{opSub, UInt32(1), UInt32(2), Int64(-1)},
		{opSub, UInt8(1), UInt8(2), Int32(-1)},
		{opAdd, Int64(math.MaxInt64), Int32(1), Int64(math.MinInt64)},
		{opAdd, Int64(1), UInt32(1), Int64(2)},
		{opAdd, UInt64(math.MaxUint64), UInt64(1), UInt64(0)},
		{opAdd, UInt64(1), UInt32(1), UInt64(2)},
		{opSub, UInt64(1), UInt64(2), dec("-1")},
		{opAdd, UInt64(math.MaxUint64), Int64(1), dec("18446744073709551616")},
		{opDiv, Int64(-7), Int64(2), Int64(-3)},
		{opMod, Int64(-7), Int64(2), Int64(-1)},
		{opMod, Int64(7), Int64(-2), Int64(1)},
		{opDiv, Int64(math.MinInt64), Int64(-1), Int64(math.MinInt64)},
		{opMod, Int64(math.MinInt64), Int64(-1), Int64(0)},
		{opDiv, Int32(math.MinInt32), Int32(-1), Int32(math.MinInt32)},
		{opDiv, Float32(1), Int32(3), Float32(float32(1) / 3)},
		{opAdd, Float32(16777216), Int32(1), Float32(16777216)},
		{opMul, Float32(math.MaxFloat32), UInt64(math.MaxUint64), Float32(float32(math.Inf(1)))},
		{opMul, Float32(0.5), Float64(2), Float64(1)},
		{opSub, Float64(1), Int32(3), Float64(-2)},
		{opSub, Float32(0.5), Float32(0.25), Float32(0.25)},
		{opDiv, Float64(1), Int64(0), Float64(math.Inf(1))},
		{opMod, Float64(-7.5), Int64(2), Float64(-1.5)},
		{opAdd, dec("0.1"), Int64(1), dec("1.1")},
		{opAdd, dec("0.1"), Float64(1), Float64(1.1)},
		{opDiv, dec("1"), dec("3"), dec("0.3333333333333333333333333333")},
		{opMod, dec("-7.5"), Int64(2), dec("-1.5")},
		{opSub, dec("1.5"), dec("1.50"), dec("0")},
		{opMul, dec("1.5"), dec("-2"), dec("-3")},
		{opAdd, String("a"), String("b"), String("ab")},
		{opSub, DateTime(5000), DateTime(2000), TimeSpan(3 * dotnet.Second)},
		{opSub, DateTimeOffset(dotnet.UnixEpoch + 5), DateTime(0), TimeSpan(5)},
		{opAdd, DateTime(1000), TimeSpan(dotnet.Second), DateTime(2000)},
		{opAdd, TimeSpan(dotnet.Second), DateTime(1000), DateTime(2000)},
		{opSub, DateTime(1000), TimeSpan(dotnet.Second), DateTime(0)},
		{opAdd, DateTimeOffset(10), TimeSpan(5), DateTimeOffset(15)},
		{opAdd, TimeSpan(5), TimeSpan(6), TimeSpan(11)},
		{opSub, TimeSpan(5), TimeSpan(6), TimeSpan(-1)},
		{opAdd, Null(), String("x"), Value{}},
		{opDiv, Value{}, Int64(0), Value{}},
	} {
		got, err := calculate(c.op, c.a, c.b)
		if err != nil || got != c.want {
			t.Errorf("%s %q %s %s %q = %s %q (error %v), want %s %q", c.a.Kind(), c.a, c.op, c.b.Kind(), c.b,
				got.Kind(), got, err, c.want.Kind(), c.want)
		}
	}
}

func TestArithmeticErrors(t *testing.T) {
	big := decimal(t, "79228162514264337593543950335")
	for _, c := range []struct {
		op   arithOp
		a, b Value
	}{
		{opDiv, Int32(1), Int64(0)}, {opMod, UInt64(1), UInt64(0)}, {opDiv, big, Int32(0)}, {opMod, big, decimal(t, "0")},
		{opAdd, big, big}, {opMul, big, Int32(-2)},
		{opAdd, String("a"), Int32(1)}, {opAdd, Int32(1), String("a")}, {opSub, String("a"), String("b")},
		{opMul, Bool(true), Int32(1)}, {opAdd, Bool(true), Bool(true)}, {opAdd, Char('a'), String("b")},
		{opAdd, DateTime(0), DateTime(0)}, {opMul, TimeSpan(1), Int32(2)}, {opSub, TimeSpan(1), DateTime(0)}, {opAdd, DateTime(0), Int64(1)},
		{opAdd, DateTime(math.MaxInt64), TimeSpan(dotnet.Millisecond)}, {opAdd, DateTimeOffset(math.MaxInt64), TimeSpan(1)}, {opSub, DateTime(math.MinInt64), TimeSpan(1)},
		{opAdd, TimeSpan(math.MaxInt64), TimeSpan(1)}, {opSub, TimeSpan(0), TimeSpan(math.MinInt64)},
		{opAdd, GUID([16]byte{}), GUID([16]byte{})}, {opAdd, Opaque("x"), Opaque("y")},
		{opAdd, String(string(make([]byte, maxText))), String("x")},
	} {
		got, err := calculate(c.op, c.a, c.b)
		var eval *EvalError
		if !errors.As(err, &eval) {
			t.Errorf("%s %s %s = %q, want an EvalError", c.a.Kind(), c.op, c.b.Kind(), got)
		}
	}
}

func TestSigns(t *testing.T) {
	for _, c := range []struct {
		minus   bool
		x, want Value
	}{
		{true, Int8(-128), Int32(128)}, {true, UInt16(1), Int32(-1)}, {false, UInt8(1), Int32(1)}, {false, Char('a'), Int32(97)},
		{true, Int32(math.MinInt32), Int32(math.MinInt32)}, {true, UInt32(5), Int64(-5)}, {false, UInt32(5), UInt32(5)},
		{true, Int64(5), Int64(-5)}, {true, UInt64(5), decimal(t, "-5")}, {false, UInt64(5), UInt64(5)},
		{true, Float32(1.5), Float32(-1.5)}, {true, Float64(1.5), Float64(-1.5)}, {true, decimal(t, "1.5"), decimal(t, "-1.5")},
		{true, TimeSpan(5), TimeSpan(-5)}, {false, TimeSpan(5), TimeSpan(5)}, {true, Null(), Value{}},
	} {
		if got, err := applySign(c.minus, c.x); err != nil || got != c.want {
			t.Errorf("sign (minus %v) of %s %q = %s %q (error %v), want %s %q", c.minus, c.x.Kind(), c.x, got.Kind(), got, err,
				c.want.Kind(), c.want)
		}
	}
	for _, x := range []Value{String("1"), Bool(true), DateTime(0), TimeSpan(math.MinInt64)} {
		if got, err := applySign(true, x); err == nil {
			t.Errorf("minus %s = %q, want an error", x.Kind(), got)
		}
	}
}
