package amqp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"
)

// ErrNoEncoding is wrapped by the errors of [AppendValue].
var ErrNoEncoding = errors.New("value has no AMQP encoding")

// AppendValue appends any value that [Decode] returns, in its smallest encoding, except that lists and maps take their
// 32-bit form. It also takes int (long), time.Time (timestamp), []any (list), and []Symbol, []int64, []Timestamp and
// []UUID (arrays). For anything else it returns dst unchanged and an error that wraps [ErrNoEncoding].
func AppendValue(dst []byte, v any) ([]byte, error) {
	if out, ok := appendNumber(dst, v); ok {
		return out, nil
	}
	if out, ok := appendSimple(dst, v); ok {
		return out, nil
	}
	var out []byte
	var err error
	switch v := v.(type) {
	case List:
		out, err = appendList(dst, v)
	case []any:
		out, err = appendList(dst, v)
	case Map:
		out, err = appendMap(dst, v)
	case Array:
		out, err = appendArray(dst, v)
	case Described:
		out, err = appendDescribed(dst, v)
	default:
		err = fmt.Errorf("encode %T: %w", v, ErrNoEncoding)
	}
	if err != nil {
		return dst, err
	}
	return out, nil
}

func appendNumber(dst []byte, v any) ([]byte, bool) {
	switch v := v.(type) {
	case uint8:
		return AppendUbyte(dst, v), true
	case uint16:
		return AppendUshort(dst, v), true
	case uint32:
		return AppendUint(dst, v), true
	case uint64:
		return AppendUlong(dst, v), true
	case int8:
		return AppendByte(dst, v), true
	case int16:
		return AppendShort(dst, v), true
	case int32:
		return AppendInt(dst, v), true
	case int64:
		return AppendLong(dst, v), true
	case int:
		return AppendLong(dst, int64(v)), true
	case float32:
		return AppendFloat(dst, v), true
	case float64:
		return AppendDouble(dst, v), true
	case Decimal32:
		return append(append(dst, CodeDecimal32), v[:]...), true
	case Decimal64:
		return append(append(dst, CodeDecimal64), v[:]...), true
	case Decimal128:
		return append(append(dst, CodeDecimal128), v[:]...), true
	}
	return dst, false
}

func appendSimple(dst []byte, v any) ([]byte, bool) {
	switch v := v.(type) {
	case nil:
		return AppendNull(dst), true
	case bool:
		return AppendBool(dst, v), true
	case Char:
		return AppendChar(dst, v), true
	case Timestamp:
		return AppendTimestamp(dst, v), true
	case time.Time:
		return AppendTimestamp(dst, TimestampOf(v)), true
	case UUID:
		return AppendUUID(dst, v), true
	case []byte:
		return AppendBinary(dst, v), true
	case string:
		return AppendString(dst, v), true
	case Symbol:
		return AppendSymbol(dst, v), true
	case []Symbol:
		return AppendSymbolArray(dst, v), true
	case []int64:
		return AppendLongArray(dst, v), true
	case []Timestamp:
		return AppendTimestampArray(dst, v), true
	case []UUID:
		return AppendUUIDArray(dst, v), true
	}
	return dst, false
}

func appendList(dst []byte, items []any) (out []byte, err error) {
	out, m := BeginList(dst)
	for _, item := range items {
		if out, err = AppendValue(out, item); err != nil {
			return dst, err
		}
	}
	return EndList(out, m, len(items)), nil
}

func appendMap(dst []byte, pairs Map) (out []byte, err error) {
	out, m := BeginMap(dst)
	for _, p := range pairs {
		if out, err = AppendValue(out, p.Key); err != nil {
			return dst, err
		}
		if out, err = AppendValue(out, p.Value); err != nil {
			return dst, err
		}
	}
	return EndMap(out, m, len(pairs)), nil
}

func appendDescribed(dst []byte, v Described) ([]byte, error) {
	out, err := AppendValue(append(dst, CodeDescribed), v.Descriptor)
	if err != nil {
		return dst, err
	}
	return AppendValue(out, v.Value)
}

// appendArray appends an array in its 32-bit form. Each item must be of the type that the array's code says. Items that
// are too long for a code with one byte of size get its sibling with four: small nested lists
// grow, because they are written in the 32-bit form.
func appendArray(dst []byte, a Array) ([]byte, error) {
	out, err := appendItems(dst, a)
	if err != nil && layouts[a.Code] == layoutSize8 {
		a.Code += wide
		return appendItems(dst, a)
	}
	return out, err
}

func appendItems(dst []byte, a Array) ([]byte, error) {
	out := append(dst, CodeArray32, 0, 0, 0, 0)
	size := len(out)
	out = binary.BigEndian.AppendUint32(out, uint32(len(a.Items)))
	code, out, err := appendElementConstructor(out, a)
	if err != nil {
		return dst, err
	}
	for _, item := range a.Items {
		if a.Code == CodeDescribed {
			item = item.(Described).Value // checked with the constructor
		}
		if out, err = appendElement(out, code, item); err != nil {
			return dst, err
		}
	}
	binary.BigEndian.PutUint32(out[size-4:], uint32(len(out)-size))
	return out, nil
}

// appendElementConstructor returns the code of the elements' data: for described elements, the code after the
// descriptor they share. An empty array of described elements has lost its descriptor and becomes one of nulls.
func appendElementConstructor(dst []byte, a Array) (byte, []byte, error) {
	if a.Code != CodeDescribed {
		return a.Code, append(dst, a.Code), nil
	}
	if len(a.Items) == 0 {
		return CodeNull, append(dst, CodeNull), nil
	}
	for _, item := range a.Items {
		if _, ok := item.(Described); !ok {
			return 0, dst, fmt.Errorf("encode %T in an array of described values: %w", item, ErrNoEncoding)
		}
	}
	first := a.Items[0].(Described)
	dst, err := AppendValue(append(dst, CodeDescribed), first.Descriptor)
	if err != nil {
		return 0, dst, err
	}
	code, ok := widestCode(first.Value)
	if !ok {
		return 0, dst, fmt.Errorf("encode array of described %T: %w", first.Value, ErrNoEncoding)
	}
	return code, append(dst, code), nil
}

// widestCode returns the constructor that can hold every value of v's type.
func widestCode(v any) (byte, bool) {
	one, err := AppendValue(nil, v)
	if err != nil {
		return 0, false
	}
	switch code := one[0]; code {
	case CodeDescribed:
		return 0, false
	case CodeTrue, CodeFalse:
		return CodeBool, true
	case CodeUint0, CodeSmallUint:
		return CodeUint, true
	case CodeUlong0, CodeSmallUlong:
		return CodeUlong, true
	case CodeSmallInt:
		return CodeInt, true
	case CodeSmallLong:
		return CodeLong, true
	case CodeBinary8, CodeString8, CodeSymbol8, CodeArray8:
		return code + wide, true
	default:
		return code, true
	}
}

// appendElement appends the data of one array element, without a constructor.
func appendElement(dst []byte, code byte, v any) ([]byte, error) {
	one, err := AppendValue(nil, v)
	if err != nil {
		return dst, err
	}
	data, ok := one[1:], one[0] == code
	if !ok {
		data, ok = reshape(one, code)
	}
	if !ok {
		return dst, fmt.Errorf("encode %T in an array of constructor %#02x: %w", v, code, ErrNoEncoding)
	}
	return append(dst, data...), nil
}

// reshape converts the smallest encoding of a value to the data of another encoding of the same type.
func reshape(one []byte, code byte) ([]byte, bool) {
	have, data := one[0], one[1:]
	switch {
	case layouts[have] == layoutSize8 && code == have+wide:
		return resize8(one, code), true
	case layouts[have] == layoutSize32 && code == have-wide:
		return resize32(one, code)
	case code == CodeList0 && have == CodeList32:
		return nil, binary.BigEndian.Uint32(data[4:]) == 0
	case code == CodeBool && (have == CodeTrue || have == CodeFalse):
		return []byte{CodeFalse - have}, true // 0x41 is true, 0x42 is false
	}
	return reshapeInteger(have, data, code)
}

// reshapeInteger converts an integer to a wider or narrower form. It fails to narrow: have is the smallest form
// that holds the value.
func reshapeInteger(have byte, data []byte, code byte) ([]byte, bool) {
	n := bigEndian(data)
	switch {
	case have == CodeUint0 && code == CodeSmallUint, have == CodeUlong0 && code == CodeSmallUlong:
		return []byte{0}, true
	case code == CodeUint && (have == CodeUint0 || have == CodeSmallUint):
		return binary.BigEndian.AppendUint32(nil, uint32(n)), true
	case code == CodeUlong && (have == CodeUlong0 || have == CodeSmallUlong):
		return binary.BigEndian.AppendUint64(nil, n), true
	case code == CodeInt && have == CodeSmallInt:
		return binary.BigEndian.AppendUint32(nil, uint32(signExtend(n, 1))), true
	case code == CodeLong && have == CodeSmallLong:
		return binary.BigEndian.AppendUint64(nil, signExtend(n, 1)), true
	}
	return nil, false
}

// resize8 converts a value with one byte of size (and of count, for a compound) to four of each.
func resize8(one []byte, code byte) []byte {
	data := one[2:]
	if code < CodeList32 {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)
	}
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)+3))
	out = binary.BigEndian.AppendUint32(out, uint32(data[0]))
	return append(out, data[1:]...)
}

// resize32 converts back, if the value fits.
func resize32(one []byte, code byte) ([]byte, bool) {
	data := one[5:]
	if code < CodeList8 {
		return append([]byte{byte(len(data))}, data...), len(data) <= math.MaxUint8
	}
	count := binary.BigEndian.Uint32(data)
	size := len(data) - 3
	return append([]byte{byte(size), byte(count)}, data[4:]...), size <= math.MaxUint8 && count <= math.MaxUint8
}
