package amqp

import (
	"encoding/binary"
	"math"
)

// Mark holds the start of a list or map, for the call that ends it.
type Mark int

// BeginList appends the header of a list whose size and count [EndList] fills in. It is always the 32-bit form: the
// size is not known yet, and an empty list must not become list0, which some SDKs misread in performatives.
func BeginList(dst []byte) ([]byte, Mark) { return begin(dst, CodeList32) }

// EndList fills in the header of the list begun at m, after its count items have been appended.
func EndList(dst []byte, m Mark, count int) []byte { return end(dst, m, count) }

// BeginMap appends the header of a map whose size and count [EndMap] fills in.
func BeginMap(dst []byte) ([]byte, Mark) { return begin(dst, CodeMap32) }

// EndMap fills in the header of the map begun at m, after its pairs have been appended, key before value.
func EndMap(dst []byte, m Mark, pairs int) []byte { return end(dst, m, 2*pairs) }

func begin(dst []byte, code byte) ([]byte, Mark) {
	return append(dst, code, 0, 0, 0, 0, 0, 0, 0, 0), Mark(len(dst))
}

func end(dst []byte, m Mark, count int) []byte {
	size := len(dst) - int(m) - 1 - 4
	binary.BigEndian.PutUint32(dst[m+1:], uint32(size))
	binary.BigEndian.PutUint32(dst[m+5:], uint32(count))
	return dst
}

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
