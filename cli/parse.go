package cli

import (
	"strings"

	"minibus/internal/amqp/messagejson"
)

// propertyPairs reads NAME=VALUE and NAME=TYPE:VALUE, the values of a flag. The values that it returns are as the SDK has them.
func propertyPairs(flag string, pairs []string) (map[string]any, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	m := make(map[string]any, len(pairs))
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, Usage("%s: found %q; allowed: NAME=VALUE or NAME=TYPE:VALUE", flag, oneLine(pair))
		}
		m[name] = text
		kind, value, typed := strings.Cut(text, ":")
		if !typed || !messagejson.HasScalar(kind) {
			continue
		}
		v, err := messagejson.Scalar(kind, value)
		if err == nil {
			m[name], err = toSDK(v)
		}
		if err != nil {
			return nil, Usage("%s %s: %v", flag, oneLine(name), err)
		}
	}
	return m, nil
}
