package emulator

import (
	"math"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"time"

	"minibus/emulator/filter"
	"minibus/internal/amqp/message"
	"minibus/internal/dotnet"
)

// The texts of XML Schema's types, as far as .NET has a value for them.
var (
	textOfNumber   = regexp.MustCompile(`^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$`)
	textOfTime     = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?$`)
	textOfDuration = regexp.MustCompile(`^(-)?P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(\.\d+)?S)?)?$`)
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

// ticksOf returns the ticks of a fraction of a second, which begins with a point. ok is false if it is finer than a tick.
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
	for i, unit := range []int64{365 * dotnet.Day, 30 * dotnet.Day, dotnet.Day, dotnet.Hour, dotnet.Minute, dotnet.Second} {
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
