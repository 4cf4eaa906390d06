package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	sdk "github.com/Azure/go-amqp"

	"minibus/internal/amqp"
	"minibus/internal/amqp/messagejson"
)

// The SDK has Go types of its own for AMQP's. The form in JSON is that of package messagejson.

// arrayTypes are the types of an array's values in the SDK, by the names of AMQP's.
var arrayTypes = map[string]reflect.Type{
	"ushort": reflect.TypeFor[uint16](), "uint": reflect.TypeFor[uint32](), "ulong": reflect.TypeFor[uint64](),
	"byte": reflect.TypeFor[int8](), "short": reflect.TypeFor[int16](), "int": reflect.TypeFor[int32](),
	"long":  reflect.TypeFor[int64](),
	"float": reflect.TypeFor[float32](), "double": reflect.TypeFor[float64](), "boolean": reflect.TypeFor[bool](),
	"string": reflect.TypeFor[string](), "symbol": reflect.TypeFor[sdk.Symbol](), "binary": reflect.TypeFor[[]byte](),
	"timestamp": reflect.TypeFor[time.Time](), "uuid": reflect.TypeFor[sdk.UUID](),
}

// toJSON returns what stands for a value of the SDK in JSON.
func toJSON(v any) any {
	own, ok := fromSDK(v)
	if !ok {
		return map[string]any{"unknown": fmt.Sprint(v)}
	}
	return messagejson.ToJSON(own)
}

// fromJSON is the reverse of toJSON. Numbers are json.Number.
func fromJSON(v any) (any, error) {
	own, err := messagejson.FromJSON(v)
	if err != nil {
		return nil, err
	}
	return toSDK(own)
}

// fromSDK returns a value of the SDK as that of package amqp.
func fromSDK(v any) (any, bool) {
	switch v := v.(type) {
	case nil, bool, string, []byte, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64:
		return v, true
	case sdk.Symbol:
		return amqp.Symbol(v), true
	case sdk.UUID:
		return amqp.UUID(v), true
	case time.Time:
		return amqp.TimestampOf(v), true
	case []any:
		items, ok := listFromSDK(reflect.ValueOf(v))
		return amqp.List(items), ok
	}
	return compoundFromSDK(reflect.ValueOf(v))
}

// compoundFromSDK handles maps, arrays and described values.
func compoundFromSDK(v reflect.Value) (any, bool) {
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Map:
		return mapFromSDK(v)
	case reflect.Slice:
		for name, t := range arrayTypes {
			if t == v.Type().Elem() {
				code, _ := messagejson.CodeOf(name)
				items, ok := listFromSDK(v)
				return amqp.Array{Code: code, Items: items}, ok
			}
		}
	case reflect.Struct:
		if d, w := v.FieldByName("Descriptor"), v.FieldByName("Value"); d.IsValid() && w.IsValid() {
			descriptor, ok := fromSDK(d.Interface())
			value, also := fromSDK(w.Interface())
			return amqp.Described{Descriptor: descriptor, Value: value}, ok && also
		}
	}
	return nil, false
}

func listFromSDK(v reflect.Value) (items []any, ok bool) {
	items = make([]any, v.Len())
	for i := range items {
		if items[i], ok = fromSDK(v.Index(i).Interface()); !ok {
			return nil, false
		}
	}
	return items, true
}

// mapFromSDK sorts the entries, which have lost their order.
func mapFromSDK(v reflect.Value) (m amqp.Map, all bool) {
	m = amqp.Map{}
	for _, key := range v.MapKeys() {
		k, ok := fromSDK(key.Interface())
		value, also := fromSDK(v.MapIndex(key).Interface())
		if !ok || !also {
			return nil, false
		}
		m = append(m, amqp.Pair{Key: k, Value: value})
	}
	slices.SortFunc(m, func(a, b amqp.Pair) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return m, true
}

// toSDK returns a value of package amqp as that of the SDK.
func toSDK(v any) (any, error) {
	switch v := v.(type) {
	case amqp.Symbol:
		return sdk.Symbol(v), nil
	case amqp.UUID:
		return sdk.UUID(v), nil
	case amqp.Timestamp:
		return v.Time(), nil
	case amqp.List:
		items := make([]any, len(v))
		for i := range v {
			var err error
			if items[i], err = toSDK(v[i]); err != nil {
				return nil, err
			}
		}
		return items, nil
	case amqp.Map:
		return mapToSDK(v)
	case amqp.Array:
		return arrayToSDK(v)
	case amqp.Described, amqp.Char, amqp.Decimal32, amqp.Decimal64, amqp.Decimal128:
		return nil, fmt.Errorf("the value %s can't be sent: Microsoft's SDK for Go has no such type",
			brief(messagejson.ToJSON(v)))
	}
	return v, nil
}

func mapToSDK(v amqp.Map) (any, error) {
	m := make(map[any]any, len(v))
	for _, p := range v {
		key, err := toSDK(p.Key)
		if err != nil {
			return nil, err
		}
		if key != nil && !reflect.TypeOf(key).Comparable() {
			return nil, fmt.Errorf("found %s as the key of a map", brief(messagejson.ToJSON(p.Key)))
		}
		if m[key], err = toSDK(p.Value); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// arrayToSDK makes a slice of Go's type for the array's.
func arrayToSDK(v amqp.Array) (any, error) {
	for name, t := range arrayTypes {
		if code, _ := messagejson.CodeOf(name); code != v.Code {
			continue
		}
		slice := reflect.MakeSlice(reflect.SliceOf(t), 0, len(v.Items))
		for _, item := range v.Items {
			own, err := toSDK(item)
			if err != nil || reflect.TypeOf(own) != t {
				return nil, fmt.Errorf("found %s in an array of type %s", brief(messagejson.ToJSON(item)), name)
			}
			slice = reflect.Append(slice, reflect.ValueOf(own))
		}
		return slice.Interface(), nil
	}
	return nil, errors.New("an array of this type can't be sent with Microsoft's SDK for Go")
}

// brief shows a piece of JSON.
func brief(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "a value"
	}
	return oneLine(string(bytes.TrimSpace(text[:min(len(text), 60)])))
}
