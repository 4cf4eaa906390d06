package filter

import "math"

// Kind is the type of a [Value]. The numeric kinds keep their width, since promotion and SET depend on it.
type Kind uint8

// The kinds of values and where they come from.
const (
	KindMissing        Kind = iota // a property that the message does not have; the zero Value
	KindNull                       // a property that is there and null, or NULL in the text
	KindBool                       // AMQP boolean
	KindInt8                       // AMQP byte
	KindInt16                      // AMQP short
	KindInt32                      // AMQP int
	KindInt64                      // AMQP long, integer constants
	KindUInt8                      // AMQP ubyte
	KindUInt16                     // AMQP ushort
	KindUInt32                     // AMQP uint
	KindUInt64                     // AMQP ulong
	KindChar                       // AMQP char; a number in arithmetic and comparisons, as in C#
	KindFloat32                    // AMQP float
	KindFloat64                    // AMQP double, decimal and approximate constants
	KindDecimal                    // AMQP decimal128, within the range of System.Decimal
	KindString                     // AMQP string and symbol, com.microsoft:uri
	KindGUID                       // AMQP uuid, newid()
	KindDateTime                   // AMQP timestamp
	KindDateTimeOffset             // com.microsoft:datetime-offset
	KindTimeSpan                   // com.microsoft:timespan
	KindOpaque                     // anything else; it can be copied and tested for presence, not compared
)

var kindNames = [...]string{"missing", "null", "bool", "sbyte", "short", "int", "long", "byte", "ushort", "uint",
	"ulong",
	"char", "float", "double", "decimal", "string", "Guid", "DateTime", "DateTimeOffset", "TimeSpan", "binary"}

// String returns C#'s name of the kind, for error texts.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}

// Value is one typed value: of a property, a constant, a parameter or a result. It is small, passed by value and
// has no pointer except its text's, so evaluation makes no garbage. The zero Value is missing.
type Value struct {
	kind Kind
	num  uint64 // bool, integers, float bits, ticks, first half of a Guid, of a decimal as it came
	hi   uint64 // second half of a Guid, of a decimal
	str  string // text of a string, digits of a decimal, encoding of an opaque value
}

// Null is the value of a property that is present without a value.
func Null() Value { return Value{kind: KindNull} }

// Bool makes a boolean.
func Bool(b bool) Value {
	if b {
		return Value{kind: KindBool, num: 1}
	}
	return Value{kind: KindBool}
}

// Int8 makes an sbyte.
func Int8(n int8) Value { return integer(KindInt8, int64(n)) }

// Int16 makes a short.
func Int16(n int16) Value { return integer(KindInt16, int64(n)) }

// Int32 makes an int.
func Int32(n int32) Value { return integer(KindInt32, int64(n)) }

// Int64 makes a long.
func Int64(n int64) Value { return integer(KindInt64, n) }

// UInt8 makes a byte.
func UInt8(n uint8) Value { return integer(KindUInt8, int64(n)) }

// UInt16 makes a ushort.
func UInt16(n uint16) Value { return integer(KindUInt16, int64(n)) }

// UInt32 makes a uint.
func UInt32(n uint32) Value { return integer(KindUInt32, int64(n)) }

// UInt64 makes a ulong.
func UInt64(n uint64) Value { return Value{kind: KindUInt64, num: n} }

// Char makes a character.
func Char(r rune) Value { return integer(KindChar, int64(r)) }

// Float32 makes a float.
func Float32(f float32) Value {
	return Value{kind: KindFloat32, num: math.Float64bits(float64(f))}
}

// Float64 makes a double.
func Float64(f float64) Value { return Value{kind: KindFloat64, num: math.Float64bits(f)} }

// String makes a string. The text may alias the bytes of the message: evaluation does not keep it.
func String(s string) Value { return Value{kind: KindString, str: s} }

// Opaque makes a value that can only be carried. The caller chooses what raw holds, so that it can write the value back
// when an action copies it.
func Opaque(raw string) Value { return Value{kind: KindOpaque, str: raw} }

func integer(k Kind, n int64) Value { return Value{kind: k, num: uint64(n)} }

// Kind returns the type of the value.
func (v Value) Kind() Kind { return v.kind }

// IsUnknown reports whether the value is missing or null, which operators treat alike.
func (v Value) IsUnknown() bool { return v.kind <= KindNull }

// Bool returns the value of a [KindBool].
func (v Value) Bool() bool { return v.kind == KindBool && v.num != 0 }

// signed returns the value of any integer kind but [KindUInt64], and of a [KindChar].
func (v Value) signed() int64 { return int64(v.num) }

// Uint returns the value of a [KindUInt64], and of the smaller unsigned kinds.
func (v Value) Uint() uint64 { return v.num }

// Float returns the value of a [KindFloat32] or [KindFloat64].
func (v Value) Float() float64 { return math.Float64frombits(v.num) }

// Text returns the text of a [KindString], the digits of a [KindDecimal] or the raw text of a [KindOpaque]; for other
// kinds "". See [Value.String] for a text form of every kind.
func (v Value) Text() string { return v.str }
