package seed

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"minibus/internal/printable"
)

// timeForm is the form of {{now}}: what AMQP has of a time, in UTC.
const timeForm = "2006-01-02T15:04:05.000Z"

const known = "{{now}}, {{now+1h30m}}, {{now-2d}}, {{guid}}, {{counter}}; \\{{ for {{ itself"

// values replace the placeholders of a line.
type values struct {
	now     time.Time
	counter int
}

// of returns what a placeholder stands for, by the text between its braces.
func (v values) of(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch name {
	case "guid":
		return uuid.NewString(), nil
	case "counter":
		return strconv.Itoa(v.counter), nil
	case "now":
		return v.now.UTC().Format(timeForm), nil
	}
	unknown := fmt.Errorf("found the placeholder %s; allowed: %s", printable.Clip("{{"+name+"}}", 60), known)
	rest, ok := strings.CutPrefix(name, "now")
	if rest = strings.TrimSpace(rest); !ok || rest == "" || rest[0] != '+' && rest[0] != '-' {
		return "", unknown
	}
	d, err := parseDuration(strings.TrimSpace(rest[1:]))
	if errors.Is(err, errTooLong) {
		return "", fmt.Errorf("found the placeholder %s; allowed: %w", printable.Clip("{{"+name+"}}", 60), err)
	}
	if err != nil {
		return "", unknown
	}
	if rest[0] == '-' {
		d = -d
	}
	at := v.now.Add(d).UTC()
	if at.Year() > 9999 || at.Year() < 1 {
		return "", fmt.Errorf("the placeholder %s is beyond the years 1 to 9999", printable.Clip("{{"+name+"}}", 60))
	}
	return at.Format(timeForm), nil
}

var durationPart = regexp.MustCompile(`^([0-9]+)(ms|s|m|h|d)`)

var units = map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour,
	"d": 24 * time.Hour}

var (
	errNoDuration = errors.New("no duration")
	errTooLong    = fmt.Errorf("at most %d days", math.MaxInt64/(24*time.Hour))
)

// parseDuration reads durations such as 1h30m and 2d.
func parseDuration(text string) (sum time.Duration, err error) {
	if text == "" {
		return 0, errNoDuration
	}
	for text != "" {
		part := durationPart.FindStringSubmatch(text)
		if part == nil {
			return 0, errNoDuration
		}
		n, wrong := strconv.ParseInt(part[1], 10, 64)
		unit := units[part[2]]
		if wrong != nil || n > (math.MaxInt64-int64(sum))/int64(unit) {
			err = errTooLong
			n = 0
		}
		sum += time.Duration(n) * unit
		text = text[len(part[0]):]
	}
	return sum, err
}

// placeError is an error at a place in a line.
type placeError struct {
	offset int // in bytes
	err    error
}

func (e *placeError) Error() string { return e.err.Error() }

func (e *placeError) Unwrap() error { return e.err }

// column is the place in characters, from 1.
func column(line []byte, offset int) int {
	return utf8.RuneCount(line[:min(max(offset, 0), len(line))]) + 1
}

// expand puts values for the placeholders in the texts of a line of JSON. Names are left as they are.
func expand(line []byte, v values) ([]byte, error) {
	if !bytes.Contains(line, []byte("{{")) {
		return line, nil
	}
	return eachText(line, func(text []byte, at int) ([]byte, error) {
		var out []byte
		for done := 0; ; {
			i := bytes.Index(text[done:], []byte("{{"))
			if i < 0 {
				return append(out, text[done:]...), nil
			}
			i += done
			out = append(out, text[done:i]...)
			if bytes.HasSuffix(text[:i], []byte(`\\`)) { // a backslash in JSON
				out = append(out[:len(out)-2], "{{"...)
				done = i + 2
				continue
			}
			length := bytes.Index(text[i:], []byte("}}"))
			if length < 0 {
				return nil, &placeError{at + i, fmt.Errorf("found {{ without }}; allowed: %s", known)}
			}
			value, err := v.of(string(text[i+2 : i+length]))
			if err != nil {
				return nil, &placeError{at + i, err}
			}
			out = append(out, value...)
			done = i + length + 2
		}
	})
}

// protect is the reverse of expand for texts without placeholders: what looks like one is read as it is.
func protect(line []byte) []byte {
	if !bytes.Contains(line, []byte("{{")) {
		return line
	}
	out, _ := eachText(line, func(text []byte, _ int) ([]byte, error) {
		return bytes.ReplaceAll(text, []byte("{{"), []byte(`\\{{`)), nil
	})
	return out
}

// eachText replaces the texts of a line of JSON that are no names, as they stand between their quotation marks.
func eachText(line []byte, change func(text []byte, at int) ([]byte, error)) ([]byte, error) {
	var out []byte
	done := 0
	for i := 0; i < len(line); i++ {
		if line[i] != '"' {
			continue
		}
		begin := i + 1
		for i++; i < len(line) && line[i] != '"'; i++ {
			if line[i] == '\\' {
				i++
			}
		}
		if i >= len(line) {
			break // the reader of JSON says what is wrong
		}
		if rest := bytes.TrimLeft(line[i+1:], " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
			continue
		}
		text, err := change(line[begin:i], begin)
		if err != nil {
			return nil, err
		}
		out = append(append(out, line[done:begin]...), text...)
		done = i
	}
	return append(out, line[done:]...), nil
}
