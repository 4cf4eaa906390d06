package config

import (
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

// ParseDuration reads an ISO 8601 duration, as [dotnet.ParseDuration] does.
func ParseDuration(s string) (time.Duration, error) { return dotnet.ParseDuration(s) }

// FormatDuration writes a duration in the form that [ParseDuration] reads.
func FormatDuration(d time.Duration) string { return dotnet.FormatDuration(d) }

// timeSpan matches the other notation that .NET users try: [days.]hours:minutes:seconds.
var timeSpan = regexp.MustCompile(`^(?:(\d{1,6})\.)?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.\d+)?)?$`)

// suggestDuration guesses the duration meant by s, for the fix of a message; "" without a guess.
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
