package rest

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/amqp/messagejson"
	"minibus/internal/dotnet"
)

// parseValue reads the value of a custom header (management-rest 7.1). Text in double quotes is a timestamp if it is
// exactly an HTTP date, else a string. Without quotes, true and false are booleans, and a number is the first of int,
// long and double that holds it; anything else is a string. Numbers have JSON's syntax, so 007 stays a string.
func parseValue(s string) any {
	if n := len(s); n >= 2 && s[0] == '"' && s[n-1] == '"' {
		inner := strings.ReplaceAll(s[1:n-1], `\"`, `"`)
		if t, err := time.Parse(http.TimeFormat, inner); err == nil && t.Format(http.TimeFormat) == inner {
			return amqp.TimestampOf(t)
		}
		return inner
	}
	switch s {
	case "true":
		return true
	case "false":
		return false
	}
	if v, ok := parseNumber(s); ok {
		return v
	}
	return s
}

// parseNumber reads a JSON number into the first of int, long and double that holds it.
func parseNumber(s string) (any, bool) {
	if s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') || !json.Valid([]byte(s)) {
		return nil, false
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		if n >= math.MinInt32 && n <= math.MaxInt32 {
			return int32(n), true
		}
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil // a number out of range stays text
}

// formatValue writes a property's value as a header of an answer. ok is false for null and for malformed values.
func formatValue(v message.Scalar) (text string, ok bool) {
	switch v.Type {
	case message.TypeBool:
		return strconv.FormatBool(v.Bits != 0), true
	case message.TypeUbyte, message.TypeUshort, message.TypeUint, message.TypeUlong:
		return strconv.FormatUint(v.Bits, 10), true
	case message.TypeByte, message.TypeShort, message.TypeInt, message.TypeLong:
		return strconv.FormatInt(int64(v.Bits), 10), true
	case message.TypeFloat, message.TypeDouble:
		return formatFloat(math.Float64frombits(v.Bits), v.Type == message.TypeFloat), true
	case message.TypeDecimal128:
		return formatDecimal(v.Bytes16()), true
	case message.TypeChar:
		return quote(string(rune(v.Bits))), true
	case message.TypeTimestamp:
		return quote(date(amqp.Timestamp(v.Bits))), true
	case message.TypeDateTimeOffset:
		return quote(date(amqp.Timestamp(dotnet.UnixMilli(int64(v.Bits))))), true
	case message.TypeTimeSpan:
		return quote(dotnet.FormatSpan(int64(v.Bits))), true
	case message.TypeOther:
		return formatOther(v)
	}
	s, ok := v.TextOf()
	return quote(s), ok
}

// formatFloat writes a number so that parseValue reads it as a double.
func formatFloat(f float64, single bool) string {
	width := 64
	if single {
		width = 32
	}
	s := strconv.FormatFloat(f, 'g', -1, width)
	if !strings.ContainsAny(s, ".eEIN") {
		s += ".0"
	}
	return s
}

// formatDecimal writes a decimal as a number, and what is no System.Decimal in base 64, as the control API does.
func formatDecimal(b [16]byte) string {
	if text, ok := dotnet.DecimalText(b); ok {
		return text
	}
	return quote(base64.StdEncoding.EncodeToString(b[:]))
}

// formatOther writes binaries in base 64. Headers have nothing for the types that are left, and the service says
// nothing about them: they look as in the control API.
func formatOther(v message.Scalar) (string, bool) {
	value, err := message.DecodeValue([]byte(v.Text))
	if err != nil {
		return "", false
	}
	if b, ok := value.([]byte); ok {
		return quote(base64.StdEncoding.EncodeToString(b)), true
	}
	text, err := json.Marshal(messagejson.ToJSON(value))
	return quote(string(text)), err == nil
}

// quote puts a text into quotation marks. It replaces control characters, which a header can't hold, by spaces.
func quote(s string) string {
	return `"` + strings.ReplaceAll(strings.Map(visible, s), `"`, `\"`) + `"`
}

func visible(r rune) rune {
	if r < ' ' && r != '\t' || r == 0x7f {
		return ' '
	}
	return r
}

// date formats an instant as HTTP does.
func date(t amqp.Timestamp) string { return t.Time().Format(http.TimeFormat) }
