package arm

import (
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
)

const (
	authorization       = "Microsoft.Authorization"
	roleDefinitionsType = authorization + "/roleDefinitions"
)

func init() {
	register(kind{
		name: roleDefinitionsType, list: (*Manager).listRoleDefinitions,
		methods: map[string]operation{
			http.MethodGet: (*Manager).getRoleDefinition, http.MethodPut: (*Manager).putRoleDefinition,
			http.MethodDelete: (*Manager).deleteRoleDefinition,
		},
	})
}

// Types of roles.
const (
	builtInRole = "BuiltInRole"
	customRole  = "CustomRole"
)

// role is what a role definition says, and the document of a custom one.
type role struct {
	ID               string       `json:"id,omitempty"`
	Name             string       `json:"roleName"`
	Type             string       `json:"type"`
	Description      string       `json:"description"`
	AssignableScopes []string     `json:"assignableScopes"`
	Permissions      []permission `json:"permissions"`
}

func (r builtIn) role() role {
	return role{Name: r.name, Type: builtInRole, Description: r.description, AssignableScopes: []string{"/"},
		Permissions: []permission{r.permission}}
}

// guidOf returns the last part of an id in lower case, which names a role or an assignment of one.
func guidOf(id string) string { return strings.ToLower(id[strings.LastIndexByte(id, '/')+1:]) }

func isGUID(s string) bool { return len(s) == len(DefaultSubscription) && uuid.Validate(s) == nil }

// roleScope returns what the id of a role definition begins with, wherever it is asked for: the subscription.
func roleScope(id ID) ID {
	if id.Subscription == "" {
		return ID{}
	}
	return subscriptionID(id.Subscription)
}

// shownRole returns a role definition as answers show it. Clients go through its lists without looking.
func shownRole(scope ID, guid string, r role) object {
	permissions := []object{}
	for _, p := range r.Permissions {
		permissions = append(permissions, object{
			"actions": listOf(p.Actions), "notActions": listOf(p.NotActions), "dataActions": listOf(p.DataActions),
			"notDataActions": listOf(p.NotDataActions),
		})
	}
	prefix := ""
	if scope.Subscription != "" {
		prefix = scope.String()
	}
	return object{
		"id":   prefix + "/" + providers + "/" + roleDefinitionsType + "/" + guid,
		"name": guid, "type": roleDefinitionsType,
		"properties": object{
			"roleName": r.Name, "type": r.Type, "description": r.Description,
			"assignableScopes": listOf(r.AssignableScopes), "permissions": permissions,
		},
	}
}

func listOf(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}

// customRoles returns the custom roles of a subscription by GUID, without one those of all.
func (m *Manager) customRoles(subscription string) map[string]role {
	all := make(map[string]role)
	for _, key := range m.keysOf(roleDefinitionsType, ID{}) {
		id := mustParse(key)
		if subscription != "" && !strings.EqualFold(id.Subscription, subscription) {
			continue
		}
		if r, ok := document[role](m, id); ok {
			all[guidOf(key)] = r
		}
	}
	return all
}

func (m *Manager) listRoleDefinitions(c *call) (answer, error) {
	wanted, err := parseFilter(c.query.Get("$filter"), "roleName", "type", "atScopeAndBelow", "atScope")
	if err != nil {
		return answer{}, err
	}
	scope := roleScope(c.id)
	all := []object{}
	add := func(guid string, r role) {
		name, byName := wanted["rolename"]
		kind, byType := wanted["type"]
		if (!byName || strings.EqualFold(name, r.Name)) && (!byType || strings.EqualFold(kind, r.Type)) {
			all = append(all, shownRole(scope, guid, r))
		}
	}
	for _, r := range builtInRoles {
		add(r.id, r.role())
	}
	custom := m.customRoles(c.id.Subscription)
	for _, guid := range sortedKeys(custom) {
		add(guid, custom[guid])
	}
	return answer{status: http.StatusOK, body: object{"value": all}}, nil // clients read no second page
}

func (m *Manager) getRoleDefinition(c *call) (answer, error) {
	r, ok := m.roleOf(c.id)
	if !ok {
		return answer{}, notFound("RoleDefinitionDoesNotExist", "The specified role definition with ID '%.100s' does "+
			"not exist.", strings.ReplaceAll(c.id.Name(), "-", ""))
	}
	return answer{status: http.StatusOK, body: shownRole(roleScope(c.id), guidOf(c.id.Name()), r)}, nil
}

// knownRole returns a built-in or a custom role.
func (m *Manager) knownRole(id ID) (role, bool) {
	guid := guidOf(id.Name())
	i := slices.IndexFunc(builtInRoles, func(r builtIn) bool { return r.id == guid })
	if i >= 0 {
		return builtInRoles[i].role(), true
	}
	r, ok := m.customRoles(id.Subscription)[guid]
	return r, ok
}

// roleOf returns the role of a GUID. Templates also assign roles of other services: Minibus knows that such a role is
// there once it is assigned, and not what it is called.
func (m *Manager) roleOf(id ID) (role, bool) {
	if r, ok := m.knownRole(id); ok {
		return r, true
	}
	if guid := guidOf(id.Name()); m.grants.uses(guid) {
		return role{Name: guid, Type: builtInRole, Description: "A role of another service, which Minibus does not " +
			"know.",
			AssignableScopes: []string{"/"}, Permissions: []permission{{}}}, true
	}
	return role{}, false
}

// putRoleDefinition makes or changes a custom role.
func (m *Manager) putRoleDefinition(c *call) (answer, error) {
	guid := guidOf(c.id.Name())
	var body struct {
		Properties role `json:"properties"`
	}
	if err := c.readSmall(&body); err != nil {
		return answer{}, err
	}
	r := body.Properties
	id := provided(roleScope(c.id), authorization, "roleDefinitions", guid)
	custom := m.customRoles("")
	_, was := custom[guid]
	switch {
	case !isGUID(guid):
		return answer{}, badRequest("InvalidRoleDefinitionId", "The role definition ID '%.100s' is not valid. The "+
			"role definition ID must be a GUID.", c.id.Name())
	case c.id.Subscription == "":
		return answer{}, badRequest("InvalidScope", "A custom role belongs to a subscription. Name one in the path.")
	case slices.ContainsFunc(builtInRoles, func(r builtIn) bool { return r.id == guid }):
		return answer{}, badRequest("RoleDefinitionUpdateNotPermitted", "The built-in role '%s' can't be "+
			"changed.", guid)
	case r.Type != "" && !strings.EqualFold(r.Type, customRole):
		return answer{}, badRequest("InvalidRoleDefinitionType", "The type of a role that a client makes is %s, and "+
			"not '%.40s'.", customRole, r.Type)
	case r.Name == "" || len(r.Name) > 512:
		return answer{}, badRequest("InvalidRoleDefinitionName", "A role definition needs a roleName of at most 512 "+
			"characters.")
	case len(r.AssignableScopes) == 0:
		return answer{}, badRequest("MissingAssignableScopes", "A role definition needs assignableScopes.")
	case len(r.Permissions) == 0:
		return answer{}, badRequest("MissingPermissions", "A role definition needs permissions.")
	}
	for other, known := range custom {
		if other != guid && strings.EqualFold(known.Name, r.Name) {
			return answer{}, conflict("RoleDefinitionWithSameNameExists", "A custom role with the name '%s' already "+
				"exists. Use a different name.", known.Name)
		}
	}
	r.ID, r.Type = id.String(), customRole
	if err := m.keep(id, r); err != nil {
		return answer{}, err
	}
	if !was && claimsOf(r.Permissions) == 0 {
		m.logInert(id, "its actions count for nothing here, only data actions of Service Bus do")
	}
	return answer{status: http.StatusCreated, body: shownRole(roleScope(c.id), guid, r)}, nil
}

func (m *Manager) deleteRoleDefinition(c *call) (answer, error) {
	guid := guidOf(c.id.Name())
	r, ok := m.customRoles(c.id.Subscription)[guid]
	switch {
	case slices.ContainsFunc(builtInRoles, func(r builtIn) bool { return r.id == guid }):
		return answer{}, badRequest("RoleDefinitionDeleteNotPermitted", "The built-in role '%s' can't be "+
			"deleted.", guid)
	case !ok:
		return answer{status: http.StatusNoContent}, nil
	case m.grants.uses(guid):
		return answer{}, badRequest("RoleDefinitionHasAssignments", "There are existing role assignments referencing "+
			"role '%s'. Delete them first.", guid)
	}
	if err := m.forget(mustParse(r.ID).key()); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: shownRole(roleScope(c.id), guid, r)}, nil
}
