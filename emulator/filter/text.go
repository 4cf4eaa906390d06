package filter

import (
	"math"
	"strconv"
	"strings"
	"time"

	"minibus/internal/dotnet"
)

// String returns the text form of a value, which SET assigns to a property that is a string: numbers as .NET writes
// them, True and False, Guids in lower case, instants as RFC 3339 in UTC and durations as [-][d.]hh:mm:ss[.fffffff].
// For a value that is missing, null or opaque it returns "".
func (v Value) String() string {
	switch v.kind {
	case KindBool:
		if v.Bool() {
			return "True"
		}
		return "False"
	case KindString, KindDecimal:
		return v.str
	case KindChar:
		return string(rune(v.signed()))
	case KindFloat32:
		return floatText(v.Float(), 32)
	case KindFloat64:
		return floatText(v.Float(), 64)
	case KindUInt64:
		return strconv.FormatUint(v.num, 10)
	case KindGUID:
		return string(appendGUID(nil, v))
	case KindDateTime, KindDateTimeOffset:
		return v.Time().Format(time.RFC3339Nano)
	case KindTimeSpan:
		return dotnet.FormatSpan(v.Ticks())
	case KindMissing, KindNull, KindOpaque:
		return ""
	default:
		return strconv.FormatInt(v.signed(), 10)
	}
}

func floatText(f float64, bits int) string {
	if size := math.Abs(f); size != 0 && (size >= 1e15 || size < 1e-5) {
		return strconv.FormatFloat(f, 'E', -1, bits)
	}
	return strconv.FormatFloat(f, 'f', -1, bits)
}

// parseInstant reads RFC 3339, with a zone or in UTC, with a time or without.
func parseInstant(s string) (ticks int64, ok bool) {
	s = strings.TrimSpace(s)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999",
		"2006-01-02 15:04:05.999999999", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return instantOf(t)
		}
	}
	return 0, false
}

// parseSpan reads a duration as .NET writes it or as XML does (P1DT2H30M), but without years and months.
func parseSpan(s string) (ticks int64, ok bool) {
	s, negative := strings.CutPrefix(strings.TrimSpace(s), "-")
	var total spanSum
	if rest, xml := strings.CutPrefix(s, "P"); xml {
		ok = total.addXML(rest)
	} else {
		ok = total.addClock(s)
	}
	switch {
	case !ok:
		return 0, false
	case negative:
		return -int64(total), total <= 1<<63
	default:
		return int64(total), total < 1<<63
	}
}

// spanSum adds up the parts of a duration, in ticks. It is unsigned because the smallest duration has no opposite.
type spanSum uint64

// add adds a number of units, which may have a fraction.
func (t *spanSum) add(number string, unit int64) bool {
	whole, fraction, hasFraction := strings.Cut(number, ".")
	n, err := strconv.ParseUint(whole, 10, 64)
	if err != nil || n > math.MaxInt64/uint64(unit) {
		return false
	}
	*t += spanSum(n * uint64(unit))
	if hasFraction {
		part, err := strconv.ParseUint(fraction, 10, 32)
		if err != nil {
			return false
		}
		*t += spanSum(math.Round(float64(part) / math.Pow10(len(fraction)) * float64(unit)))
	}
	return *t <= 1<<63
}

// addXML reads an XML duration after its P.
func (t *spanSum) addXML(s string) bool {
	date, clock, hasClock := strings.Cut(s, "T")
	if date == "" && clock == "" || hasClock && clock == "" {
		return false
	}
	if date != "" {
		days, isDays := strings.CutSuffix(date, "D")
		if !isDays || !t.add(days, dotnet.Day) {
			return false
		}
	}
	for _, unit := range []struct {
		letter string
		ticks  int64
	}{{"H", dotnet.Hour}, {"M", dotnet.Minute}, {"S", dotnet.Second}} {
		if number, rest, found := strings.Cut(clock, unit.letter); found {
			if !t.add(number, unit.ticks) {
				return false
			}
			clock = rest
		}
	}
	return clock == ""
}

// addClock reads [d.]hh:mm[:ss[.fffffff]].
func (t *spanSum) addClock(s string) bool {
	if days, rest, found := strings.Cut(s, "."); found && strings.Contains(rest, ":") {
		if !t.add(days, dotnet.Day) {
			return false
		}
		s = rest
	}
	parts := strings.Split(s, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return false
	}
	limits := [...]int64{24, 60, 60}
	for i, unit := range []int64{dotnet.Hour, dotnet.Minute, dotnet.Second}[:len(parts)] {
		var part spanSum
		if !part.add(parts[i], unit) || int64(part) >= limits[i]*unit {
			return false
		}
		*t += part
	}
	return *t <= 1<<63
}
