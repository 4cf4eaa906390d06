package rest

import (
	"net/http"
	"net/mail"
	"strings"
	"time"
)

// parseDate reads an instant in the forms that clients write: HTTP's, RFC 2822's (HTTP's preferred form is one of them, with another
// name for the zone) and RFC 3339's. Its year in UTC is one of .NET's, 1 to 9999.
func parseDate(s string) (time.Time, bool) {
	t, ok := anyDate(s)
	return t, ok && dotnetYear(t)
}

func dotnetYear(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 1 && year <= 9999
}

func anyDate(s string) (time.Time, bool) {
	if t, err := http.ParseTime(s); err == nil {
		return t, true
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, true
	}
	t, err := mail.ParseDate(numericZone(s))
	return t, err == nil
}

// numericZone replaces a zone name of RFC 2822 4.3 by its number: package mail accepts any name and takes unknown ones
// for UTC.
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
