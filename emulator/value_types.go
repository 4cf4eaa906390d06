package emulator

import (
	"math"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"time"

	"minibus/emulator/filter"
	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/dotnet"
)

// ValueType is a type of the values of a rule, as documents write them down: the name of the type, which is that of
// XML Schema or of .NET's serializer, and a text.
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

// TypedText returns the name of a value's type and one of its texts, from which [ValueType.Parse] makes the value
// again. The value is one of [Values]. A type that documents do not have is written as a text.
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

// The texts of XML Schema's types, as far as .NET has a value for them.
var (
	textOfNumber   = regexp.MustCompile(`^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$`)
	textOfTime     = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?$`)
	textOfDuration = regexp.MustCompile(
		`^(-)?P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(\.\d+)?S)?)?$`)
)

// SpanOf returns the ticks of a value that is a TimeSpan; ok is false if it is none.
func SpanOf(x any) (ticks int64, ok bool) {
	v, err := valueForFilter(x)
	if err != nil || v.Kind() != filter.KindTimeSpan {
		return 0, false
	}
	return v.Ticks(), true
}

func parseBoolean(text string) (value any, ok bool) {
	isTrue := text == "true" || text == "1"
	return isTrue, isTrue || text == "false" || text == "0"
}

// parseFloat reads a number of that many bits. A number that is too large is refused: it would become infinite.
func parseFloat(text string, size int) (value any, ok bool) {
	f, err := 0.0, error(nil)
	switch text {
	case "INF":
		f = math.Inf(1)
	case "-INF":
		f = math.Inf(-1)
	case "NaN":
		f = math.NaN()
	default:
		if !textOfNumber.MatchString(text) {
			return nil, false
		}
		f, err = strconv.ParseFloat(text, size)
	}
	if size == 32 {
		return float32(f), err == nil
	}
	return f, err == nil
}

// parseTime reads an xs:dateTime, which has a zone or none, in the years 1 to 9999 of UTC.
func parseTime(text string) (value any, ok bool) {
	m := textOfTime.FindStringSubmatch(text)
	if m == nil {
		return nil, false
	}
	zone := m[3]
	if zone == "" {
		zone = "Z"
	}
	t, err := time.Parse(time.RFC3339, m[1]+zone)
	ticks, whole := ticksOf(m[2])
	year := t.UTC().Year()
	if err != nil || !whole || year < 1 || year > 9999 {
		return nil, false
	}
	if t = t.Add(time.Duration(ticks) * 100); m[3] == "" {
		return UnzonedTime(t), true
	}
	return ticked(t, descriptorTicks), true
}

// ticksOf returns the ticks of a fraction of a second, which begins with a point. ok is false if it is finer than a
// tick.
func ticksOf(fraction string) (ticks int64, ok bool) {
	digits := strings.TrimRight(strings.TrimPrefix(fraction, "."), "0")
	if len(digits) > 7 {
		return 0, false
	}
	ticks, err := strconv.ParseInt(digits+"0000000"[len(digits):], 10, 64)
	return ticks, err == nil
}

// parseDuration reads an xs:duration in the range of .NET's TimeSpan. A year has 365 days and a month 30, as in .NET.
func parseDuration(text string) (value any, ok bool) {
	m := textOfDuration.FindStringSubmatch(text)
	if m == nil || strings.HasSuffix(text, "P") || strings.HasSuffix(text, "T") {
		return nil, false
	}
	fraction, ok := ticksOf(m[8])
	if !ok {
		return nil, false
	}
	total := uint64(fraction)
	for i, unit := range []int64{365 * dotnet.Day, 30 * dotnet.Day, dotnet.Day, dotnet.Hour, dotnet.Minute,
		dotnet.Second} {
		n, err := strconv.ParseUint("0"+m[2+i], 10, 64) // a part may be absent
		high, low := bits.Mul64(n, uint64(unit))
		sum, carry := bits.Add64(total, low, 0)
		if err != nil || high != 0 || carry != 0 {
			return nil, false
		}
		total = sum
	}
	most := uint64(math.MaxInt64)
	if m[1] != "" {
		most++ // the smallest has no opposite
	}
	if total > most {
		return nil, false
	}
	if m[1] != "" {
		total = -total
	}
	value, err := message.DecodeValue(message.Scalar{Type: message.TypeTimeSpan, Bits: total}.Append(nil))
	return value, err == nil
}
