package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// bodyArgument has the whole body if the names in it are those of other arguments.
const bodyArgument = "body"

// plain is how the document describes a path of an entity: as it stands in a URL. A tool takes it as it is.
var plain = strings.NewReplacer(", with each slash as %2F", "", "%2F", "/")

// aboutNamespace describes the argument that nearly every tool has.
const aboutNamespace = "The namespace; none: that of the connection string"

// schema returns the schema of a tool's arguments.
func (o *operation) schema() map[string]any {
	properties, required := make(map[string]any), []string{}
	for _, p := range o.arguments() {
		s := maps.Clone(p.Schema)
		if s == nil {
			s = make(map[string]any)
		}
		about := plain.Replace(p.About)
		if o.anyNamespace(p) {
			about = aboutNamespace
		} else if p.Required {
			required = append(required, p.Name)
		}
		if about != "" {
			s["description"] = about
		}
		properties[p.Name] = s
	}
	fields, wanted := o.fields()
	switch {
	case fields != nil:
		maps.Copy(properties, fields)
		required = append(required, wanted...)
	case o.body != nil:
		properties[bodyArgument] = o.body
		if o.bodyRequired {
			required = append(required, bodyArgument)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required,
		"additionalProperties": false}
}

// anyNamespace reports whether the parameter is that of the namespace in which something is looked for. A namespace
// that is made, changed or deleted has to be named.
func (o *operation) anyNamespace(p parameter) bool {
	return p.Name == namespaceParameter && (o.reads || !strings.HasSuffix(o.path, "{"+namespaceParameter+"}"))
}

// arguments returns the parameters that a tool has.
func (o *operation) arguments() (list []parameter) {
	for _, p := range o.parameters {
		if p.In == "path" || p.In == "query" {
			list = append(list, p)
		}
	}
	return list
}

// fields returns those of the body, if they can stand beside the parameters: then a tool has them as arguments.
func (o *operation) fields() (fields map[string]any, required []string) {
	fields, _ = o.body["properties"].(map[string]any)
	for _, p := range o.arguments() {
		if _, both := fields[p.Name]; both {
			return nil, nil
		}
	}
	list, _ := o.body["required"].([]any)
	for _, name := range list {
		required = append(required, fmt.Sprint(name))
	}
	return fields, required
}

// request makes the request for a call. prefix is in front of the API's paths and is cut off.
func (o *operation) request(arguments json.RawMessage, prefix string) (path string, body any, err error) {
	given := make(map[string]any)
	if len(arguments) > 0 {
		d := json.NewDecoder(bytes.NewReader(arguments))
		d.UseNumber()
		if err := d.Decode(&given); err != nil {
			return "", nil, fmt.Errorf("the arguments are no JSON object: %w", err)
		}
	}
	path, query := strings.TrimPrefix(o.path, prefix), url.Values{}
	for _, p := range o.arguments() {
		v, ok := given[p.Name]
		delete(given, p.Name)
		switch {
		case p.In == "query" && ok:
			query.Set(p.Name, written(v))
		case p.In == "path" && ok && written(v) != "":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(unescaped(written(v))))
		case o.anyNamespace(p):
			path = strings.ReplaceAll(path, "{"+p.Name+"}", "$this")
		case p.Required:
			return "", nil, fmt.Errorf("%s needs the argument %q", o.name, p.Name)
		}
	}
	if body, err = o.bodyOf(given); err != nil {
		return "", nil, err
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path, body, nil
}

// bodyOf returns the body that the rest of the arguments make; nil: none.
func (o *operation) bodyOf(rest map[string]any) (any, error) {
	known, _ := o.fields()
	whole := known == nil && o.body != nil
	if whole {
		known = map[string]any{bodyArgument: o.body}
	}
	for name := range rest {
		if _, ok := known[name]; !ok {
			return nil, fmt.Errorf("%s has no argument %q; it has: %s", o.name, name,
				strings.Join(slices.Sorted(maps.Keys(o.schema()["properties"].(map[string]any))), ", "))
		}
	}
	switch {
	case whole:
		return rest[bodyArgument], nil
	case len(rest) == 0 && !o.bodyRequired:
		return nil, nil
	}
	return rest, nil
}

// written returns an argument as it stands in a URL.
func written(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case nil:
		return ""
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = written(v[i])
		}
		return strings.Join(parts, ",")
	}
	return fmt.Sprint(v)
}

// unescaped turns the escaped slashes back that the API's document speaks of. No entity has a percent sign in its name.
func unescaped(s string) string {
	return strings.NewReplacer("%2F", "/", "%2f", "/").Replace(s)
}
