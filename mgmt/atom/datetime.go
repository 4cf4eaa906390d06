package atom

import (
	"strings"
	"time"
)

// neverAccessed is the time of the last use of an entity that no client has used.
const neverAccessed = "0001-01-01T00:00:00Z"

// formatTime writes an instant, given in milliseconds since the Unix epoch, without trailing zeros in the fraction.
func formatTime(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.999Z")
}

// formatSeconds writes an instant in whole seconds, as published and updated have it.
func formatSeconds(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05Z")
}

// formatAccessed writes the time of the last use, in milliseconds since the Unix epoch; 0 is never.
func formatAccessed(ms int64) string {
	if ms == 0 {
		return neverAccessed
	}
	return formatTime(ms)
}

// UnzonedTime is a time that a client gave without a zone. It counts as UTC and is shown without a zone.
type UnzonedTime time.Time

// unzonedLayout is an xs:dateTime without zone, with the seven digits of fraction that .NET keeps.
const unzonedLayout = "2006-01-02T15:04:05.9999999"

// parseTime reads an xs:dateTime; without a zone it is UTC.
func parseTime(s string) (time.Time, error) {
	s = strings.TrimSpace(s)
	if t, err := time.Parse(unzonedLayout, s); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t.UTC(), err
}
