package config

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"minibus/emulator"
)

// writtenSQL is an expression in a file.
type writtenSQL struct {
	SQLExpression string         `json:"SqlExpression"`
	Parameters    map[string]any `json:",omitempty"`
}

// RuleProperties returns the filter and the action of a rule as a file has them.
func RuleProperties(r emulator.RuleOptions) Properties {
	p := Properties{{"FilterType", "Sql", false}}
	switch {
	case r.Correlation != nil:
		p[0].Value = "Correlation"
		p = append(p, Property{"CorrelationFilter", writtenCorrelation(r.Correlation), false})
	case r.IsTrue():
		p[0].Value = "True"
	case r.IsFalse():
		p[0].Value = "False"
	default:
		p = append(p, Property{"SqlFilter", writtenSQL{r.SQL, writtenValues(r.Parameters)}, false})
	}
	if r.Action != "" {
		p = append(p, Property{"Action", writtenSQL{r.Action, writtenValues(r.ActionParameters)}, false})
	}
	return p
}

// writtenCorrelation returns the object of a correlation filter.
func writtenCorrelation(f *emulator.CorrelationFilter) map[string]any {
	m := map[string]any{}
	for _, field := range correlationFields(f) {
		if text := *field.value; text != nil {
			m[field.names[0]] = *text
		}
	}
	if len(f.Properties) > 0 {
		m["Properties"] = writtenValues(f.Properties)
	}
	return m
}

// writtenTyped is a value with its type.
type writtenTyped struct {
	Type  string
	Value any
}

// writtenValues returns values as plain JSON if the reader of the file gives that the same type, and with their type if not.
func writtenValues(values emulator.Values) map[string]any {
	m := make(map[string]any, len(values))
	for name, x := range values {
		typeName, text := emulator.TypedText(x)
		switch {
		case typeName == "string", typeName == "boolean":
			m[name] = x
			if typeName == "string" {
				m[name] = text
			}
		case typeName == "long":
			m[name] = json.RawMessage(text)
		case typeName == "double" && isFinite(x):
			m[name] = json.RawMessage(fractional(x.(float64)))
		case strings.Trim(text, "-0123456789") == "":
			m[name] = writtenTyped{typeName, json.RawMessage(text)}
		default:
			m[name] = writtenTyped{typeName, text}
		}
	}
	return m
}

func isFinite(x any) bool {
	f, ok := x.(float64)
	return ok && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// fractional returns the text of a double, with a point or an exponent, without which it would be read as a long.
func fractional(v float64) string {
	s := strings.Replace(strconv.FormatFloat(v, 'G', -1, 64), "E+", "E", 1)
	if !strings.ContainsAny(s, ".E") {
		s += ".0"
	}
	return s
}
