package filter

import (
	"math"
	"time"

	"minibus/internal/dotnet"
)

// DateTime makes an instant from milliseconds since the Unix epoch. An instant outside the years 1 to 9999 becomes the
// nearest one inside, as in .NET clients.
func DateTime(unixMilli int64) Value {
	const minMilli = -dotnet.UnixEpoch / dotnet.Millisecond
	const maxMilli = (dotnet.MaxInstant - dotnet.UnixEpoch) / dotnet.Millisecond
	unixMilli = max(minMilli, min(maxMilli, unixMilli))
	return Value{kind: KindDateTime, num: uint64(dotnet.OfUnixMilli(unixMilli))}
}

// DateTimeOf makes an instant; one outside the years 1 to 9999 becomes the nearest.
func DateTimeOf(t time.Time) Value {
	ticks, ok := instantOf(t)
	if !ok && t.UTC().Year() > 9999 {
		ticks = dotnet.MaxInstant
	}
	return Value{kind: KindDateTime, num: uint64(ticks)}
}

// DateTimeTicks makes an instant from ticks since year 1.
func DateTimeTicks(ticks int64) Value {
	return Value{kind: KindDateTime, num: DateTimeOffset(ticks).num}
}

// DateTimeOffset makes an instant from UTC ticks since year 1, the content of com.microsoft:datetime-offset.
func DateTimeOffset(ticks int64) Value {
	return Value{kind: KindDateTimeOffset, num: uint64(max(0, min(dotnet.MaxInstant, ticks)))}
}

// TimeSpan makes a duration from ticks of 100 nanoseconds, the content of com.microsoft:timespan.
func TimeSpan(ticks int64) Value { return Value{kind: KindTimeSpan, num: uint64(ticks)} }

// Ticks returns the ticks of a [KindDateTime] or [KindDateTimeOffset] since year 1, or of a [KindTimeSpan].
func (v Value) Ticks() int64 { return int64(v.num) }

// UnixMilli returns a [KindDateTime] or [KindDateTimeOffset] in milliseconds since the Unix epoch, rounded down.
func (v Value) UnixMilli() int64 { return dotnet.UnixMilli(v.Ticks()) }

// Time returns a [KindDateTime] or [KindDateTimeOffset] as a time.Time in UTC.
func (v Value) Time() time.Time { return dotnet.Time(v.Ticks()) }

// instantOf is the inverse of Time; ok is false outside the years 1 to 9999.
func instantOf(t time.Time) (ticks int64, ok bool) {
	if year := t.UTC().Year(); year < 1 || year > 9999 {
		return 0, false
	}
	return dotnet.OfTime(t), true
}

// isInstant reports whether the kind is a point in time.
func isInstant(k Kind) bool { return k == KindDateTime || k == KindDateTimeOffset }

// addInstant moves an instant by a duration.
func addInstant(v Value, ticks int64) (Value, error) {
	sum, ok := addTicks(v.Ticks(), ticks)
	if !ok || sum < 0 || sum > dotnet.MaxInstant {
		return Value{}, evalErrorf("The resulting date is outside the years 1 to 9999.")
	}
	return Value{kind: v.kind, num: uint64(sum)}, nil
}

// addSpans adds two durations.
func addSpans(a, b int64) (Value, error) {
	sum, ok := addTicks(a, b)
	if !ok {
		return Value{}, evalErrorf("The resulting TimeSpan is too long.")
	}
	return TimeSpan(sum), nil
}

// negateSpan negates a duration. It fails for the smallest one, which has no opposite.
func negateSpan(ticks int64) (int64, error) {
	if ticks == math.MinInt64 {
		return 0, evalErrorf("The resulting TimeSpan is too long.")
	}
	return -ticks, nil
}

func addTicks(a, b int64) (sum int64, ok bool) {
	sum = a + b
	return sum, (sum > a) == (b > 0)
}
