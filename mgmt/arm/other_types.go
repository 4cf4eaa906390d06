package arm

import (
	"net/http"
	"strings"
)

// OtherTypes is the name of the flag that says what happens to resources of types that Minibus does not have.
const OtherTypes = "--arm-other-types"

// otherKind returns what serves a type that Minibus does not have, where it stores any. What belongs to Service Bus or
// to Resource Manager itself would be missed, and is never stored.
func (m *Manager) otherKind(id ID) (kind, bool) {
	if !m.storesOthers || !isOther(id) {
		return kind{}, false
	}
	return inertType{name: id.Type()}.kind(), true
}

func isOther(id ID) bool {
	for _, provider := range []string{"", own, serviceBus} {
		if strings.EqualFold(id.Provider, provider) {
			return false
		}
	}
	return id.Group != "" || id.Subscription != ""
}

// kindOf returns what serves the type of an id, and whether anything does.
func (m *Manager) kindOf(id ID) (kind, bool) {
	if k, known := kinds[strings.ToLower(id.Type())]; known {
		return k, true
	}
	return m.otherKind(id)
}

// unknownType answers requests for a type that Minibus does not have. To a client that only looks, nothing of it is
// there.
func unknownType(c *call) error {
	id := c.id
	status, code := http.StatusNotFound, "InvalidResourceType"
	if c.method == http.MethodPut || c.method == http.MethodPatch || c.method == http.MethodPost {
		status = http.StatusBadRequest
	}
	provider := id.Provider
	if provider == "" {
		provider = own
	}
	if !hasProvider(provider) {
		code = "InvalidResourceNamespace"
	}
	hint := ""
	switch {
	case hasSlash(id):
		hint = " In the name of a queue or topic, write a~b for a/b."
	case isOther(id):
		hint = " To store resources of such types without any effect, start Minibus with " + OtherTypes + " store."
	}
	return errorf(status, code, "Minibus does not have the resource type '%s/%.200s'.%s", provider,
		strings.Join(id.Types, "/"), hint)
}

// hasSlash reports whether an id may have the name of a queue or topic with a slash: what follows it looks like a type.
func hasSlash(id ID) bool {
	if len(id.Types) < 3 {
		return false
	}
	switch strings.ToLower(id.typeOf(2)) {
	case "microsoft.servicebus/namespaces/queues", "microsoft.servicebus/namespaces/topics":
		return true
	}
	return false
}

func hasProvider(name string) bool {
	prefix := strings.ToLower(name) + "/"
	for known := range kinds {
		if strings.HasPrefix(known, prefix) {
			return true
		}
	}
	return false
}
