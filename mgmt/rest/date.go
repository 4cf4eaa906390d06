package rest

import (
	"net/http"
	"net/mail"
	"strings"
	"time"
)

// parseDate reads an instant in the forms that clients write: those of HTTP, those of RFC 2822, of which HTTP's is one with another name
// for the zone, and those of RFC 3339.
func parseDate(s string) (time.Time, bool) {
	if t, err := http.ParseTime(s); err == nil {
		return t, true
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, true
	}
	t, err := mail.ParseDate(numericZone(s))
	return t, err == nil
}

// numericZone writes the zone of a date as a number where it is one of the names in RFC 2822 4.3: package mail takes any name, and those
// that it does not know for UTC.
func numericZone(s string) string {
	i := strings.LastIndexByte(s, ' ') + 1
	if zone, ok := zones[strings.ToUpper(s[i:])]; ok {
		return s[:i] + zone
	}
	if i < len(s) && s[i] != '+' && s[i] != '-' {
		return "" // no date
	}
	return s
}

var zones = map[string]string{
	"UT": "+0000", "GMT": "+0000", "Z": "+0000", "EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
}
