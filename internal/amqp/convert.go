package amqp

import (
	"math"
	"unicode/utf8"
)

// AsInt64 returns a decoded integer of any width and sign, or a timestamp (in milliseconds), as an int64. SDKs send
// the same field with different integer types, so readers of messages should go through it.
func AsInt64(v any) (int64, bool) {
	switch v := v.(type) {
	case uint64:
		return int64(v), v <= math.MaxInt64
	case uint32:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint8:
		return int64(v), true
	case int64:
		return v, true
	case int32:
		return int64(v), true
	case int16:
		return int64(v), true
	case int8:
		return int64(v), true
	case Timestamp:
		return int64(v), true
	}
	return 0, false
}

// AsUint64 returns an integer that is not negative.
func AsUint64(v any) (uint64, bool) {
	if u, ok := v.(uint64); ok {
		return u, true
	}
	n, ok := AsInt64(v)
	return uint64(n), ok && n >= 0
}

// AsUint32 returns an integer that fits in a uint32.
func AsUint32(v any) (uint32, bool) {
	u, ok := AsUint64(v)
	return uint32(u), ok && u <= math.MaxUint32
}

// AsBool returns a decoded boolean.
func AsBool(v any) (value, ok bool) {
	value, ok = v.(bool)
	return value, ok
}

// AsString returns the text of a decoded string, symbol or binary. It refuses a binary that is not UTF-8, which would
// be an illegal string when written again.
func AsString(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case Symbol:
		return string(v), true
	case []byte:
		return string(v), utf8.Valid(v)
	}
	return "", false
}

// ItemsOf returns the items of a decoded list or array, which SDKs use interchangeably.
func ItemsOf(v any) ([]any, bool) {
	switch v := v.(type) {
	case List:
		return v, true
	case Array:
		return v.Items, true
	}
	return nil, false
}
