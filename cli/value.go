package cli

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
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
