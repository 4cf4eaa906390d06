package cli

import (
	"strings"

	"minibus/internal/amqp/messagejson"
)

// propertyPairs reads NAME=VALUE and NAME=TYPE:VALUE. The values are as the SDK has them.
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
		if !typed || !messagejson.HasScalar(kind) {
			continue
		}
		v, err := messagejson.Scalar(kind, value)
		if err == nil {
			m[name], err = toSDK(v)
		}
		if err != nil {
			return nil, usage("--property %s: %v", oneLine(name), err)
		}
	}
	return m, nil
}
