package message

import (
	"math"

	"minibus/internal/amqp"
)

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
