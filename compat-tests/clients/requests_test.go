package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// document has the parts of an OpenAPI document that become requests.
type document struct {
	Paths      map[string]map[string]json.RawMessage
	Components struct{ Schemas map[string]schema }
}

// operation is one operation of the document.
type operation struct {
	OperationID string
	Summary     string
	Parameters  []struct {
		Name, In string
		Required bool
		Schema   schema
	}
	RequestBody *struct {
		Content map[string]struct{ Schema schema }
	}
}

// schema is a type of the document.
type schema struct {
	Ref        string `json:"$ref"`
	Type       any
	Enum       []any
	Default    any
	Examples   []any
	Required   []string
	Properties map[string]schema
}

const requestsHead = `# Every operation of the control API, for the REST clients of editors. Postman imports openapi.json instead.
# With --auth sas each request needs a token in Authorization: SharedAccessSignature sr=...&sig=...&se=...&skn=...

@minibus = http://localhost:5300
`

// requestsOf returns a request for each operation.
func requestsOf(text []byte) ([]byte, error) {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	var b bytes.Buffer
	b.WriteString(requestsHead)
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			if method == "parameters" {
				continue
			}
			var o operation
			if err := json.Unmarshal(d.Paths[path][method], &o); err != nil {
				return nil, fmt.Errorf("read %s %s: %w", method, path, err)
			}
			fmt.Fprintf(&b, "\n### %s\n# @name %s\n%s {{minibus}}%s\n", o.Summary, o.OperationID, strings.ToUpper(method), d.target(path, o))
			if o.RequestBody != nil {
				body, err := json.MarshalIndent(d.sample(o.RequestBody.Content["application/json"].Schema, 0), "", "  ")
				if err != nil {
					return nil, fmt.Errorf("make a body of %s: %w", o.OperationID, err)
				}
				fmt.Fprintf(&b, "Content-Type: application/json\n\n%s\n", body)
			}
		}
	}
	return b.Bytes(), nil
}

var parameter = regexp.MustCompile(`\{(\w+)\}`)

// known are values of parameters that exist in a Minibus as it starts.
var known = map[string]string{"{namespace}": "$default", "{entity}": "queue.1", "{subscription}": "subscription.1", "{rule}": "$Default"}

// target returns the path of a request, with the queries that it needs.
func (d *document) target(path string, o operation) string {
	path = parameter.ReplaceAllStringFunc(path, func(name string) string {
		if value, ok := known[name]; ok {
			return value
		}
		return "1"
	})
	separator := "?"
	for _, p := range o.Parameters {
		if p.In == "query" && p.Required {
			path += fmt.Sprintf("%s%s=%v", separator, p.Name, d.sample(p.Schema, 0))
			separator = "&"
		}
	}
	return path
}

// sample returns a value of a type: an example, or else the least that the type needs.
func (d *document) sample(s schema, depth int) any {
	if s.Ref != "" {
		s = d.Components.Schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
	}
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Default != nil:
		return s.Default
	case len(s.Enum) > 0:
		return s.Enum[0]
	}
	kind := fmt.Sprint(s.Type)
	switch {
	case strings.Contains(kind, "object"):
		object := map[string]any{}
		for name, of := range s.Properties {
			if depth < 4 && (slices.Contains(s.Required, name) || len(of.Examples) > 0) {
				object[name] = d.sample(of, depth+1)
			}
		}
		return object
	case strings.Contains(kind, "array"):
		return []any{}
	case strings.Contains(kind, "string"):
		return ""
	case strings.Contains(kind, "integer"), strings.Contains(kind, "number"):
		return 1
	case strings.Contains(kind, "boolean"):
		return false
	}
	return nil
}
