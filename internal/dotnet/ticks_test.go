package dotnet

import (
	"math"
	"testing"
	"time"
)

func TestInstants(t *testing.T) {
	for _, at := range []time.Time{
		time.Unix(0, 0), time.Unix(-1, 999_999_900), time.Unix(0, -100), time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Date(9999, 12, 31, 23, 59, 59, 999_999_900, time.UTC), time.Date(2026, 6, 30, 20, 51, 21, 1234500, time.UTC),
	} {
		if got := Time(OfTime(at)); !got.Equal(at) {
			t.Errorf("%v: %v", at, got)
		}
		if got, want := UnixMilli(OfTime(at)), at.UnixMilli(); got != want {
			t.Errorf("%v: %d ms, want %d", at, got, want)
		}
		if got, want := OfUnixMilli(at.UnixMilli()), OfTime(at.Truncate(time.Millisecond)); at.Nanosecond()%1_000_000 == 0 && got != want {
			t.Errorf("%v: %d ticks, want %d", at, got, want)
		}
	}
	// The ETag in management-rest 1.5.
	if got := OfUnixMilli(time.Date(2021, 9, 28, 15, 47, 23, 47e6, time.UTC).UnixMilli()); got != 637684408430470000 {
		t.Errorf("the ETag is %d", got)
	}
	if first, last := OfTime(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)), OfTime(time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC)); first != 0 || last != MaxInstant {
		t.Errorf("the first instant is %d, the last %d", first, last)
	}
}

func TestFormatSpan(t *testing.T) {
	for ticks, want := range map[int64]string{
		0: "00:00:00", 1: "00:00:00.0000001", -Second: "-00:00:01", Day: "1.00:00:00", 90*Minute + 5*Millisecond: "01:30:00.0050000",
		-(Day + Hour): "-1.01:00:00", math.MaxInt64: "10675199.02:48:05.4775807", math.MinInt64: "-10675199.02:48:05.4775808",
	} {
		if got := FormatSpan(ticks); got != want {
			t.Errorf("%d: %s, want %s", ticks, got, want)
		}
	}
}
