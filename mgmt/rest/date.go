package rest

import (
	"net/http"
	"net/mail"
	"strings"
	"time"
)

// parseDate reads an instant in the forms that clients write and .NET takes: HTTP's, RFC 2822's (HTTP's preferred
// form is one of them, with another name for the zone), RFC 3339's, and those that programs print. Without a zone it
// is in UTC. Its year in UTC is one of .NET's, 1 to 9999.
func parseDate(s string) (time.Time, bool) {
	t, ok := anyDate(strings.TrimSpace(s))
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
	s = numericZone(strings.ToUpper(s))
	// Package mail takes a zone of any name for UTC.
	if last := s[strings.LastIndexByte(s, ' ')+1:]; strings.HasPrefix(last, "+") || strings.HasPrefix(last, "-") {
		if t, err := mail.ParseDate(s); err == nil {
			return t, true
		}
	}
	if len(s) > 10 && s[10] == 'T' {
		s = s[:10] + " " + s[11:]
	}
	for _, layout := range printed {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// printed are the forms that programs print, with the day and the month of .NET's invariant culture, which writes the
// month first. A fraction may follow the seconds of each.
var printed = func() (layouts []string) {
	for _, date := range []string{"2006-01-02", "1/2/2006", "2 Jan 2006", "Mon, 2 Jan 2006", "Monday, 2 January 2006"} {
		layouts = append(layouts, date)
		for _, clock := range []string{"15:04:05", "15:04", "3:04:05 PM", "3:04 PM"} {
			for _, zone := range []string{"", "Z07:00", " Z07:00", " Z0700"} {
				layouts = append(layouts, date+" "+clock+zone)
			}
		}
	}
	return layouts
}()

// numericZone replaces a zone name of RFC 2822 4.3, or UTC, by its number.
func numericZone(s string) string {
	i := strings.LastIndexByte(s, ' ') + 1
	if zone, ok := zones[s[i:]]; ok {
		return s[:i] + zone
	}
	return s
}

var zones = map[string]string{
	"UT": "+0000", "UTC": "+0000", "GMT": "+0000", "Z": "+0000",
	"EST": "-0500", "EDT": "-0400", "CST": "-0600", "CDT": "-0500",
	"MST": "-0700", "MDT": "-0600", "PST": "-0800", "PDT": "-0700",
}
