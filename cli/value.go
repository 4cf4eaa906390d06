package cli

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/go-amqp"
)

// A value of AMQP has one of many types. In JSON, strings, booleans and null are themselves, a whole number is a long and one with a
// fraction or an exponent a double. Every other type is an object with one key, its name: {"int":5}, {"uuid":"..."}.

// exact is the largest whole number that every reader of JSON keeps.
const exact = 1 << 53

// typeNames are the names of AMQP's types, by Go's.
var typeNames = map[reflect.Type]string{
	reflect.TypeFor[uint8](): "ubyte", reflect.TypeFor[uint16](): "ushort", reflect.TypeFor[uint32](): "uint", reflect.TypeFor[uint64](): "ulong",
	reflect.TypeFor[int8](): "byte", reflect.TypeFor[int16](): "short", reflect.TypeFor[int32](): "int", reflect.TypeFor[int64](): "long",
	reflect.TypeFor[float32](): "float", reflect.TypeFor[float64](): "double", reflect.TypeFor[bool](): "boolean",
	reflect.TypeFor[string](): "string", reflect.TypeFor[amqp.Symbol](): "symbol", reflect.TypeFor[[]byte](): "binary",
	reflect.TypeFor[time.Time](): "timestamp", reflect.TypeFor[amqp.UUID](): "uuid",
}

// toJSON returns what stands for a value in JSON. Numbers are json.Number, as fromJSON wants them.
func toJSON(v any) any {
	switch v := v.(type) {
	case nil, string, bool:
		return v
	case int64:
		if v >= -exact && v <= exact {
			return json.Number(strconv.FormatInt(v, 10))
		}
		return tagged("long", strconv.FormatInt(v, 10))
	case uint64:
		return tagged("ulong", strconv.FormatUint(v, 10))
	case float32:
		return tagged("float", float(float64(v), 32))
	case float64:
		if v == math.Trunc(v) || math.IsNaN(v) || math.IsInf(v, 0) {
			return tagged("double", float(v, 64))
		}
		return float(v, 64)
	case []byte:
		return tagged("binary", base64.StdEncoding.EncodeToString(v))
	case time.Time:
		return tagged("timestamp", v.UTC().Format(time.RFC3339Nano))
	case amqp.UUID:
		return tagged("uuid", v.String())
	case []any:
		items := make([]any, len(v))
		for i := range v {
			items[i] = toJSON(v[i])
		}
		return tagged("list", items)
	}
	return otherToJSON(reflect.ValueOf(v))
}

func tagged(name string, v any) any { return map[string]any{name: v} }

// float formats a number that JSON may not have.
func float(f float64, bits int) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.FormatFloat(f, 'g', -1, bits)
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, bits))
}

// otherToJSON handles the small numbers, maps, arrays and described values.
func otherToJSON(v reflect.Value) any {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if name := typeNames[v.Type()]; name != "" {
		if v.CanInt() || v.CanUint() {
			return tagged(name, json.Number(fmt.Sprint(v.Interface())))
		}
		if v.Kind() == reflect.String {
			return tagged(name, v.String())
		}
		return tagged(name, v.Interface())
	}
	switch v.Kind() {
	case reflect.Map:
		pairs := []any{}
		for _, key := range v.MapKeys() {
			pairs = append(pairs, []any{toJSON(key.Interface()), toJSON(v.MapIndex(key).Interface())})
		}
		slices.SortFunc(pairs, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		return tagged("map", pairs)
	case reflect.Slice:
		values := make([]any, v.Len())
		for i := range values {
			values[i] = toJSON(v.Index(i).Interface())
		}
		return tagged("array", map[string]any{"type": cmp.Or(typeNames[v.Type().Elem()], "map"), "values": values})
	case reflect.Struct:
		if d, w := v.FieldByName("Descriptor"), v.FieldByName("Value"); d.IsValid() && w.IsValid() {
			return tagged("described", map[string]any{"descriptor": toJSON(d.Interface()), "value": toJSON(w.Interface())})
		}
	}
	return tagged("unknown", fmt.Sprint(v.Interface()))
}

// fromJSON is the reverse of toJSON. Numbers are json.Number.
func fromJSON(v any) (any, error) {
	switch v := v.(type) {
	case nil, string, bool:
		return v, nil
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return scalar("double", v.String())
		}
		return scalar("long", v.String())
	case map[string]any:
		if len(v) == 1 {
			for name, inner := range v {
				return typedFromJSON(name, inner)
			}
		}
	}
	return nil, fmt.Errorf(`found %s; allowed: a string, a number, true, false, null, or an object with the name of a type such as {"int":5}; types: %s`,
		brief(v), strings.Join(allTypes(), ", "))
}

func brief(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "a value"
	}
	return oneLine(string(text[:min(len(text), 60)]))
}

func allTypes() []string {
	return append(slices.Sorted(maps.Values(typeNames)), "list", "map", "array")
}

func typedFromJSON(name string, inner any) (any, error) {
	switch name {
	case "list":
		return listFromJSON(inner)
	case "map":
		return mapFromJSON(inner)
	case "array":
		return arrayFromJSON(inner)
	case "described":
		return nil, fmt.Errorf("a described value can't be sent: the SDK that this tool is made with reads them only")
	}
	switch v := inner.(type) {
	case string:
		return scalar(name, v)
	case json.Number:
		return scalar(name, v.String())
	case bool:
		return scalar(name, strconv.FormatBool(v))
	}
	return nil, fmt.Errorf("found %s as a value of type %s", brief(inner), name)
}

func listFromJSON(inner any) (any, error) {
	items, ok := inner.([]any)
	if !ok {
		return nil, fmt.Errorf("found %s; a list is an array", brief(inner))
	}
	list := make([]any, len(items))
	for i, item := range items {
		var err error
		if list[i], err = fromJSON(item); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func mapFromJSON(inner any) (any, error) {
	items, ok := inner.([]any)
	m := make(map[any]any)
	for _, item := range items {
		pair, isPair := item.([]any)
		if !isPair || len(pair) != 2 {
			ok = false
			break
		}
		key, err := fromJSON(pair[0])
		if err != nil {
			return nil, err
		}
		if key != nil && !reflect.TypeOf(key).Comparable() {
			return nil, fmt.Errorf("found %s as the key of a map", brief(pair[0]))
		}
		if m[key], err = fromJSON(pair[1]); err != nil {
			return nil, err
		}
	}
	if !ok {
		return nil, fmt.Errorf("found %s; a map is an array of pairs [key, value]", brief(inner))
	}
	return m, nil
}

// arrayFromJSON makes a slice of Go's type for the array's.
func arrayFromJSON(inner any) (any, error) {
	o, _ := inner.(map[string]any)
	name, _ := o["type"].(string)
	values, ok := o["values"].([]any)
	if !ok || len(o) != 2 || name == "ubyte" || name == "map" {
		return nil, fmt.Errorf(`found %s; an array is {"type":"int","values":[1,2]}, and can't be of ubyte or map`, brief(inner))
	}
	for t, of := range typeNames {
		if of != name {
			continue
		}
		slice := reflect.MakeSlice(reflect.SliceOf(t), 0, len(values))
		for _, v := range values {
			item, err := fromJSON(v)
			if err == nil && (item == nil || reflect.TypeOf(item) != t) {
				item, err = typedFromJSON(name, v)
			}
			if err != nil {
				return nil, err
			}
			slice = reflect.Append(slice, reflect.ValueOf(item))
		}
		return slice.Interface(), nil
	}
	return nil, fmt.Errorf("there is no type %q; types: %s", name, strings.Join(allTypes(), ", "))
}

// scalar reads a value of a named type.
func scalar(name, text string) (any, error) {
	var (
		v   any
		err error
	)
	for t, of := range typeNames {
		if of != name {
			continue
		}
		switch t.Kind() {
		case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			var n int64
			n, err = strconv.ParseInt(text, 10, t.Bits())
			v = reflect.ValueOf(n).Convert(t).Interface()
		case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			var n uint64
			n, err = strconv.ParseUint(text, 10, t.Bits())
			v = reflect.ValueOf(n).Convert(t).Interface()
		case reflect.Float32, reflect.Float64:
			var f float64
			f, err = strconv.ParseFloat(text, t.Bits())
			v = reflect.ValueOf(f).Convert(t).Interface()
		default:
			v, err = textual(name, text)
		}
		if err != nil {
			return nil, fmt.Errorf("%q is no value of type %s", oneLine(text), name)
		}
		return v, nil
	}
	return nil, fmt.Errorf("there is no type %q; types: %s", oneLine(name), strings.Join(allTypes(), ", "))
}

// textual reads the types that are no numbers.
func textual(name, text string) (any, error) {
	switch name {
	case "boolean":
		return strconv.ParseBool(text)
	case "symbol":
		return amqp.Symbol(text), nil
	case "binary":
		return base64.StdEncoding.DecodeString(text)
	case "timestamp":
		return time.Parse(time.RFC3339Nano, text)
	case "uuid":
		var id amqp.UUID
		digits, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
		if err != nil || len(digits) != len(id) {
			return nil, fmt.Errorf("%q is no UUID", text)
		}
		copy(id[:], digits)
		return id, nil
	}
	return text, nil
}

// propertyPairs reads NAME=VALUE and NAME=TYPE:VALUE.
func propertyPairs(pairs []string) (map[string]any, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	m := make(map[string]any, len(pairs))
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usage("--property: found %q; allowed: NAME=VALUE or NAME=TYPE:VALUE", oneLine(pair))
		}
		m[name] = text
		kind, value, typed := strings.Cut(text, ":")
		if !typed || !slices.Contains(slices.Collect(maps.Values(typeNames)), kind) {
			continue
		}
		v, err := scalar(kind, value)
		if err != nil {
			return nil, usage("--property %s: %v", oneLine(name), err)
		}
		m[name] = v
	}
	return m, nil
}
