package dotnet

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The units of time, in ticks.
const (
	Millisecond int64 = 10_000
	Second            = 1000 * Millisecond
	Minute            = 60 * Second
	Hour              = 60 * Minute
	Day               = 24 * Hour
)

// UnixEpoch is the first instant of 1970.
const UnixEpoch int64 = 621_355_968_000_000_000

// MaxInstant is the last instant of the year 9999.
const MaxInstant int64 = 3_155_378_975_999_999_999

// OfUnixMilli converts milliseconds since the Unix epoch.
func OfUnixMilli(ms int64) int64 { return ms*Millisecond + UnixEpoch }

// UnixMilli converts an instant to milliseconds since the Unix epoch, rounded down.
func UnixMilli(ticks int64) int64 { return floorDiv(ticks-UnixEpoch, Millisecond) }

// OfTime converts an instant, cutting off fractions of a tick.
func OfTime(t time.Time) int64 { return t.Unix()*Second + int64(t.Nanosecond()/100) + UnixEpoch }

// Time converts ticks to a time.Time in UTC.
func Time(ticks int64) time.Time {
	since := ticks - UnixEpoch
	seconds := floorDiv(since, Second)
	return time.Unix(seconds, (since-seconds*Second)*100).UTC()
}

// FormatSpan formats a duration as .NET does: [-][d.]hh:mm:ss[.fffffff].
func FormatSpan(ticks int64) string {
	sign, rest := "", uint64(ticks)
	if ticks < 0 {
		sign, rest = "-", -rest
	}
	take := func(unit int64) uint64 {
		n := rest / uint64(unit)
		rest %= uint64(unit)
		return n
	}
	if days := take(Day); days > 0 {
		sign += fmt.Sprintf("%d.", days)
	}
	s := sign + fmt.Sprintf("%02d:%02d:%02d", take(Hour), take(Minute), take(Second))
	if rest > 0 {
		s += fmt.Sprintf(".%07d", rest)
	}
	return s
}

// FormatISO formats a duration as ISO 8601 and the service do, P1DT2H3M4.5S, without parts that are zero. The
// fraction of the last second is written with that many digits, without zeros at its end.
func FormatISO(seconds, fraction uint64, digits int) string {
	if seconds == 0 && fraction == 0 {
		return "PT0S"
	}
	s := "P"
	part := func(n uint64, unit string) {
		if n > 0 {
			s += strconv.FormatUint(n, 10) + unit
		}
	}
	part(seconds/86400, "D")
	if seconds %= 86400; seconds > 0 || fraction > 0 {
		s += "T"
	}
	part(seconds/3600, "H")
	part(seconds/60%60, "M")
	if fraction == 0 {
		part(seconds%60, "S")
		return s
	}
	return s + strings.TrimRight(fmt.Sprintf("%d.%0*d", seconds%60, digits, fraction), "0") + "S"
}

// floorDiv divides and rounds down; b must be positive.
func floorDiv(a, b int64) int64 {
	n := a / b
	if a%b < 0 {
		n--
	}
	return n
}
