package rest

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// clock is the text form of a .NET TimeSpan: [d.]hh:mm[:ss[.fffffff]].
var clock = regexp.MustCompile(`^(?:(\d{1,8})\.)?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,7}))?)?$`)

// parseClock reads a time span. One too long for a time.Duration becomes the longest one.
func parseClock(s string) (d time.Duration, ok bool) {
	m := clock.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return 0, false
	}
	var n [6]int64
	for i, part := range m[1:] {
		if i == 4 {
			part += strings.Repeat("0", 7-len(part)) // ticks
		}
		n[i], _ = strconv.ParseInt("0"+part, 10, 64) // the pattern has digits only
	}
	if n[1] > 23 || n[2] > 59 || n[3] > 59 {
		return 0, false
	}
	if n[0] > math.MaxInt64/int64(24*time.Hour)-1 {
		return math.MaxInt64, true
	}
	return time.Duration(n[0])*24*time.Hour + time.Duration(n[1])*time.Hour + time.Duration(n[2])*time.Minute +
		time.Duration(n[3])*time.Second + time.Duration(n[4])*100, true
}
