package arm

import (
	"net/http"
	"regexp"
	"strings"
)

const (
	managedIdentity        = "Microsoft.ManagedIdentity"
	userAssignedIdentities = managedIdentity + "/userAssignedIdentities"
)

func init() {
	register(kind{
		name: userAssignedIdentities, list: (*Manager).listIdentities,
		methods: map[string]operation{
			http.MethodGet: (*Manager).getIdentity, http.MethodPut: (*Manager).putIdentity,
			http.MethodPatch: (*Manager).patchIdentity, http.MethodDelete: (*Manager).deleteIdentity,
		},
	})
}

// userAssigned is the document of a user-assigned identity.
type userAssigned struct {
	ID        string            `json:"id"`
	Location  string            `json:"location"`
	Tags      map[string]string `json:"tags,omitempty"`
	Isolation string            `json:"isolationScope,omitempty"`
}

// principalOf and clientOf return the object id and the client id of the identity that a resource is or has. They
// follow from its id, so that an application's settings stay right after all was made anew.
func principalOf(id string) string { return madeUp("principal", id) }
func clientOf(id string) string    { return madeUp("client", id) }

func (u userAssigned) shown() object {
	id := mustParse(u.ID)
	properties := object{"tenantId": Tenant, "principalId": principalOf(u.ID), "clientId": clientOf(u.ID)}
	if u.Isolation != "" {
		properties["isolationScope"] = u.Isolation
	}
	return object{
		"id": u.ID, "name": id.Name(), "type": userAssignedIdentities, "location": u.Location, "tags": tagsOf(u.Tags),
		"properties": properties,
	}
}

// identityName is what an identity may be called.
var identityName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_-]{2,127}$`)

func (m *Manager) listIdentities(c *call) (answer, error) {
	var all []userAssigned
	for _, key := range m.keysOf(userAssignedIdentities, c.id.Parent()) {
		if u, ok := document[userAssigned](m, mustParse(key)); ok {
			all = append(all, u)
		}
	}
	return list(c, len(all), func(i int) any { return all[i].shown() })
}

func (m *Manager) getIdentity(c *call) (answer, error) {
	u, ok := document[userAssigned](m, c.id)
	if !ok {
		return answer{}, resourceNotFound(c.id)
	}
	return answer{status: http.StatusOK, body: u.shown()}, nil
}

func (m *Manager) putIdentity(c *call) (answer, error) {
	var body envelope
	if err := c.readSmall(&body); err != nil {
		return answer{}, err
	}
	old, was := document[userAssigned](m, c.id)
	switch {
	case c.id.Group == "":
		return answer{}, badRequest("InvalidResourceType", "An identity belongs to a resource group. Name one in the "+
			"path.")
	case !identityName.MatchString(c.id.Name()):
		return answer{}, badRequest("BadRequest", "The name '%.150s' of the identity is invalid. It has 3 to 128 "+
			"letters, digits, hyphens and underscores, and begins with a letter or a digit.", c.id.Name())
	case body.Location == "":
		return answer{}, badRequest("LocationRequired", "The location property is required for this definition.")
	case was && !sameLocation(old.Location, body.Location):
		return answer{}, conflict("InvalidResourceLocation", "The resource '%s' already exists in location '%s' in "+
			"resource group '%s'. A resource with the same name cannot be created in location '%.60s'. Please select "+
			"a new resource name.", c.id.Name(), old.Location, c.id.Group, body.Location)
	}
	u := userAssigned{ID: c.id.String(), Location: plainLocation(body.Location)}
	status := http.StatusCreated
	if was {
		u.ID, status = old.ID, http.StatusOK
	}
	return m.keepIdentity(c, u, body, status)
}

func (m *Manager) patchIdentity(c *call) (answer, error) {
	var body envelope
	if err := c.readSmall(&body); err != nil {
		return answer{}, err
	}
	u, ok := document[userAssigned](m, c.id)
	if !ok {
		return answer{}, resourceNotFound(c.id)
	}
	return m.keepIdentity(c, u, body, http.StatusOK)
}

func (m *Manager) keepIdentity(c *call, u userAssigned, body envelope, status int) (answer, error) {
	if body.Tags != nil {
		u.Tags = *body.Tags
	}
	if err := checkTags(u.Tags); err != nil {
		return answer{}, err
	}
	if text, given := property(body.Properties, "isolationScope"); given {
		scope, ok := word("None", "Regional")(text)
		if !ok {
			return answer{}, badRequest("BadRequest", "The value %.60s of isolationScope is not valid. It is None or "+
				"Regional.",
				text)
		}
		u.Isolation, _ = scope.(string)
	}
	if err := m.keep(c.id, u); err != nil {
		return answer{}, err
	}
	return answer{status: status, body: u.shown()}, nil
}

// deleteIdentity removes an identity with its federated credentials. Its role assignments stay, as in Azure.
func (m *Manager) deleteIdentity(c *call) (answer, error) {
	if _, ok := document[userAssigned](m, c.id); !ok {
		return answer{status: http.StatusNoContent}, nil
	}
	return answer{status: http.StatusOK}, m.forget(m.keys(c.id)...)
}

// Identity returns the client id and the object id of an identity that has been made here, which a program names by
// either of the two or by its resource id: a user-assigned one, or the one that a resource has itself.
func (m *Manager) Identity(name string) (clientID, principalID string, ok bool) {
	if name = strings.ToLower(name); isGUID(name) {
		m.mu.Lock()
		id, known := m.identities[name]
		m.mu.Unlock()
		return clientOf(id), principalOf(id), known
	}
	id, err := ParseID(name)
	if err != nil {
		return "", "", false
	}
	m.mu.Lock()
	_, ok = m.identities[principalOf(id.key())]
	m.mu.Unlock()
	if !ok {
		return "", "", false
	}
	return clientOf(name), principalOf(name), ok
}
