package cli

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/go-amqp"
)

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
