package exchange

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/cases"
)

// A sample is a message: {"id", "properties", "app", "body", "header", "annotations", "footer"}. A value in it is an object with
// its type, such as {"int": 7}.
type sample map[string]any

func readSamples(t *testing.T) []sample {
	t.Helper()
	var all []sample
	if err := json.Unmarshal(samplesText, &all); err != nil {
		t.Fatalf("read the samples: %v", err)
	}
	return all
}

// sendable are the samples that an SDK can send.
func sendable(t *testing.T, all []sample, column string) (list []sample) {
	t.Helper()
	known, err := cases.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		c, found := known.Find(s["id"].(string))
		if !found {
			t.Fatalf("the sample %v is no behaviour of cases.txt", s["id"])
		}
		if c.Excluded[column] == "" {
			list = append(list, s)
		}
	}
	return list
}

func writeSamples(t *testing.T, samples []sample) string {
	t.Helper()
	text, err := json.Marshal(samples)
	if err != nil {
		t.Fatalf("encode the samples: %v", err)
	}
	path := filepath.Join(t.TempDir(), "samples.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatalf("write the samples: %v", err)
	}
	return path
}

// parseLines reads what a program printed: a message a line.
func parseLines(t *testing.T, text []byte) (all []sample) {
	t.Helper()
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var s sample
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatalf("read %q: %v", line, err)
		}
		all = append(all, s)
	}
	return all
}

// part is a part of a sample with what a receiver shows where the sample says nothing.
func (s sample) part(name string) any {
	if value, ok := s[name]; ok {
		return value
	}
	switch name {
	case "body":
		return map[string]any{"data": []any{""}}
	case "header":
		return map[string]any{"durable": false, "priority": 4.0}
	}
	return map[string]any{}
}

// without leaves out the keys with a prefix: the annotations of the broker.
func without(part any, prefix string) any {
	values, ok := part.(map[string]any)
	if !ok {
		return part
	}
	values = maps.Clone(values)
	maps.DeleteFunc(values, func(key string, _ any) bool { return strings.HasPrefix(key, prefix) })
	return values
}

// view is a part of a message as a program of an SDK can tell it: some SDKs show two types as one.
func view(from, to string, part any) any {
	switch v := part.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = view(from, to, v[i])
		}
		return list
	case map[string]any:
		if len(v) == 1 {
			for kind, value := range v {
				if seen, ok := seenAs(from, to, kind, value); ok {
					return seen
				}
			}
		}
		values := make(map[string]any, len(v))
		for key, value := range v {
			values[key] = view(from, to, value)
		}
		return values
	}
	return part
}

// seenAs is a value with another type than it was sent with.
func seenAs(from, to, kind string, value any) (map[string]any, bool) {
	if from == "python" && to == "js" && kind == "bool" { // sent with an octet, which the library under the JavaScript SDK takes for a number
		return map[string]any{"int": map[any]float64{true: 1, false: 0}[value]}, true
	}
	switch to + " " + kind {
	case "python string": // bytes, as every text within a message
		if text, ok := value.(string); ok {
			return map[string]any{"binary": base64.StdEncoding.EncodeToString([]byte(text))}, true
		}
	case "python time", "js time": // milliseconds
		return map[string]any{"int": value}, true
	case "js uuid": // its bytes
		id, err := hex.DecodeString(strings.ReplaceAll(value.(string), "-", ""))
		return map[string]any{"binary": base64.StdEncoding.EncodeToString(id)}, err == nil
	}
	return nil, false
}
