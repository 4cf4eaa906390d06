package template

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"minibus/internal/jsontree"
)

// dateFormats are those of .NET that are known by one letter, as Go has them.
var dateFormats = map[string]string{"d": "01/02/2006", "D": "Monday, 02 January 2006", "g": "01/02/2006 15:04",
	"G": "01/02/2006 15:04:05", "o": "2006-01-02T15:04:05.0000000Z07:00", "O": "2006-01-02T15:04:05.0000000Z07:00",
	"r": "Mon, 02 Jan 2006 15:04:05 GMT", "R": "Mon, 02 Jan 2006 15:04:05 GMT", "s": "2006-01-02T15:04:05",
	"t": "15:04", "T": "15:04:05", "u": "2006-01-02 15:04:05Z"}

// dateParts are those of a format of .NET that is composed, the longer ones first, as Go has them.
var dateParts = []struct{ net, gone string }{{"yyyy", "2006"}, {"yy", "06"}, {"MMMM", "January"}, {"MMM", "Jan"},
	{"MM", "01"}, {"M", "1"}, {"dddd", "Monday"}, {"ddd", "Mon"}, {"dd", "02"}, {"d", "2"}, {"HH", "15"}, {"hh", "03"},
	{"h", "3"}, {"mm", "04"}, {"m", "4"}, {"ss", "05"}, {"s", "5"}, {"tt", "PM"}, {"zzz", "-07:00"}}

// FormatTime writes a time as .NET does. ok is false for a format that is not known here.
func FormatTime(at time.Time, format string) (text string, ok bool) {
	if format == "" {
		format = "yyyyMMddTHHmmssZ"
	}
	if known := dateFormats[format]; known != "" {
		return at.Format(known), true
	}
	var b strings.Builder
	for rest := format; rest != ""; {
		found := false
		for _, part := range dateParts {
			if strings.HasPrefix(rest, part.net) {
				b.WriteString(at.Format(part.gone))
				rest = rest[len(part.net):]
				found = true
				break
			}
		}
		switch c := rest; {
		case found:
		case c[0] == 'f':
			digits := len(c) - len(strings.TrimLeft(c, "f"))
			if digits > 7 {
				return "", false
			}
			b.WriteString(at.Format("." + strings.Repeat("0", digits))[1:])
			rest = c[digits:]
		case c[0] == '\'':
			end := strings.IndexByte(c[1:], '\'')
			if end < 0 {
				return "", false
			}
			b.WriteString(c[1 : 1+end])
			rest = c[end+2:]
		case c[0] == '\\' && len(c) > 1:
			b.WriteByte(c[1])
			rest = c[2:]
		case strings.IndexByte("TZ-:/. _,", c[0]) >= 0 || c[0] >= '0' && c[0] <= '9':
			b.WriteByte(c[0])
			rest = c[1:]
		default:
			return "", false
		}
	}
	return b.String(), true
}

// parseTime reads a time in the forms that utcNow() gives and people write.
func parseTime(text string) (at time.Time, ok bool) {
	for _, form := range []string{time.RFC3339Nano, "20060102T150405Z", "2006-01-02 15:04:05Z", "2006-01-02T15:04:05",
		"2006-01-02 15:04:05", "2006-01-02", "01/02/2006", "01/02/2006 15:04:05"} {
		if at, err := time.Parse(form, text); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}

var isoDuration = regexp.MustCompile(
	`^(-?)P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$`)

// dateTimeAdd is dateTimeAdd(time, duration[, format]).
func dateTimeAdd(args []*Node) *Node {
	if len(args) < 2 || len(args) > 3 {
		return nil
	}
	at, ok := parseTime(args[0].Text)
	parts := isoDuration.FindStringSubmatch(args[1].Text)
	if !ok || parts == nil {
		return nil
	}
	n := make([]int, len(parts))
	for i := 2; i < len(parts); i++ {
		n[i], _ = strconv.Atoi(parts[i]) // what is missing is 0
		if n[i] > 1_000_000 {
			return nil
		}
		if parts[1] == "-" {
			n[i] = -n[i]
		}
	}
	at = at.AddDate(n[2], n[3], 7*n[4]+n[5])
	at = at.Add(time.Duration(n[6])*time.Hour + time.Duration(n[7])*time.Minute + time.Duration(n[8])*time.Second)
	format := "yyyy-MM-ddTHH:mm:ssZ"
	if len(args) == 3 {
		format = args[2].Text
	}
	text, ok := FormatTime(at, format)
	if !ok {
		return nil
	}
	return textValue(text)
}

func dateTimeFromEpoch(args []*Node) *Node {
	if len(args) != 1 {
		return nil
	}
	seconds, ok := jsontree.Whole(args[0])
	if !ok || seconds < 0 || seconds > 253402300799 { // the year 9999
		return nil
	}
	return textValue(time.Unix(seconds, 0).UTC().Format(time.RFC3339))
}

func dateTimeToEpoch(args []*Node) *Node {
	if len(args) != 1 {
		return nil
	}
	at, ok := parseTime(args[0].Text)
	if !ok {
		return nil
	}
	return numberValue(at.Unix())
}
