package filter

import (
	"math"
	"strings"
	"testing"

	"minibus/internal/dotnet"
)

// SET converts to the type that the property already has.
func TestConvert(t *testing.T) {
	guid, _ := parseGUID(guidText)
	noon := DateTime(1767268800123) // 2026-01-01T12:00:00.123Z
	for _, c := range []struct {
		v    Value
		to   Kind
		want Value
	}{
		{Int64(5), KindInt32, Int32(5)}, {Float64(5), KindInt32, Int32(5)}, {Float64(2.5), KindInt32, Int32(2)}, {Float64(3.5), KindInt64, Int64(4)},
		{Float64(-2.6), KindInt8, Int8(-3)}, {decimal(t, "2.5"), KindUInt8, UInt8(2)}, {Float64(1 << 63), KindUInt64, UInt64(1 << 63)},
		{Int64(math.MaxInt64), KindUInt64, UInt64(math.MaxInt64)}, {UInt64(7), KindInt16, Int16(7)}, {Int64(65), KindChar, Char('A')},
		{Int64(1), KindFloat32, Float32(1)}, {Float64(0.1), KindFloat32, Float32(0.1)}, {Float32(0.5), KindFloat64, Float64(0.5)},
		{Float64(0.5), KindDecimal, decimal(t, "0.5")}, {UInt64(math.MaxUint64), KindDecimal, decimal(t, "18446744073709551615")},
		{decimal(t, "0.5"), KindFloat64, Float64(0.5)}, {Bool(true), KindInt32, Int32(1)}, {Int64(0), KindBool, Bool(false)},
		{Float64(0.5), KindBool, Bool(true)}, {decimal(t, "0"), KindBool, Bool(false)},
		{String(" 12 "), KindInt32, Int32(12)}, {String("-12"), KindInt64, Int64(-12)}, {String("18446744073709551615"), KindUInt64, UInt64(math.MaxUint64)},
		{String("2.5"), KindFloat64, Float64(2.5)}, {String("1e3"), KindFloat32, Float32(1000)}, {String("2.50"), KindDecimal, decimal(t, "2.5")},
		{String("TRUE"), KindBool, Bool(true)}, {String(" false"), KindBool, Bool(false)}, {String("é"), KindChar, Char('é')}, {String(" "), KindChar, Char(' ')},
		{String(guidText), KindGUID, guid}, {guid, KindString, String(guidText)},
		{String("2026-01-01T12:00:00.123Z"), KindDateTime, noon}, {String("2026-01-01T13:00:00.123+01:00"), KindDateTime, noon},
		{String("2026-01-01T12:00:00.123"), KindDateTimeOffset, DateTimeOffset(noon.Ticks())}, {String("2026-01-01 12:00:00.123"), KindDateTime, noon},
		{String("1970-01-01"), KindDateTime, DateTime(0)}, {noon, KindDateTimeOffset, DateTimeOffset(noon.Ticks())},
		{noon, KindString, String("2026-01-01T12:00:00.123Z")}, {TimeSpan(dotnet.Hour), KindString, String("01:00:00")},
		{String("PT1H"), KindTimeSpan, TimeSpan(dotnet.Hour)}, {Int64(5), KindString, String("5")}, {Bool(true), KindString, String("True")},
		{Null(), KindInt32, Null()}, {Int64(5), KindNull, Int64(5)}, {Opaque("x"), KindOpaque, Opaque("x")}, {Int64(1), KindInt64, Int64(1)},
	} {
		if got, err := convert(c.v, c.to); err != nil || got != c.want {
			t.Errorf("%s %q to %s = %s %q (error %v), want %s %q", c.v.Kind(), c.v, c.to, got.Kind(), got, err, c.want.Kind(), c.want)
		}
	}
}

func TestConversionErrors(t *testing.T) {
	for _, c := range []struct {
		v  Value
		to Kind
	}{
		{Int64(1 << 31), KindInt32}, {Int64(-1), KindUInt64}, {Int64(-1), KindUInt8}, {UInt64(1 << 63), KindInt64}, {Float64(1e30), KindInt64},
		{Float64(math.NaN()), KindInt32}, {Float64(math.Inf(1)), KindDecimal}, {Float64(1e29), KindDecimal}, {String("x"), KindInt32},
		{String("1.5"), KindInt32}, {String(""), KindFloat64}, {String("1e999"), KindFloat64}, {String("1/3"), KindDecimal}, {String("yes"), KindBool},
		{String("ab"), KindChar}, {String(""), KindChar}, {String("tomorrow"), KindDateTime}, {String("+12026-01-01"), KindDateTime},
		{String("soon"), KindTimeSpan}, {String("not a guid"), KindGUID}, {Int64(1), KindGUID}, {Int64(1), KindDateTime}, {Int64(1), KindTimeSpan},
		{guidValue(), KindInt32}, {Char('x'), KindBool}, {DateTime(0), KindBool}, {Opaque("x"), KindString}, {String("x"), KindOpaque},
		{String("256"), KindUInt8}, {String("-1"), KindUInt64}, {Int64(utf8Beyond), KindChar},
	} {
		if got, err := convert(c.v, c.to); err == nil {
			t.Errorf("%s %q to %s = %q, want an error", c.v.Kind(), c.v, c.to, got)
		}
	}
}

const utf8Beyond = 0x110000

func guidValue() Value {
	v, _ := parseGUID(guidText)
	return v
}

func TestTimeSpanTexts(t *testing.T) {
	for ticks, text := range map[int64]string{
		0:                            "00:00:00",
		dotnet.Second:                "00:00:01",
		-(dotnet.Hour + 5):           "-01:00:00.0000005",
		3*dotnet.Day + dotnet.Minute: "3.00:01:00",
		math.MaxInt64:                "10675199.02:48:05.4775807",
		math.MinInt64:                "-10675199.02:48:05.4775808",
	} {
		if got := TimeSpan(ticks).String(); got != text {
			t.Errorf("text of %d ticks is %q, want %q", ticks, got, text)
		}
		if got, ok := parseSpan(text); !ok || got != ticks {
			t.Errorf("%q parses to %d, %v, want %d", text, got, ok, ticks)
		}
	}
	for text, want := range map[string]int64{"P1DT2H3M4.5S": dotnet.Day + 2*dotnet.Hour + 3*dotnet.Minute + 45*dotnet.Second/10,
		"PT2H": 2 * dotnet.Hour, "-PT1M": -dotnet.Minute, "P1D": dotnet.Day, "01:02": dotnet.Hour + 2*dotnet.Minute} {
		if got, ok := parseSpan(text); !ok || got != want {
			t.Errorf("%q parses to %d, %v, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "-", "P", "PT", "P1", "P1Y", "P1H", "1D", "5", "24:00:00", "00:60:00", "00:00:60", "1:2:3:4", "x.00:00:00",
		"P99999999D", "10675199.02:48:05.4775808", "00:00:01.", "PT1S1H", "PT1.xS", "1.5.00:00:00x"} {
		if got, ok := parseSpan(text); ok {
			t.Errorf("%q parses to %d", text, got)
		}
	}
}

func TestNumberTexts(t *testing.T) {
	for want, v := range map[string]Value{
		"25": Float64(25), "2.5": Float64(2.5), "0.1": Float32(0.1), "1E+15": Float64(1e15), "1.5E-07": Float64(1.5e-7), "-5": Int8(-5),
		"18446744073709551615": UInt64(math.MaxUint64), "é": Char('é'), "": Null(), "0": Float64(0),
	} {
		if got := v.String(); got != want {
			t.Errorf("text of %s is %q, want %q", v.Kind(), got, want)
		}
	}
}

func TestDecimals(t *testing.T) {
	for text, want := range map[string]string{"1.50": "1.5", "-0": "0", "+7": "7", ".5": "0.5", "79228162514264337593543950335": "79228162514264337593543950335",
		"0.00000000000000000000000000005": "0", "0.00000000000000000000000000015": "0.0000000000000000000000000002"} {
		if got := decimal(t, text).Text(); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
		encoded := decimal(t, text)
		if back := Decimal128(encoded.Decimal128()); back.Text() != encoded.Text() || back.Kind() != KindDecimal {
			t.Errorf("%s comes back from its encoding as %s %q", text, back.Kind(), back)
		}
	}
	for _, text := range []string{"", "x", "1e5", "1/2", "79228162514264337593543950336", "--1", "1.2.3", strings.Repeat("1", 65)} {
		if v, ok := parseDecimal(text); ok {
			t.Errorf("%q parses to %s", text, v)
		}
	}
	for _, c := range []struct {
		bytes [16]byte
		want  string // empty for opaque
	}{
		{[16]byte{0x30, 0x40, 15: 5}, "5"}, {[16]byte{0xb0, 0x3e, 15: 25}, "-2.5"}, {[16]byte{0x30, 0x44, 15: 1}, "100"}, {[16]byte{}, "0"},
		{[16]byte{0x0c, 0x3e, 15: 125}, "12.5"}, {[16]byte{0x8c, 0x34, 15: 1}, "-0.000001"}, // of .NET's client
		{[16]byte{0x78}, ""}, {[16]byte{0x7c}, ""}, {[16]byte{0x5f, 15: 1}, ""}, {[16]byte{0x01, 15: 1}, ""}, {[16]byte{0x30, 0x80, 15: 1}, ""},
	} {
		got := Decimal128(c.bytes)
		if got.Kind() == KindDecimal && c.bytes != [16]byte{} && got.Decimal128() != c.bytes {
			t.Errorf("decimal128 %x is carried as %x", c.bytes, got.Decimal128())
		}
		if c.want == "" && (got.Kind() != KindOpaque || got.Text() != string(c.bytes[:])) || c.want != "" && got.Text() != c.want {
			t.Errorf("decimal128 %x is %s %q, want %q", c.bytes, got.Kind(), got.Text(), c.want)
		}
	}
}

func TestGuids(t *testing.T) {
	guid := guidValue()
	if guid.String() != guidText || GUID(guid.GUID()) != guid {
		t.Errorf("Guid is %s, want %s", guid, guidText)
	}
	for _, text := range []string{strings.ToUpper(guidText), strings.ReplaceAll(guidText, "-", ""), "{" + guidText + "}", "(" + guidText + ")"} {
		if got, ok := parseGUID(text); !ok || got != guid {
			t.Errorf("%q parses to %s, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "x" + guidText[1:], "{" + guidText + ")", strings.Replace(guidText, "-", "0", 1), guidText[:35], strings.Repeat("-", 32)} {
		if got, ok := parseGUID(text); ok {
			t.Errorf("%q parses to %s", text, got)
		}
	}
	if made := newGUID().String(); made[14] != '4' || !strings.Contains("89ab", made[19:20]) {
		t.Errorf("new Guid %s is not of version 4", made)
	}
}

func TestInstants(t *testing.T) {
	for _, ms := range []int64{0, -1, 1, 1767268800123, -62135596800000} {
		if got := DateTime(ms).UnixMilli(); got != ms {
			t.Errorf("%d ms come back as %d", ms, got)
		}
	}
	if got := DateTime(math.MaxInt64); got.Ticks() != dotnet.MaxInstant/dotnet.Millisecond*dotnet.Millisecond {
		t.Errorf("the last instant is %s", got)
	}
	if got := DateTime(math.MinInt64).String(); got != "0001-01-01T00:00:00Z" {
		t.Errorf("the first instant is %s", got)
	}
	if got := DateTimeOffset(dotnet.UnixEpoch - 1).UnixMilli(); got != -1 {
		t.Errorf("one tick before the epoch is at %d ms, want -1: rounded down", got)
	}
	if got := DateTimeOffset(math.MaxInt64); got.Ticks() != dotnet.MaxInstant {
		t.Errorf("the last instant with an offset is %s", got)
	}
}
