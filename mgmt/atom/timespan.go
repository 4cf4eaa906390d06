package atom

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"minibus/internal/dotnet"
)

// TimeSpan is a duration in .NET's ticks of 100 ns. It reaches a hundred times further than
// time.Duration, and clients use its greatest value for "never".
type TimeSpan int64

// MaxTimeSpan means never; it is written P10675199DT2H48M5.4775807S.
const MaxTimeSpan TimeSpan = math.MaxInt64

// The units of a time span.
const (
	Second = TimeSpan(dotnet.Second)
	Minute = TimeSpan(dotnet.Minute)
	Hour   = TimeSpan(dotnet.Hour)
	Day    = TimeSpan(dotnet.Day)
)

// SpanOf converts a duration.
func SpanOf(d time.Duration) TimeSpan { return TimeSpan(d / 100) }

// Duration converts to a time.Duration. ok is false if it does not fit.
func (t TimeSpan) Duration() (d time.Duration, ok bool) {
	if t > math.MaxInt64/100 || t < math.MinInt64/100 {
		return 0, false
	}
	return time.Duration(t) * 100, true
}

// ParseTimeSpan reads an xs:duration: P1DT2H, PT0.5S, -PT1M. A year has 365 days and a month 30, as in .NET. Durations
// above MaxTimeSpan become MaxTimeSpan, which clients write with rounding errors.
func ParseTimeSpan(s string) (TimeSpan, error) {
	rest, negative := strings.CutPrefix(strings.TrimSpace(s), "-")
	rest, ok := strings.CutPrefix(rest, "P")
	date, clock, hasClock := strings.Cut(rest, "T")
	if !ok || hasClock && clock == "" || rest == "" {
		return 0, durationError(s)
	}
	total, ok := addParts(0, date, "YMD", []TimeSpan{365 * Day, 30 * Day, Day})
	if ok {
		total, ok = addParts(total, clock, "HMS", []TimeSpan{Hour, Minute, Second})
	}
	if !ok {
		return 0, durationError(s)
	}
	if negative {
		return -total, nil
	}
	return total, nil
}

func durationError(s string) error {
	return fmt.Errorf("the value %q is not a duration", clip(s))
}

// addParts adds the numbers of s, each followed by one of letters, in their order. Only seconds may have a fraction.
func addParts(total TimeSpan, s, letters string, units []TimeSpan) (TimeSpan, bool) {
	for s != "" {
		end := strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if end <= 0 {
			return 0, false
		}
		at := strings.IndexByte(letters, s[end])
		if at < 0 {
			return 0, false
		}
		whole, fraction, hasFraction := strings.Cut(s[:end], ".")
		if whole == "" || hasFraction && (s[end] != 'S' || !digits(fraction)) {
			return 0, false
		}
		total = addSpan(total, whole, units[at])
		if hasFraction {
			f, err := strconv.ParseInt((fraction + "0000000")[:7], 10, 64)
			if err != nil {
				return 0, false
			}
			total = saturate(uint64(total), uint64(f))
		}
		letters = letters[at+1:]
		units = units[at+1:]
		s = s[end+1:]
	}
	return total, true
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// addSpan adds a number of units, without overflow.
func addSpan(total TimeSpan, number string, unit TimeSpan) TimeSpan {
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return MaxTimeSpan // number has only digits, so there are too many of them
	}
	high, low := bits.Mul64(n, uint64(unit))
	if high != 0 {
		return MaxTimeSpan
	}
	return saturate(uint64(total), low)
}

func saturate(a, b uint64) TimeSpan {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 || sum > math.MaxInt64 {
		return MaxTimeSpan
	}
	return TimeSpan(sum)
}

// String returns the form of the service's answers: P1DT2H3M4.5S without parts that are zero.
func (t TimeSpan) String() string {
	if t < 0 {
		return "-" + isoOf(-uint64(t))
	}
	return isoOf(uint64(t))
}

func isoOf(ticks uint64) string {
	return dotnet.FormatISO(ticks/uint64(Second), ticks%uint64(Second), 7)
}

// clock returns the form of error texts: [d.]hh:mm:ss[.fffffff].
func (t TimeSpan) clock() string { return dotnet.FormatSpan(int64(t)) }
