package atom

import (
	"strings"
	"time"
)

// neverAccessed stands for the time of the last use of an entity that nobody used.
const neverAccessed = "0001-01-01T00:00:00Z"

// formatTime writes an instant, given in milliseconds since the Unix epoch; trailing zeros of the fraction are left out.
func formatTime(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.999Z")
}

// formatSeconds writes an instant in whole seconds, as published and updated have it.
func formatSeconds(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05Z")
}

// formatAccessed writes the time of the last use; 0 is never.
func formatAccessed(ms int64) string {
	if ms == 0 {
		return neverAccessed
	}
	return formatTime(ms)
}

// UnzonedTime is a time that was given without a zone and is shown without one. It counts as UTC.
type UnzonedTime time.Time

// unzonedLayout is an xs:dateTime without zone, with as much of a fraction as .NET keeps.
const unzonedLayout = "2006-01-02T15:04:05.9999999"

// parseTime reads an xs:dateTime; one without zone is taken as UTC.
func parseTime(s string) (time.Time, error) {
	s = strings.TrimSpace(s)
	if t, err := time.Parse(unzonedLayout, s); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t.UTC(), err
}
