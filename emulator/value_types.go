package emulator

import (
	"math"
	"strconv"
	"strings"

	"minibus/emulator/filter"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/dotnet"
)

// ValueType is a type of the values of a rule, as documents write them down: the name of the type, which is that of XML Schema or of .NET's
// serializer, and a text.
type ValueType struct {
	Name    string
	Example string // one of its texts
	kind    filter.Kind
}

// valueTypes are all types, in the order in which messages list them.
var valueTypes = []ValueType{
	{"string", "blue", filter.KindString}, {"boolean", "true", filter.KindBool},
	{"int", "-7", filter.KindInt32}, {"long", "-7", filter.KindInt64},
	{"double", "1.5", filter.KindFloat64}, {"float", "1.5", filter.KindFloat32},
	{"decimal", "12.50", filter.KindDecimal},
	{"dateTime", "2026-11-22T10:00:00.1234567Z", filter.KindDateTime}, {"duration", "PT1.5S", filter.KindTimeSpan},
	{"guid", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", filter.KindGUID},
	{"byte", "-7", filter.KindInt8}, {"short", "-7", filter.KindInt16},
	{"unsignedByte", "7", filter.KindUInt8}, {"unsignedShort", "7", filter.KindUInt16},
	{"unsignedInt", "7", filter.KindUInt32}, {"unsignedLong", "7", filter.KindUInt64},
}

// ValueTypeOf returns the type of that name.
func ValueTypeOf(name string) (t ValueType, known bool) {
	for _, t := range valueTypes {
		if t.Name == name {
			return t, true
		}
	}
	return ValueType{}, false
}

// ValueTypeNames returns the names of all types.
func ValueTypeNames() []string {
	var names []string
	for _, t := range valueTypes {
		names = append(names, t.Name)
	}
	return names
}

// TypedText returns the name of a value's type and one of its texts, from which [ValueType.Parse] makes the value again. The value is one of
// [Values]. A type that documents do not have is written as a text.
func TypedText(x any) (name, text string) {
	v, err := valueForFilter(x)
	if err != nil {
		return "string", ""
	}
	switch v.Kind() {
	case filter.KindBool:
		return "boolean", strconv.FormatBool(v.Bool())
	case filter.KindFloat32, filter.KindFloat64:
		return typeName(v.Kind()), floatOf(v)
	case filter.KindDateTime:
		text = v.Time().UTC().Format("2006-01-02T15:04:05.9999999")
		if _, zoned, given := dateTime(x); zoned || !given { // a time.Time has a zone
			text += "Z"
		}
		return "dateTime", text
	case filter.KindTimeSpan:
		return "duration", spanText(v.Ticks())
	case filter.KindDecimal:
		if text, ok := dotnet.DecimalText(v.Decimal128()); ok {
			return "decimal", text
		}
	}
	if name = typeName(v.Kind()); name == "" {
		name = "string"
	}
	return name, v.String()
}

// typeName returns the name of a kind's type, "" if documents have none.
func typeName(k filter.Kind) string {
	for _, t := range valueTypes {
		if t.kind == k {
			return t.Name
		}
	}
	return ""
}

// floatOf returns the text of a number that may be infinite or none.
func floatOf(v filter.Value) string {
	switch f := v.Float(); {
	case math.IsInf(f, 1):
		return "INF"
	case math.IsInf(f, -1):
		return "-INF"
	case v.Kind() == filter.KindFloat32:
		return strconv.FormatFloat(f, 'g', -1, 32)
	default:
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
}

// spanText writes ticks as an xs:duration.
func spanText(ticks int64) string {
	sign, size := "", uint64(ticks)
	if ticks < 0 {
		sign, size = "-", -size
	}
	return sign + dotnet.FormatISO(size/uint64(dotnet.Second), size%uint64(dotnet.Second), 7)
}

// Parse returns the value of a text, as [Values] have it. ok is false if the text is not of the type.
func (t ValueType) Parse(text string) (value any, ok bool) {
	if t.kind == filter.KindString {
		return text, true
	}
	switch text = strings.TrimSpace(text); t.kind {
	case filter.KindBool:
		return parseBoolean(text)
	case filter.KindFloat64:
		return parseFloat(text, 64)
	case filter.KindFloat32:
		return parseFloat(text, 32)
	case filter.KindDateTime:
		return parseTime(text)
	case filter.KindTimeSpan:
		return parseDuration(text)
	case filter.KindDecimal:
		b, ok := dotnet.ParseDecimal(text)
		return amqp.Decimal128(b), ok
	}
	v, ok := filter.Parse(text, t.kind)
	if !ok {
		return nil, false
	}
	value, err := message.DecodeValue(scalarOf(v).Append(nil))
	return value, err == nil
}
