package message

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"unsafe"

	"minibus/internal/amqp"
)

// Type says what a [Scalar] holds.
type Type uint8

// The types of single values. Symbols count as strings; the three described types come from the .NET and Java clients.
const (
	TypeAbsent         Type = iota // there is no value; the zero Scalar
	TypeNull                       // null
	TypeBool                       // Bits is 0 or 1
	TypeUbyte                      // Bits
	TypeUshort                     // Bits
	TypeUint                       // Bits
	TypeUlong                      // Bits
	TypeByte                       // Bits, sign-extended
	TypeShort                      // Bits, sign-extended
	TypeInt                        // Bits, sign-extended
	TypeLong                       // Bits, sign-extended
	TypeFloat                      // Bits, those of a float64
	TypeDouble                     // Bits
	TypeDecimal128                 // Bits and Low, the sixteen bytes
	TypeChar                       // Bits
	TypeTimestamp                  // Bits, milliseconds since the Unix epoch
	TypeUUID                       // Bits and Low, the sixteen bytes
	TypeString                     // Text
	TypeURI                        // com.microsoft:uri; Text
	TypeTimeSpan                   // com.microsoft:timespan; Bits, ticks of 100 nanoseconds
	TypeDateTimeOffset             // com.microsoft:datetime-offset; Bits, UTC ticks since the year 1
	TypeOther                      // anything else; Text is its encoding
)

// Scalar is one decoded value of a message, made without allocating. Text aliases the bytes of the message.
type Scalar struct {
	Type Type
	Bits uint64
	Low  uint64
	Text string
}

// The descriptors of .NET types that AMQP does not have (amqp-data-plane 5.1).
const (
	descriptorURI            = "com.microsoft:uri"
	descriptorTimeSpan       = "com.microsoft:timespan"
	descriptorDateTimeOffset = "com.microsoft:datetime-offset"
)

// scalarTypes maps constructors to types, for values that are only a type and bits or text.
var scalarTypes = [256]Type{
	amqp.CodeNull:       TypeNull,
	amqp.CodeTrue:       TypeBool,
	amqp.CodeFalse:      TypeBool,
	amqp.CodeBool:       TypeBool,
	amqp.CodeUbyte:      TypeUbyte,
	amqp.CodeUshort:     TypeUshort,
	amqp.CodeUint0:      TypeUint,
	amqp.CodeSmallUint:  TypeUint,
	amqp.CodeUint:       TypeUint,
	amqp.CodeUlong0:     TypeUlong,
	amqp.CodeSmallUlong: TypeUlong,
	amqp.CodeUlong:      TypeUlong,
	amqp.CodeByte:       TypeByte,
	amqp.CodeShort:      TypeShort,
	amqp.CodeSmallInt:   TypeInt,
	amqp.CodeInt:        TypeInt,
	amqp.CodeSmallLong:  TypeLong,
	amqp.CodeLong:       TypeLong,
	amqp.CodeTimestamp:  TypeTimestamp,
	amqp.CodeFloat:      TypeFloat,
	amqp.CodeDouble:     TypeDouble,
	amqp.CodeDecimal128: TypeDecimal128,
	amqp.CodeChar:       TypeChar,
	amqp.CodeUUID:       TypeUUID,
	amqp.CodeString8:    TypeString,
	amqp.CodeString32:   TypeString,
	amqp.CodeSymbol8:    TypeString,
	amqp.CodeSymbol32:   TypeString,
}

// DecodeScalar decodes one value. It returns the zero Scalar for no bytes, and TypeOther for a malformed value.
func DecodeScalar(raw []byte) Scalar {
	if len(raw) == 0 {
		return Scalar{}
	}
	r := amqp.NewReader(raw)
	switch t := scalarTypes[raw[0]]; t {
	case TypeAbsent:
		if raw[0] == amqp.CodeDescribed {
			return describedScalar(raw)
		}
	case TypeNull:
		return Scalar{Type: TypeNull}
	case TypeBool:
		if v, ok, err := r.Bool(); err == nil && ok {
			return Scalar{Type: TypeBool, Bits: bit(v)}
		}
	case TypeUbyte, TypeUshort, TypeUint, TypeUlong:
		if v, _, err := r.Uint64(); err == nil {
			return Scalar{Type: t, Bits: v}
		}
	case TypeByte, TypeShort, TypeInt, TypeLong, TypeTimestamp:
		if v, _, err := r.Int64(); err == nil {
			return Scalar{Type: t, Bits: uint64(v)}
		}
	case TypeString:
		if b, _, err := r.Bytes(); err == nil {
			return Scalar{Type: TypeString, Text: alias(b)}
		}
	default:
		return wideScalar(t, raw)
	}
	return Scalar{Type: TypeOther, Text: alias(raw)}
}

// wideScalar decodes the types that Reader does not read.
func wideScalar(t Type, raw []byte) Scalar {
	data := raw[1:]
	switch {
	case (t == TypeFloat || t == TypeChar) && len(data) >= 4:
		bits := binary.BigEndian.Uint32(data)
		if t == TypeFloat {
			return Scalar{Type: t, Bits: widen(bits)}
		}
		return Scalar{Type: t, Bits: uint64(bits)}
	case t == TypeDouble && len(data) >= 8:
		return Scalar{Type: t, Bits: binary.BigEndian.Uint64(data)}
	case (t == TypeUUID || t == TypeDecimal128) && len(data) >= 16:
		return Scalar{Type: t, Bits: binary.BigEndian.Uint64(data), Low: binary.BigEndian.Uint64(data[8:])}
	}
	return Scalar{Type: TypeOther, Text: alias(raw)}
}

func describedScalar(raw []byte) Scalar {
	other := Scalar{Type: TypeOther, Text: alias(raw)}
	r := amqp.NewReader(raw)
	_, name, err := r.Descriptor()
	if err != nil {
		return other
	}
	inner := Scalar{}
	if rest := r.Rest(); len(rest) > 0 && rest[0] != amqp.CodeDescribed {
		inner = DecodeScalar(rest)
	}
	switch {
	case string(name) == descriptorURI && inner.Type == TypeString:
		inner.Type = TypeURI
	case string(name) == descriptorTimeSpan && inner.Type == TypeLong:
		inner.Type = TypeTimeSpan
	case string(name) == descriptorDateTimeOffset && inner.Type == TypeLong:
		inner.Type = TypeDateTimeOffset
	default:
		return other
	}
	return inner
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// alias returns bytes of a message as a string without copying them: a message's bytes never change.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// TextOf returns the text form of a property that the broker treats as text whatever its type on the wire (DUP-11): a
// uuid, a number or a binary becomes text as a message-id does. ok is false for null, no value and types without a
// text form.
func (s Scalar) TextOf() (text string, ok bool) {
	switch s.Type {
	case TypeString, TypeURI:
		return s.Text, true
	case TypeUUID:
		return amqp.UUID(s.Bytes16()).String(), true
	case TypeUbyte, TypeUshort, TypeUint, TypeUlong:
		return strconv.FormatUint(s.Bits, 10), true
	case TypeByte, TypeShort, TypeInt, TypeLong:
		return strconv.FormatInt(int64(s.Bits), 10), true
	case TypeOther:
		b, ok := s.Binary()
		return hex.EncodeToString([]byte(b)), ok
	}
	return "", false
}

// Binary returns the bytes of a binary value.
func (s Scalar) Binary() (bytes string, ok bool) {
	if s.Type != TypeOther {
		return "", false
	}
	r := amqp.NewReader([]byte(s.Text))
	if code, _ := r.Peek(); code != amqp.CodeBinary8 && code != amqp.CodeBinary32 {
		return "", false
	}
	b, ok, err := r.Bytes()
	return string(b), ok && err == nil
}

// Bytes16 returns the bytes of a uuid or a decimal128.
func (s Scalar) Bytes16() (b [16]byte) {
	binary.BigEndian.PutUint64(b[:8], s.Bits)
	binary.BigEndian.PutUint64(b[8:], s.Low)
	return b
}

// widen returns the bits of the double with the value of a float.
func widen(bits uint32) uint64 { return math.Float64bits(float64(math.Float32frombits(bits))) }

// Append appends the encoded value, nothing for the zero Scalar. A value from [DecodeScalar] keeps its type and gets
// the smallest encoding.
func (s Scalar) Append(dst []byte) []byte {
	switch s.Type {
	case TypeAbsent:
		return dst
	case TypeNull:
		return amqp.AppendNull(dst)
	case TypeString:
		return amqp.AppendString(dst, s.Text)
	case TypeOther:
		return append(dst, s.Text...)
	case TypeURI:
		return amqp.AppendString(appendDescriptor(dst, descriptorURI), s.Text)
	case TypeTimeSpan:
		return amqp.AppendLong(appendDescriptor(dst, descriptorTimeSpan), int64(s.Bits))
	case TypeDateTimeOffset:
		return amqp.AppendLong(appendDescriptor(dst, descriptorDateTimeOffset), int64(s.Bits))
	}
	return s.appendBits(dst)
}

func appendDescriptor(dst []byte, name amqp.Symbol) []byte {
	return amqp.AppendSymbol(append(dst, amqp.CodeDescribed), name)
}

// appendBits appends a value whose type has bits only.
func (s Scalar) appendBits(dst []byte) []byte {
	switch n := s.Bits; s.Type {
	case TypeBool:
		return amqp.AppendBool(dst, n != 0)
	case TypeUbyte:
		return amqp.AppendUbyte(dst, uint8(n))
	case TypeUshort:
		return amqp.AppendUshort(dst, uint16(n))
	case TypeUint:
		return amqp.AppendUint(dst, uint32(n))
	case TypeUlong:
		return amqp.AppendUlong(dst, n)
	case TypeByte:
		return amqp.AppendByte(dst, int8(n))
	case TypeShort:
		return amqp.AppendShort(dst, int16(n))
	case TypeInt:
		return amqp.AppendInt(dst, int32(n))
	case TypeLong:
		return amqp.AppendLong(dst, int64(n))
	case TypeFloat:
		return amqp.AppendFloat(dst, float32(math.Float64frombits(n)))
	case TypeDouble:
		return amqp.AppendDouble(dst, math.Float64frombits(n))
	case TypeChar:
		return amqp.AppendChar(dst, amqp.Char(n))
	case TypeTimestamp:
		return amqp.AppendTimestamp(dst, Timestamp(n))
	case TypeUUID:
		return amqp.AppendUUID(dst, s.Bytes16())
	case TypeDecimal128:
		b := s.Bytes16()
		return append(append(dst, amqp.CodeDecimal128), b[:]...)
	}
	return dst
}
