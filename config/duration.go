package config

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"minibus/emulator"
	"minibus/internal/dotnet"
)

// Forever stands for every duration too long for a time.Duration (about 292 years), such as .NET's largest TimeSpan,
// P10675199DT2H48M5.4775807S. As a time to live it means that nothing expires.
const Forever = emulator.Forever

var errDuration = errors.New("not an ISO 8601 duration")

// ParseDuration reads an ISO 8601 duration: PT1M, P1DT2H, PT0.5S. Months have 30 days and years 365, as in .NET's
// XmlConvert, which writes the files of Aspire. Any component may have a fraction. The result is truncated to nanoseconds.
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
		letters, units, s = letters[at+1:], units[at+1:], s[end+1:]
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
	return dotnet.FormatISO(uint64(d/time.Second), uint64(d%time.Second), 9)
}

// timeSpan matches the other notation that .NET users try: [days.]hours:minutes:seconds.
var timeSpan = regexp.MustCompile(`^(?:(\d{1,6})\.)?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.\d+)?)?$`)

// suggestDuration guesses the duration meant by s, for the cure of a message; "" without a guess.
func suggestDuration(s string) string {
	s = strings.TrimSpace(s)
	if d, err := time.ParseDuration(strings.ToLower(strings.ReplaceAll(s, " ", ""))); err == nil && d > 0 {
		return FormatDuration(d)
	}
	m := timeSpan.FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	var total time.Duration
	for i, unit := range []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second} {
		n, _ := strconv.Atoi("0" + m[i+1]) // at most six digits
		total += time.Duration(n) * unit
	}
	if total == 0 {
		return ""
	}
	return FormatDuration(total)
}
