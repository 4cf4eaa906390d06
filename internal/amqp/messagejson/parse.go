package messagejson

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"minibus/internal/amqp"
	"minibus/internal/dotnet"
)

// maxDepth bounds how deep values are nested. The decoder of AMQP counts the sections around them too.
const maxDepth = amqp.MaxDepth - 4

// FromJSON is the reverse of [ToJSON]: it returns a value that [amqp.AppendValue] takes. Numbers must be json.Number,
// as the functions here read them.
func FromJSON(v any) (any, error) { return fromJSON(v, 0) }

func fromJSON(v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("found values that are nested more than %d deep", maxDepth)
	}
	switch v := v.(type) {
	case nil, string, bool:
		return v, nil
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return Scalar("double", v.String())
		}
		return Scalar("long", v.String())
	case map[string]any:
		if len(v) == 1 {
			for name, inner := range v {
				return typedFromJSON(name, inner, depth+1)
			}
		}
	}
	return nil, fmt.Errorf(`found %s; allowed: a string, a number, true, false, null, or an object with the name of `+
		`a type such as {"int":5}; types: %s`,
		brief(v), strings.Join(allTypes(), ", "))
}

func typedFromJSON(name string, inner any, depth int) (any, error) {
	switch name {
	case "null":
		return nil, nil
	case "list":
		return listFromJSON(inner, depth)
	case "map":
		return mapFromJSON(inner, depth)
	case "array":
		return arrayFromJSON(inner, depth)
	case "described":
		return describedFromJSON(inner, depth)
	}
	switch v := inner.(type) {
	case string:
		return Scalar(name, v)
	case json.Number:
		return Scalar(name, v.String())
	case bool:
		return Scalar(name, strconv.FormatBool(v))
	}
	return nil, fmt.Errorf("found %s as a value of type %s", brief(inner), clip(name))
}

func listFromJSON(inner any, depth int) (amqp.List, error) {
	items, ok := inner.([]any)
	if !ok {
		return nil, fmt.Errorf("found %s; a list is an array", brief(inner))
	}
	list := make(amqp.List, len(items))
	for i, item := range items {
		var err error
		if list[i], err = fromJSON(item, depth); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func mapFromJSON(inner any, depth int) (any, error) {
	items, ok := inner.([]any)
	m := make(amqp.Map, 0, len(items))
	for _, item := range items {
		pair, isPair := item.([]any)
		if !isPair || len(pair) != 2 {
			ok = false
			break
		}
		key, err := fromJSON(pair[0], depth)
		if err != nil {
			return nil, err
		}
		value, err := fromJSON(pair[1], depth)
		if err != nil {
			return nil, err
		}
		m = append(m, amqp.Pair{Key: key, Value: value})
	}
	if !ok {
		return nil, fmt.Errorf("found %s; a map is an array of pairs [key, value]", brief(inner))
	}
	return m, nil
}

func arrayFromJSON(inner any, depth int) (any, error) {
	o, _ := inner.(map[string]any)
	name, _ := o["type"].(string)
	values, ok := o["values"].([]any)
	code, known := codes[name]
	if !ok || !known || len(o) != 2 {
		return nil, fmt.Errorf(`found %s; an array is {"type":"int","values":[1,2]}, with one of the types %s`,
			brief(inner), strings.Join(allTypes(), ", "))
	}
	a := amqp.Array{Code: code, Items: make([]any, len(values))}
	for i, v := range values {
		var err error
		if o, typed := v.(map[string]any); typed && len(o) == 1 && o[name] != nil {
			a.Items[i], err = fromJSON(v, depth)
		} else {
			a.Items[i], err = typedFromJSON(name, v, depth)
		}
		if err != nil {
			return nil, err
		}
	}
	return a, nil
}

func describedFromJSON(inner any, depth int) (any, error) {
	o, _ := inner.(map[string]any)
	if _, ok := o["value"]; !ok || len(o) != 2 {
		return nil, fmt.Errorf(`found %s; a described value is {"descriptor":{"symbol":"..."},"value":...}`,
			brief(inner))
	}
	descriptor, err := fromJSON(o["descriptor"], depth)
	if err != nil {
		return nil, err
	}
	value, err := fromJSON(o["value"], depth)
	return amqp.Described{Descriptor: descriptor, Value: value}, err
}

// Scalar reads a value of a named type.
func Scalar(name, text string) (any, error) {
	read := scalars[name]
	if read == nil {
		return nil, fmt.Errorf("there is no type %q; types: %s", clip(name), strings.Join(allTypes(), ", "))
	}
	v, err := read(text)
	if err != nil {
		return nil, fmt.Errorf("%q is no value of type %s", clip(text), name)
	}
	return v, nil
}

// HasScalar reports whether there is a type of single values with the name.
func HasScalar(name string) bool { return scalars[name] != nil }

// scalars read the values of the types by their names.
var scalars = map[string]func(string) (any, error){
	"boolean": func(s string) (any, error) { return strconv.ParseBool(s) },
	"byte":    func(s string) (any, error) { n, err := strconv.ParseInt(s, 10, 8); return int8(n), err },
	"short":   func(s string) (any, error) { n, err := strconv.ParseInt(s, 10, 16); return int16(n), err },
	"int":     func(s string) (any, error) { n, err := strconv.ParseInt(s, 10, 32); return int32(n), err },
	"long":    func(s string) (any, error) { return strconv.ParseInt(s, 10, 64) },
	"ubyte":   func(s string) (any, error) { n, err := strconv.ParseUint(s, 10, 8); return uint8(n), err },
	"ushort":  func(s string) (any, error) { n, err := strconv.ParseUint(s, 10, 16); return uint16(n), err },
	"uint":    func(s string) (any, error) { n, err := strconv.ParseUint(s, 10, 32); return uint32(n), err },
	"ulong":   func(s string) (any, error) { return strconv.ParseUint(s, 10, 64) },
	"float":   func(s string) (any, error) { f, err := strconv.ParseFloat(s, 32); return float32(f), err },
	"double":  func(s string) (any, error) { return strconv.ParseFloat(s, 64) },
	"string":  func(s string) (any, error) { return s, nil },
	"symbol":  symbol,
	"binary":  func(s string) (any, error) { return base64.StdEncoding.DecodeString(s) },
	"uuid":    uuid, "timestamp": timestamp, "char": char,
	"decimal32":  func(s string) (any, error) { v := amqp.Decimal32{}; err := bits(s, v[:]); return v, err },
	"decimal64":  func(s string) (any, error) { v := amqp.Decimal64{}; err := bits(s, v[:]); return v, err },
	"decimal128": decimal128,
}

// symbol reads one of ASCII, as the standard has them [AMQP 1.6.21].
func symbol(s string) (any, error) {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return nil, fmt.Errorf("%q is not ASCII", clip(s))
		}
	}
	return amqp.Symbol(s), nil
}

func uuid(s string) (any, error) {
	var id amqp.UUID
	digits, err := hex.DecodeString(strings.ReplaceAll(s, "-", ""))
	if err != nil || len(digits) != len(id) {
		return nil, fmt.Errorf("%q is no UUID", clip(s))
	}
	copy(id[:], digits)
	return id, nil
}

// timestamp reads a time, or a number of milliseconds.
func timestamp(s string) (any, error) {
	if ms, err := strconv.ParseInt(s, 10, 64); err == nil {
		return amqp.Timestamp(ms), nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return amqp.TimestampOf(t), err
}

// char reads a character, or its number.
func char(s string) (any, error) {
	if r, n := utf8.DecodeRuneInString(s); n == len(s) && n > 0 && (r != utf8.RuneError || n > 1) {
		return amqp.Char(r), nil
	}
	n, err := strconv.ParseUint(s, 10, 21)
	if err == nil && n > utf8.MaxRune {
		err = errors.New("there is no such character")
	}
	return amqp.Char(n), err
}

// decimal128 reads a number as .NET has them, or the bytes of any other.
func decimal128(s string) (any, error) {
	if b, ok := dotnet.ParseDecimal(s); ok {
		return amqp.Decimal128(b), nil
	}
	var v amqp.Decimal128
	err := bits(s, v[:])
	return v, err
}

// bits reads the bytes of a decimal number.
func bits(s string, into []byte) error {
	b, err := base64.StdEncoding.DecodeString(s)
	if err == nil && len(b) != len(into) {
		err = fmt.Errorf("%d bytes", len(b))
	}
	copy(into, b)
	return err
}

// clip bounds what a client wrote before it is repeated.
func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}
