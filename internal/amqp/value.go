package amqp

import (
	"errors"
	"fmt"
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
