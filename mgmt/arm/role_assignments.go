package arm

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"minibus/internal/entra"
)

const roleAssignmentsType = authorization + "/roleAssignments"

func init() {
	register(kind{
		name: roleAssignmentsType, list: (*Manager).listRoleAssignments,
		methods: map[string]operation{
			http.MethodGet: (*Manager).getRoleAssignment, http.MethodPut: (*Manager).putRoleAssignment,
			http.MethodDelete: (*Manager).deleteRoleAssignment,
		},
	})
}

// shown returns a role assignment as answers show it. Terraform compares the scope and the role with its own texts.
func (a assignment) shown() object {
	id := mustParse(a.ID)
	scope := id.Scope
	if scope == "" {
		scope = "/"
	}
	properties := object{
		"roleDefinitionId": a.RoleID, "principalId": a.Principal, "principalType": a.PrincipalType, "scope": scope,
		"condition": nil, "conditionVersion": nil, "description": nil, "delegatedManagedIdentityResourceId": nil,
		"createdOn": instant(a.Created), "updatedOn": instant(a.Updated), "createdBy": a.CreatedBy,
		"updatedBy": a.UpdatedBy,
	}
	if a.Description != "" {
		properties["description"] = a.Description
	}
	if a.Delegated != "" {
		properties["delegatedManagedIdentityResourceId"] = a.Delegated
	}
	return object{"id": a.ID, "name": id.Name(), "type": roleAssignmentsType, "properties": properties}
}

// listRoleAssignments answers with the assignments at a scope, above it and, without atScope(), below it. assignedTo()
// would also ask for the groups of a principal: nobody knows them here.
func (m *Manager) listRoleAssignments(c *call) (answer, error) {
	wanted, err := parseFilter(c.query.Get("$filter"), "atScope", "principalId", "assignedTo", "roleDefinitionId")
	if err != nil {
		return answer{}, err
	}
	scope := strings.ToLower(c.id.Scope)
	_, above := wanted["atscope"]
	fits := func(name, value string) bool {
		text, asked := wanted[name]
		return !asked || strings.EqualFold(text, value)
	}
	var all []assignment
	for _, key := range m.keysOf(roleAssignmentsType, ID{}) {
		id := mustParse(key)
		assigned := strings.ToLower(id.Scope)
		if !within(scope, assigned) && (above || !within(assigned, scope)) {
			continue
		}
		a, ok := document[assignment](m, id)
		if ok && fits("principalid", a.Principal) && fits("assignedto", a.Principal) &&
			(wanted["roledefinitionid"] == "" || guidOf(wanted["roledefinitionid"]) == guidOf(a.RoleID)) {
			all = append(all, a)
		}
	}
	return list(c, len(all), func(i int) any { return all[i].shown() })
}

func (m *Manager) getRoleAssignment(c *call) (answer, error) {
	a, ok := document[assignment](m, c.id)
	if !ok {
		return answer{}, notFound("RoleAssignmentNotFound", "The role assignment '%.100s' is not found.", c.id.Name())
	}
	return answer{status: http.StatusOK, body: a.shown()}, nil
}

// The kinds of principals.
var principalTypes = []string{"User", "Group", "ServicePrincipal", "ForeignGroup", "Device"}

// putRoleAssignment gives a principal a role. It counts at once.
func (m *Manager) putRoleAssignment(c *call) (answer, error) {
	if err := m.checkExists(c.id.Parent()); err != nil {
		return answer{}, err
	}
	var body struct {
		Properties struct {
			RoleID        string `json:"roleDefinitionId"`
			Principal     string `json:"principalId"`
			PrincipalType string `json:"principalType"`
			Description   string `json:"description"`
			Condition     string `json:"condition"`
			Delegated     string `json:"delegatedManagedIdentityResourceId"`
		} `json:"properties"`
	}
	if err := c.readSmall(&body); err != nil {
		return answer{}, err
	}
	p := body.Properties
	role := mustOrZero(p.RoleID)
	kind := slices.IndexFunc(principalTypes, func(k string) bool { return strings.EqualFold(k, p.PrincipalType) })
	switch {
	case !isGUID(c.id.Name()):
		return answer{}, badRequest("InvalidRoleAssignmentId", "The role assignment ID '%.100s' is not valid. The "+
			"role assignment ID must be a GUID.", c.id.Name())
	case p.Principal != "" && !isGUID(p.Principal):
		return answer{}, badRequest("InvalidPrincipalId", "The Principal ID '%.100s' is not valid. Principal ID must "+
			"be a GUID. That of the application with the client id '%.100s' is %s.", p.Principal, p.Principal,
			entra.ObjectOf(p.Principal))
	case p.Principal == "":
		return answer{}, badRequest("InvalidPrincipalId", "The Principal ID '' is not valid. Principal ID must be "+
			"a GUID.")
	case !strings.EqualFold(role.Type(), roleDefinitionsType) || !isGUID(role.Name()):
		return answer{}, badRequest("InvalidRoleDefinitionId", "The role definition ID '%.200s' is not valid. It "+
			"ends with /providers/Microsoft.Authorization/roleDefinitions/ and a GUID.", p.RoleID)
	case p.Condition != "":
		return answer{}, badRequest("ConditionsNotSupported", "Minibus evaluates no conditions of role assignments, "+
			"and would give more than the condition does. Leave condition and conditionVersion out.")
	case p.PrincipalType == "":
		p.PrincipalType = "ServicePrincipal"
	case kind < 0:
		return answer{}, badRequest("InvalidPrincipalType", "The principal type '%.60s' is not valid. It is one of %s.",
			p.PrincipalType, strings.Join(principalTypes, ", "))
	default:
		p.PrincipalType = principalTypes[kind]
	}
	a := assignment{
		ID: c.id.String(), RoleID: p.RoleID, Principal: p.Principal, PrincipalType: p.PrincipalType,
		Description: p.Description, Delegated: p.Delegated, CreatedBy: c.principal, UpdatedBy: c.principal,
	}
	return m.assign(c, a)
}

// mustOrZero reads an id that a client gave; one that can't be read has no type.
func mustOrZero(text string) ID {
	id, err := ParseID(text)
	if err != nil {
		return ID{}
	}
	return id
}

// assign stores a role assignment. Names are unique among all scopes, and only the description can change.
func (m *Manager) assign(c *call, a assignment) (answer, error) {
	g := a.grant()
	if known, ok := m.grants.find(guidOf(g.key)); ok && known != g {
		return answer{}, badRequest("RoleAssignmentUpdateNotPermitted",
			"Tenant ID, application ID, principal ID, and scope are not allowed to be updated.")
	}
	if other, ok := m.grants.same(g); ok && other.key != g.key {
		return answer{}, conflict("RoleAssignmentExists", "The role assignment already exists. The ID of the "+
			"existing role assignment is %s.", strings.ReplaceAll(guidOf(other.key), "-", ""))
	}
	status := http.StatusOK
	old, was := document[assignment](m, c.id)
	a.Updated = time.Now().UnixMilli()
	a.Created = a.Updated
	if was {
		a.ID, a.Created, a.CreatedBy = old.ID, old.Created, old.CreatedBy
	} else {
		status = http.StatusCreated
	}
	if err := m.keep(c.id, a); err != nil {
		return answer{}, err
	}
	switch _, known := m.knownRole(mustOrZero(a.RoleID)); {
	case was || m.grants.gives(g.role) != 0:
	case known:
		m.logInert(c.id, "the role gives no right on messages")
	default:
		m.log.Warn("a role assignment counts for nothing: Minibus does not know the role, is its GUID right?",
			"role", g.role, "resource", c.id.String())
	}
	return answer{status: status, body: a.shown()}, nil
}

func (m *Manager) deleteRoleAssignment(c *call) (answer, error) {
	a, ok := document[assignment](m, c.id)
	if !ok {
		return answer{status: http.StatusNoContent}, nil
	}
	if err := m.forget(c.id.key()); err != nil {
		return answer{}, err
	}
	return answer{status: http.StatusOK, body: a.shown()}, nil
}
