package atom

import (
	"math"
	"testing"
	"time"
)

func TestTimeSpans(t *testing.T) {
	for _, tt := range []struct {
		in          string
		want        TimeSpan
		text, clock string
	}{
		{"PT0S", 0, "PT0S", "00:00:00"},
		{"PT1M", Minute, "PT1M", "00:01:00"},
		{"PT60S", Minute, "PT1M", "00:01:00"},
		{"PT90M", 90 * Minute, "PT1H30M", "01:30:00"},
		{"P14D", 14 * Day, "P14D", "14.00:00:00"},
		{"P1Y2M3DT4H5M6.7S", (365+60+3)*Day + 4*Hour + 5*Minute + 67*Second/10, "P428DT4H5M6.7S", "428.04:05:06.7000000"},
		{"PT0.0000001S", 1, "PT0.0000001S", "00:00:00.0000001"},
		{"PT0.00000019S", 1, "PT0.0000001S", "00:00:00.0000001"},
		{" -PT1M ", -Minute, "-PT1M", "-00:01:00"},
		{"P0D", 0, "PT0S", "00:00:00"},
		{"PT256204778H48M5.4775807S", MaxTimeSpan, "P10675199DT2H48M5.4775807S", "10675199.02:48:05.4775807"},
		{"P10675199DT2H48M5.477S", MaxTimeSpan - 5807, "P10675199DT2H48M5.477S", "10675199.02:48:05.4770000"},
		{"P10675200D", MaxTimeSpan, "P10675199DT2H48M5.4775807S", "10675199.02:48:05.4775807"},
		{"P00000000000000000000000000001D", Day, "P1D", "1.00:00:00"},
		{"P99999999999999999999Y", MaxTimeSpan, "P10675199DT2H48M5.4775807S", "10675199.02:48:05.4775807"},
		{"-P99999999999999999999Y", -MaxTimeSpan, "-P10675199DT2H48M5.4775807S", "-10675199.02:48:05.4775807"},
	} {
		got, err := ParseTimeSpan(tt.in)
		if err != nil || got != tt.want || got.String() != tt.text || got.clock() != tt.clock {
			t.Errorf("%s: %d %s %s, %v", tt.in, got, got, got.clock(), err)
		}
	}
	if s := TimeSpan(math.MinInt64).String(); s != "-P10675199DT2H48M5.4775808S" {
		t.Error(s)
	}
	for _, bad := range []string{"", "P", "PT", "P1", "1M", "PT1", "PTM", "P1H", "PT1D", "PT1M1H", "P1.5D", "PT1.S", "PT.5S", "PT1.5.5S", "PT-1S", "--PT1S", "00:01:00", "PT1X", "PT1,5S", "P1W"} {
		if got, err := ParseTimeSpan(bad); err == nil {
			t.Errorf("%q is %s", bad, got)
		}
	}
}

func TestTimeSpansAndDurations(t *testing.T) {
	for _, d := range []time.Duration{0, 100, time.Hour, -time.Hour, math.MaxInt64 / 100 * 100} {
		if got, ok := SpanOf(d).Duration(); got != d || !ok {
			t.Errorf("%s: %s", d, got)
		}
	}
	for _, s := range []TimeSpan{MaxTimeSpan, math.MinInt64, math.MaxInt64/100 + 1} {
		if d, ok := s.Duration(); ok {
			t.Errorf("%s is %s", s, d)
		}
	}
}

func TestTimes(t *testing.T) {
	at := time.Date(2026, 3, 1, 10, 0, 0, 120e6, time.FixedZone("x", 3600))
	if s := formatTime(at.UnixMilli()); s != "2026-03-01T09:00:00.12Z" {
		t.Error(s)
	}
	if s := formatSeconds(at.UnixMilli()); s != "2026-03-01T09:00:00Z" {
		t.Error(s)
	}
	for in, want := range map[string]string{
		"2026-03-01T10:00:00Z": "2026-03-01T10:00:00Z", "2026-03-01T10:00:00.1234567+01:00": "2026-03-01T09:00:00.1234567Z",
		"2026-03-01T10:00:00": "2026-03-01T10:00:00Z", "0001-01-01T00:00:00": "0001-01-01T00:00:00Z",
	} {
		if got, err := parseTime(in); err != nil || got.Format(time.RFC3339Nano) != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
	if _, err := parseTime("yesterday"); err == nil {
		t.Error("no error")
	}
}
