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
func AppendBinary(dst []byte, v []byte) []byte {
	return append(appendSize(dst, CodeBinary8, len(v)), v...)
}

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

// Mark holds the start of a list or map, for the call that ends it.
type Mark int

// BeginList appends the header of a list whose size and count [EndList] fills in. It is always the 32-bit form: the
// size is not known yet, and an empty list must not become list0, which some SDKs misread in performatives.
func BeginList(dst []byte) ([]byte, Mark) {
	return append(dst, CodeList32, 0, 0, 0, 0, 0, 0, 0, 0), Mark(len(dst))
}

// EndList fills in the header of the list begun at m, after its count items have been appended.
func EndList(dst []byte, m Mark, count int) []byte {
	size := len(dst) - int(m) - 1 - 4
	binary.BigEndian.PutUint32(dst[m+1:], uint32(size))
	binary.BigEndian.PutUint32(dst[m+5:], uint32(count))
	return dst
}

// BeginMap appends the header of a map whose size and count [EndMap] fills in.
func BeginMap(dst []byte) ([]byte, Mark) {
	return append(dst, CodeMap32, 0, 0, 0, 0, 0, 0, 0, 0), Mark(len(dst))
}

// EndMap fills in the header of the map begun at m, after its pairs have been appended, key before value.
func EndMap(dst []byte, m Mark, pairs int) []byte { return EndList(dst, m, 2*pairs) }

// AppendLongArray appends an array of long, each element in full width.
func AppendLongArray(dst []byte, v []int64) []byte {
	dst = appendArrayHeader(dst, CodeLong, 8*len(v), len(v))
	for _, n := range v {
		dst = binary.BigEndian.AppendUint64(dst, uint64(n))
	}
	return dst
}

// AppendTimestampArray appends an array of timestamp.
func AppendTimestampArray(dst []byte, v []Timestamp) []byte {
	dst = appendArrayHeader(dst, CodeTimestamp, 8*len(v), len(v))
	for _, t := range v {
		dst = binary.BigEndian.AppendUint64(dst, uint64(t))
	}
	return dst
}

// AppendUUIDArray appends an array of uuid.
func AppendUUIDArray(dst []byte, v []UUID) []byte {
	dst = appendArrayHeader(dst, CodeUUID, 16*len(v), len(v))
	for i := range v {
		dst = append(dst, v[i][:]...)
	}
	return dst
}

// AppendSymbolArray appends an array of symbol. One symbol makes an array of one, as every SDK expects.
func AppendSymbolArray(dst []byte, v []Symbol) []byte {
	code, total := CodeSymbol8, len(v)
	for _, s := range v {
		total += len(s)
		if len(s) > math.MaxUint8 {
			code = CodeSymbol32
		}
	}
	if code == CodeSymbol32 {
		total += 3 * len(v)
	}
	dst = appendArrayHeader(dst, code, total, len(v))
	for _, s := range v {
		if code == CodeSymbol32 {
			dst = binary.BigEndian.AppendUint32(dst, uint32(len(s)))
		} else {
			dst = append(dst, byte(len(s)))
		}
		dst = append(dst, s...)
	}
	return dst
}

// appendArrayHeader appends the part of an array before its elements, which take total bytes.
func appendArrayHeader(dst []byte, code byte, total, count int) []byte {
	if size := total + 2; size <= math.MaxUint8 && count <= math.MaxUint8 {
		return append(dst, CodeArray8, byte(size), byte(count), code)
	}
	dst = binary.BigEndian.AppendUint32(append(dst, CodeArray32), uint32(total+5))
	return append(binary.BigEndian.AppendUint32(dst, uint32(count)), code)
}
