package filter

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// convert converts a value to the type that the assigned property already has, as Convert.ChangeType does: numbers
// round to the nearest integer, halves to even, text is parsed, every value has a text form. A value that does not
// fit is an error.
func convert(v Value, to Kind) (Value, error) {
	switch {
	case v.kind == to, v.IsUnknown(), to <= KindNull:
		return v, nil
	case v.kind == KindOpaque || to == KindOpaque:
		return Value{}, conversionError(v, to)
	case to == KindString:
		return String(v.String()), nil
	}
	converted, ok := Value{}, false
	switch {
	case to == KindBool:
		converted, ok = toBool(v)
	case isNumber(to):
		converted, ok = toNumber(v, to)
	case to == KindGUID && v.kind == KindString:
		converted, ok = parseGUID(strings.TrimSpace(v.str))
	case isInstant(to):
		converted, ok = toInstant(v, to)
	case to == KindTimeSpan && v.kind == KindString:
		var ticks int64
		ticks, ok = parseSpan(v.str)
		converted = TimeSpan(ticks)
	}
	if !ok {
		return Value{}, conversionError(v, to)
	}
	return converted, nil
}

func conversionError(v Value, to Kind) error {
	if v.kind == KindString && len(v.str) <= 100 {
		return evalErrorf("The value '%s' cannot be converted from type 'string' to type '%s'.", v.str, to)
	}
	return evalErrorf("A value of type '%s' cannot be converted to type '%s'.", v.kind, to)
}

func toBool(v Value) (Value, bool) {
	switch {
	case v.kind == KindString:
		text := strings.TrimSpace(v.str)
		isTrue := strings.EqualFold(text, "true")
		return Bool(isTrue), isTrue || strings.EqualFold(text, "false")
	case v.kind == KindDecimal:
		return Bool(v.str != "0"), true
	case isNumber(v.kind) && v.kind != KindChar:
		return Bool(float(v) != 0), true
	}
	return Value{}, false
}

func toInstant(v Value, to Kind) (Value, bool) {
	if isInstant(v.kind) {
		return Value{kind: to, num: v.num}, true
	}
	if v.kind != KindString {
		return Value{}, false
	}
	ticks, ok := parseInstant(v.str)
	return Value{kind: to, num: uint64(ticks)}, ok
}

func toNumber(v Value, to Kind) (Value, bool) {
	switch v.kind {
	case KindString:
		return parseNumber(strings.TrimSpace(v.str), v.str, to)
	case KindBool:
		return toNumber(Int32(int32(v.num)), to)
	}
	if !isNumber(v.kind) {
		return Value{}, false
	}
	switch {
	case to == KindDecimal && isFinite(v):
		converted, err := decimalOf(rational(v))
		return converted, err == nil
	case to == KindDecimal:
		return Value{}, false
	case to == KindFloat64:
		return Float64(float(v)), true
	case to == KindFloat32:
		return Float32(float32(float(v))), true
	default:
		return toInteger(v, to)
	}
}

// parseNumber reads text as a number of the wanted kind. An integer's text has no fraction and no exponent.
func parseNumber(text, raw string, to Kind) (Value, bool) {
	switch {
	case to == KindChar:
		r, size := utf8.DecodeRuneInString(raw)
		return Char(r), size > 0 && size == len(raw)
	case to == KindDecimal:
		return parseDecimal(text)
	case to == KindFloat64, to == KindFloat32:
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return Value{}, false
		}
		return toNumber(Float64(f), to)
	case to == KindUInt64:
		n, err := strconv.ParseUint(text, 10, 64)
		return UInt64(n), err == nil
	default:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return Value{}, false
		}
		return toInteger(Int64(n), to)
	}
}

// integerRange returns the smallest and the largest value of an integer kind; toInteger treats ulong apart.
func integerRange(k Kind) (low, high int64) {
	switch k {
	case KindInt8:
		return math.MinInt8, math.MaxInt8
	case KindInt16:
		return math.MinInt16, math.MaxInt16
	case KindInt32:
		return math.MinInt32, math.MaxInt32
	case KindUInt8:
		return 0, math.MaxUint8
	case KindUInt16:
		return 0, math.MaxUint16
	case KindUInt32:
		return 0, math.MaxUint32
	case KindChar:
		return 0, utf8.MaxRune
	default:
		return math.MinInt64, math.MaxInt64
	}
}

// toInteger rounds to the nearest integer, halves to even, and checks the range.
func toInteger(v Value, to Kind) (Value, bool) {
	if !isInteger(v.kind) {
		if !isFinite(v) {
			return Value{}, false
		}
		r := rational(v)
		n := roundHalfEven(r.Num(), r.Denom())
		switch {
		case n.IsInt64():
			v = Int64(n.Int64())
		case n.IsUint64():
			v = UInt64(n.Uint64())
		default:
			return Value{}, false
		}
	}
	beyond := v.kind == KindUInt64 && v.signed() < 0 // more than a long holds
	if to == KindUInt64 {
		return UInt64(v.Uint()), beyond || v.signed() >= 0
	}
	low, high := integerRange(to)
	return integer(to, v.signed()), !beyond && v.signed() >= low && v.signed() <= high
}

// Parse makes a value of a kind from its text, as SET does for a property of that kind. ok is false if the text is
// not of the kind.
func Parse(text string, to Kind) (Value, bool) {
	v, err := convert(String(text), to)
	return v, err == nil
}
