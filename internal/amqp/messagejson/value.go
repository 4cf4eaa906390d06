package messagejson

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"minibus/internal/amqp"
	"minibus/internal/dotnet"
)

// exact is the largest whole number that every reader of JSON keeps.
const exact = 1 << 53

// ToJSON returns what stands for a value of [amqp.Reader.Value] in JSON. Numbers are json.Number, as [FromJSON] wants
// them.
func ToJSON(v any) any {
	switch v := v.(type) {
	case nil, string, bool:
		return v
	case int64:
		if v >= -exact && v <= exact {
			return json.Number(strconv.FormatInt(v, 10))
		}
		return tagged("long", strconv.FormatInt(v, 10))
	case float64:
		if v == math.Trunc(v) || math.IsNaN(v) || math.IsInf(v, 0) {
			return tagged("double", float(v, 64))
		}
		return float(v, 64)
	case amqp.List:
		return tagged("list", listToJSON(v))
	case amqp.Map:
		pairs := make([]any, len(v))
		for i, p := range v {
			pairs[i] = []any{ToJSON(p.Key), ToJSON(p.Value)}
		}
		return tagged("map", pairs)
	case amqp.Array:
		return tagged("array", map[string]any{"type": nameOf(v.Code), "values": listToJSON(v.Items)})
	case amqp.Described:
		return tagged("described", map[string]any{"descriptor": ToJSON(v.Descriptor), "value": ToJSON(v.Value)})
	}
	return scalarToJSON(v)
}

// scalarToJSON handles the types that JSON has nothing like.
func scalarToJSON(v any) any {
	switch v := v.(type) {
	case int8:
		return whole("byte", int64(v))
	case int16:
		return whole("short", int64(v))
	case int32:
		return whole("int", int64(v))
	case uint8:
		return whole("ubyte", int64(v))
	case uint16:
		return whole("ushort", int64(v))
	case uint32:
		return whole("uint", int64(v))
	case uint64:
		return tagged("ulong", strconv.FormatUint(v, 10))
	case float32:
		return tagged("float", float(float64(v), 32))
	case []byte:
		return tagged("binary", base64.StdEncoding.EncodeToString(v))
	case amqp.Symbol:
		return tagged("symbol", string(v))
	case amqp.Timestamp:
		return timestampToJSON(v)
	case amqp.UUID:
		return tagged("uuid", v.String())
	case amqp.Char:
		if utf8.ValidRune(rune(v)) {
			return tagged("char", string(rune(v)))
		}
		return whole("char", int64(v))
	case amqp.Decimal32:
		return tagged("decimal32", base64.StdEncoding.EncodeToString(v[:]))
	case amqp.Decimal64:
		return tagged("decimal64", base64.StdEncoding.EncodeToString(v[:]))
	case amqp.Decimal128:
		return tagged("decimal128", decimal(v))
	}
	return tagged("unknown", nil) // there is no other type
}

// decimal returns the number if .NET's client would encode it in the same bytes, else the bytes, so that it is sent
// again as it came.
func decimal(v amqp.Decimal128) string {
	if text, ok := dotnet.DecimalText(v); ok {
		if back, _ := dotnet.ParseDecimal(text); back == v {
			return text
		}
	}
	return base64.StdEncoding.EncodeToString(v[:])
}

func listToJSON(items []any) []any {
	out := make([]any, len(items))
	for i := range items {
		out[i] = ToJSON(items[i])
	}
	return out
}

// timestampToJSON writes those as a number that RFC 3339 has no year for.
func timestampToJSON(v amqp.Timestamp) any {
	if t := v.Time(); t.Year() >= 0 && t.Year() <= 9999 {
		return tagged("timestamp", t.Format("2006-01-02T15:04:05.999Z"))
	}
	return whole("timestamp", int64(v))
}

func tagged(name string, v any) any { return map[string]any{name: v} }

func whole(name string, n int64) any { return tagged(name, json.Number(strconv.FormatInt(n, 10))) }

// float formats a number that JSON may not have.
func float(f float64, bits int) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.FormatFloat(f, 'g', -1, bits)
	}
	text := strconv.FormatFloat(f, 'g', -1, bits)
	return json.Number(text)
}

// brief shows a piece of JSON in an error.
func brief(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "a value"
	}
	if len(text) > 60 {
		return string(text[:60]) + "..."
	}
	return string(text)
}
