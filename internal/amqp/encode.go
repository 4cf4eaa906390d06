package amqp

import (
	"encoding/binary"
	"math"
)

// AppendNull appends a null.
func AppendNull(dst []byte) []byte { return append(dst, CodeNull) }

// AppendBool appends a boolean, in one byte.
func AppendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, CodeTrue)
	}
	return append(dst, CodeFalse)
}

// AppendUbyte appends a ubyte.
func AppendUbyte(dst []byte, v uint8) []byte { return append(dst, CodeUbyte, v) }

// AppendUshort appends a ushort.
func AppendUshort(dst []byte, v uint16) []byte { return append(dst, CodeUshort, byte(v>>8), byte(v)) }

// AppendUint appends a uint in one, two or five bytes.
func AppendUint(dst []byte, v uint32) []byte {
	switch {
	case v == 0:
		return append(dst, CodeUint0)
	case v <= math.MaxUint8:
		return append(dst, CodeSmallUint, byte(v))
	}
	return binary.BigEndian.AppendUint32(append(dst, CodeUint), v)
}

// AppendUlong appends a ulong in one, two or nine bytes.
func AppendUlong(dst []byte, v uint64) []byte {
	switch {
	case v == 0:
		return append(dst, CodeUlong0)
	case v <= math.MaxUint8:
		return append(dst, CodeSmallUlong, byte(v))
	}
	return binary.BigEndian.AppendUint64(append(dst, CodeUlong), v)
}

// AppendByte appends a byte, which is signed in AMQP.
func AppendByte(dst []byte, v int8) []byte { return append(dst, CodeByte, byte(v)) }

// AppendShort appends a short.
func AppendShort(dst []byte, v int16) []byte { return append(dst, CodeShort, byte(v>>8), byte(v)) }

// AppendInt appends an int in two or five bytes.
func AppendInt(dst []byte, v int32) []byte {
	if v == int32(int8(v)) {
		return append(dst, CodeSmallInt, byte(v))
	}
	return binary.BigEndian.AppendUint32(append(dst, CodeInt), uint32(v))
}

// AppendLong appends a long in two or nine bytes.
func AppendLong(dst []byte, v int64) []byte {
	if v == int64(int8(v)) {
		return append(dst, CodeSmallLong, byte(v))
	}
	return binary.BigEndian.AppendUint64(append(dst, CodeLong), uint64(v))
}

// AppendFloat appends a float.
func AppendFloat(dst []byte, v float32) []byte {
	return binary.BigEndian.AppendUint32(append(dst, CodeFloat), math.Float32bits(v))
}

// AppendDouble appends a double.
func AppendDouble(dst []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(append(dst, CodeDouble), math.Float64bits(v))
}

// AppendChar appends a char.
func AppendChar(dst []byte, v Char) []byte {
	return binary.BigEndian.AppendUint32(append(dst, CodeChar), uint32(v))
}

// AppendTimestamp appends a timestamp.
func AppendTimestamp(dst []byte, v Timestamp) []byte {
	return binary.BigEndian.AppendUint64(append(dst, CodeTimestamp), uint64(v))
}

// AppendUUID appends a uuid.
func AppendUUID(dst []byte, v UUID) []byte { return append(append(dst, CodeUUID), v[:]...) }

// AppendBinary appends a binary; nil and empty are both the empty binary.
func AppendBinary(dst []byte, v []byte) []byte { return append(AppendBinarySize(dst, len(v)), v...) }

// AppendBinarySize begins a binary of n bytes, which the caller appends.
func AppendBinarySize(dst []byte, n int) []byte { return appendSize(dst, CodeBinary8, n) }

// AppendString appends a string. It must be valid UTF-8, as every decoded string is.
func AppendString(dst []byte, v string) []byte {
	return append(appendSize(dst, CodeString8, len(v)), v...)
}

// AppendSymbol appends a symbol.
func AppendSymbol(dst []byte, v Symbol) []byte {
	return append(appendSize(dst, CodeSymbol8, len(v)), v...)
}

// wide is the distance from the constructor with one byte of size to its sibling with four [AMQP 1.2].
const wide = 0x10

// appendSize appends the constructor and size of a variable-width value of n bytes.
func appendSize(dst []byte, code8 byte, n int) []byte {
	if n <= math.MaxUint8 {
		return append(dst, code8, byte(n))
	}
	return binary.BigEndian.AppendUint32(append(dst, code8+wide), uint32(n))
}

// AppendDescriptor appends a descriptor in the form 00 53 code, the only one that every SDK reads.
func AppendDescriptor(dst []byte, code byte) []byte {
	return append(dst, CodeDescribed, CodeSmallUlong, code)
}
