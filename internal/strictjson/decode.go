package strictjson

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"minibus/internal/printable"
)

// Decode reads one document, into a pointer. It keeps numbers as they are written where the type is any, and refuses
// names that a struct does not have, in this case.
func Decode(text []byte, into any) error {
	_, err := decode(text, into)
	return err
}

// DecodeText is Decode of a text that a person may have written: an error begins with the line and column, where they
// are known.
func DecodeText(text []byte, into any) error {
	at, err := decode(text, into)
	if err != nil && at > 0 {
		return fmt.Errorf("near %s: %w", place(text, at), err)
	}
	return err
}

// decode returns also where the error is; 0: not known.
func decode(text []byte, into any) (at int64, err error) {
	members, err := names(text)
	if err != nil {
		return 0, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return offset(d, err), Words(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return d.InputOffset(), errors.New("more than one JSON document")
	}
	return 0, exact(members, reflect.TypeOf(into).Elem())
}

// offset is where an error was found.
func offset(d *json.Decoder, err error) int64 {
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return syntax.Offset
	}
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return wrong.Offset
	}
	return d.InputOffset()
}

// place names a place in a text for people.
func place(text []byte, offset int64) string {
	before := text[:min(int(offset), len(text))]
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return fmt.Sprintf("line %d, column %d", bytes.Count(before, []byte("\n"))+1, max(column, 1))
}

// exact wants the names of an object in the case that the struct says.
func exact(members map[string]bool, t reflect.Type) error {
	if t.Kind() != reflect.Struct {
		return nil
	}
	var known []string
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		known = append(known, name)
	}
	for name := range members {
		if slices.Contains(known, name) {
			continue
		}
		for _, k := range known {
			if strings.EqualFold(k, name) {
				return fmt.Errorf("unknown field %q, did you mean %s?", printable.Clip(name, 60), k)
			}
		}
	}
	return nil
}

// Words says an error of encoding/json without Go's names. Others stay as they are.
func Words(err error) error {
	if err == nil {
		return nil
	}
	wrong := (*json.UnmarshalTypeError)(nil)
	if !errors.As(err, &wrong) {
		if text, ok := strings.CutPrefix(err.Error(), "json: "); ok {
			return errors.New(text)
		}
		return err
	}
	at := ""
	if wrong.Field != "" {
		at = wrong.Field + ": "
	}
	found, number := strings.CutPrefix(wrong.Value, "number ")
	switch {
	case number:
	case wrong.Value == "bool":
		found = "true or false"
	case wrong.Value == "number":
		found = "a number"
	case wrong.Value == "string":
		found = "a text"
	default:
		found = "an " + wrong.Value // array, object
	}
	return fmt.Errorf("%sfound %s; allowed: %s", at, printable.Clip(found, 60), kind(wrong.Type))
}

// kind says which JSON a type takes.
func kind(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return "a text"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a text"
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a text in base64"
		}
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return fmt.Sprintf("a number up to %.2g", math.MaxFloat64)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("a whole number from 0 to %d", uint64(math.MaxUint64)>>(64-t.Bits()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("a whole number from %d to %d", int64(math.MinInt64)>>(64-t.Bits()),
			int64(math.MaxInt64)>>(64-t.Bits()))
	}
	return "another kind of value"
}
