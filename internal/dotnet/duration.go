package dotnet

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// Forever stands for every duration too long for a time.Duration (about 292 years), such as .NET's largest TimeSpan,
// P10675199DT2H48M5.4775807S.
const Forever = time.Duration(math.MaxInt64)

var errDuration = errors.New("not an ISO 8601 duration")

// ParseDuration reads an ISO 8601 duration: PT1M, P1DT2H, PT0.5S. Months have 30 days and years 365, as in .NET's
// XmlConvert, which writes the files of Aspire. Any component may have a fraction. The result is truncated to
// nanoseconds.
func ParseDuration(s string) (time.Duration, error) {
	rest, ok := strings.CutPrefix(strings.ToUpper(strings.TrimSpace(s)), "P")
	if !ok {
		return 0, errDuration
	}
	date, clock, hasClock := strings.Cut(rest, "T")
	if hasClock && clock == "" || date == "" && !hasClock {
		return 0, errDuration
	}
	const day = 24 * time.Hour
	total, err := addComponents(0, date, "YMWD", []time.Duration{365 * day, 30 * day, 7 * day, day})
	if err != nil {
		return 0, err
	}
	return addComponents(total, clock, "HMS", []time.Duration{time.Hour, time.Minute, time.Second})
}

// addComponents adds the numbers of s to total; each is followed by one of letters, in their order.
func addComponents(total time.Duration, s, letters string, units []time.Duration) (time.Duration, error) {
	for s != "" {
		end := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789.,", r) })
		if end <= 0 {
			return 0, errDuration
		}
		at := strings.IndexByte(letters, s[end])
		if at < 0 {
			return 0, errDuration
		}
		d, err := component(s[:end], units[at])
		if err != nil {
			return 0, err
		}
		total = addSaturated(total, d)
		letters = letters[at+1:]
		units = units[at+1:]
		s = s[end+1:]
	}
	return total, nil
}

func component(number string, unit time.Duration) (time.Duration, error) {
	whole, fraction, _ := strings.Cut(strings.ReplaceAll(number, ",", "."), ".")
	if whole == "" && fraction == "" || strings.Contains(fraction, ".") {
		return 0, errDuration
	}
	var d time.Duration
	if whole = strings.TrimLeft(whole, "0"); whole != "" {
		n, err := strconv.ParseInt(whole, 10, 64)
		if err != nil || n > int64(Forever/unit) {
			return Forever, nil // more digits than fit
		}
		d = time.Duration(n) * unit
	}
	if fraction == "" {
		return d, nil
	}
	f, err := strconv.ParseFloat("0."+fraction, 64)
	if err != nil {
		return 0, errDuration
	}
	return addSaturated(d, time.Duration(math.Round(f*float64(unit)))), nil
}

func addSaturated(a, b time.Duration) time.Duration {
	if a > Forever-b {
		return Forever
	}
	return a + b
}

// FormatDuration writes a duration in the form that [ParseDuration] reads.
func FormatDuration(d time.Duration) string {
	if d >= Forever {
		return "P10675199DT2H48M5.4775807S"
	}
	return FormatISO(uint64(d/time.Second), uint64(d%time.Second), 9)
}
