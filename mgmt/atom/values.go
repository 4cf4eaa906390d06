package atom

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"time"

	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/dotnet"
)

// Parameter is a named value: a parameter of an SQL text, whose name begins with @, or an application property of a
// correlation filter.
type Parameter struct {
	Key string
	// Value is a string, bool, integer, float32, float64, amqp.Decimal128, time.Time, UnzonedTime or TimeSpan.
	Value any
}

func (p *ruleParser) parameters(list *Element) []Parameter {
	if list == nil {
		return nil
	}
	var all []Parameter
	seen := map[string]bool{}
	for _, e := range list.Children {
		if e.Name != "KeyValueOfstringanyType" {
			continue
		}
		key := e.Child("Key").Text()
		if key == "" {
			p.refuse("A parameter has no name.")
		}
		if seen[key] {
			p.refuse("There is more than one value for '%s'.", clip(key))
		}
		seen[key] = true
		all = append(all, Parameter{Key: key, Value: p.value(key, e.Child("Value"))})
	}
	return all
}

// value reads a typed value. Without a type it is a string.
func (p *ruleParser) value(key string, e *Element) any {
	if e == nil || e.isNil() {
		p.refuse("The parameter '%s' has no value.", clip(key))
		return nil
	}
	v, err := typedValue(e.typeName(), e.Text())
	if err != nil {
		p.refuse("The value '%s' of '%s' is not of the type %s.", clip(e.Text()), clip(key), clip(e.typeName()))
	}
	return v
}

// typedValue reads a value as Config.json's are read, with the types of clients' documents.
func typedValue(typeName, text string) (any, error) {
	switch typeName {
	case "", "string":
		return text, nil
	case "guid": // no type of the documents
		return text, strconv.ErrSyntax
	}
	t, known := emulator.ValueTypeOf(typeName)
	if !known {
		return text, strconv.ErrSyntax
	}
	v, ok := t.Parse(text)
	if !ok && typeName == "int" { // Go's client writes all integers as int, even longer ones
		t, _ = emulator.ValueTypeOf("long")
		v, ok = t.Parse(text)
	}
	if !ok {
		return text, strconv.ErrSyntax
	}
	if at, zoned, isTime := emulator.TimeOf(v); isTime && zoned {
		return at, nil
	} else if isTime {
		return UnzonedTime(at), nil
	}
	if ticks, isSpan := emulator.SpanOf(v); isSpan {
		return TimeSpan(ticks), nil
	}
	return v, nil
}

// parameters writes a list of typed values. The prefix must have four characters and be declared on each value, and
// an empty list must have no attributes: JavaScript's client relies on all three.
func (w *writer) parameters(name string, list []Parameter) {
	if len(list) == 0 {
		w.empty(name)
		return
	}
	w.open(name)
	for _, p := range list {
		w.open("KeyValueOfstringanyType")
		w.text("Key", p.Key)
		typeName, ns, text := textValue(p.Value)
		w.text("Value", text, "i:type", "d6p1:"+typeName, "xmlns:d6p1", ns)
		w.close("KeyValueOfstringanyType")
	}
	w.close(name)
}

// TypeAndText returns the name of the value's type and the value's text in documents.
func (p Parameter) TypeAndText() (typeName, text string) {
	typeName, _, text = textValue(p.Value)
	return typeName, text
}

// textValue returns the type name, namespace and text of a value.
func textValue(v any) (typeName, ns, text string) {
	switch v := v.(type) {
	case bool:
		return "boolean", nsSchema, strconv.FormatBool(v)
	case time.Time:
		return "dateTime", nsSchema, v.UTC().Format("2006-01-02T15:04:05.9999999Z")
	case UnzonedTime:
		return "dateTime", nsSchema, time.Time(v).Format(unzonedLayout)
	case TimeSpan:
		return "duration", nsSerialized, v.String()
	case float64:
		return "double", nsSchema, formatDouble(v, 64)
	case float32:
		return "float", nsSchema, formatDouble(float64(v), 32)
	case string:
		return "string", nsSchema, v
	case amqp.Decimal128:
		text, _ := dotnet.DecimalText(v) // rules have only those that have a text
		return "decimal", nsSchema, text
	}
	return cmp.Or(integerTypes[fmt.Sprintf("%T", v)], "string"), nsSchema, fmt.Sprint(v)
}

// integerTypes are the documents' names for Go's types of integers.
var integerTypes = map[string]string{
	"int8": "byte", "int16": "short", "int32": "int", "int64": "long",
	"uint8": "unsignedByte", "uint16": "unsignedShort", "uint32": "unsignedInt", "uint64": "unsignedLong",
}

func formatDouble(f float64, size int) string {
	switch {
	case math.IsInf(f, 1):
		return "INF"
	case math.IsInf(f, -1):
		return "-INF"
	}
	return strconv.FormatFloat(f, 'g', -1, size)
}
