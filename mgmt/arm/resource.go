package arm

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"minibus/emulator"
	"minibus/internal/sas"
)

// Resource describes a namespace as Resource Manager has it.
type Resource struct {
	ID           string
	Subscription string
	Group        string
	Location     string
	SKU          string
	Capacity     int // messaging units, of Premium
	Tags         map[string]string
	KeysAreOff   bool // only tokens of identities count
	Identities   []ResourceIdentity
	Roles        []RoleAssignment
	Inert        []InertResource // that belong to it or to its entities, and have no effect
}

// ResourceIdentity is an identity that a namespace has, or that has a role in it.
type ResourceIdentity struct {
	ID        string // of the user-assigned one; empty: the namespace's own
	Principal string // object id
	Client    string
	Assigned  bool // the namespace has it; else it has a role only
}

// RoleAssignment is one that counts for a namespace or for something in it.
type RoleAssignment struct {
	ID            string
	Role          string // the name, of a role of another service the GUID
	RoleID        string // the GUID
	Rights        sas.Claims
	Principal     string
	PrincipalType string
	Identity      string // id of the resource that is or has the identity; empty: unknown
	Scope         string
	Above         bool   // assigned above the namespace
	Entity        string // path of the entity where it is assigned; empty: the whole namespace
	Description   string
}

// Name returns the assignment's name, a GUID.
func (r RoleAssignment) Name() string { return guidOf(r.ID) }

// InertResource is a resource without an effect.
type InertResource struct{ ID, Type string }

// Resource returns what is known of a namespace.
func (m *Manager) Resource(ns *emulator.Namespace) Resource {
	s := m.documentOf(ns)
	id := mustParse(s.ID)
	off, _ := s.Properties["disableLocalAuth"].(bool)
	r := Resource{
		ID: s.ID, Subscription: id.Subscription, Group: id.Group, Location: s.Location, SKU: s.SKU.Name,
		Capacity: s.SKU.Capacity, Tags: maps.Clone(s.Tags), KeysAreOff: off,
	}
	known := make(map[string]bool)
	add := func(resource string, assigned bool) {
		i := ResourceIdentity{resource, principalOf(resource), clientOf(resource), assigned}
		if !known[i.Principal] {
			known[i.Principal] = true
			if resource == s.ID {
				i.ID = ""
			}
			r.Identities = append(r.Identities, i)
		}
	}
	if s.Identity != nil {
		if s.Identity.PrincipalID != "" {
			add(s.ID, true)
		}
		for _, one := range sortedKeys(s.Identity.UserAssigned) {
			add(one, true)
		}
	}
	for _, key := range m.keysOf(roleAssignmentsType, ID{}) {
		scope := strings.ToLower(mustParse(key).Scope)
		a, ok := document[assignment](m, mustParse(key))
		if !ok || !within(scope, id.key()) && !within(id.key(), scope) {
			continue
		}
		shown := m.roleAssignment(a, id)
		r.Roles = append(r.Roles, shown)
		if u, ok := document[userAssigned](m, mustOrZero(shown.Identity)); ok && shown.Identity != "" {
			add(u.ID, false)
		}
	}
	slices.SortStableFunc(r.Roles, func(a, b RoleAssignment) int {
		return cmp.Or(strings.Count(a.Scope, "/")-strings.Count(b.Scope, "/"), cmp.Compare(a.Scope, b.Scope))
	})
	r.Inert = m.inertOn(id)
	return r
}

// roleAssignment returns an assignment as one of a namespace.
func (m *Manager) roleAssignment(a assignment, namespace ID) RoleAssignment {
	id := mustParse(a.ID)
	g := a.grant()
	r := RoleAssignment{
		ID: a.ID, Role: g.role, RoleID: g.role, Rights: m.grants.gives(g.role), Principal: a.Principal,
		PrincipalType: a.PrincipalType, Scope: cmp.Or(id.Scope, "/"), Description: a.Description,
		Above: !within(g.scope, namespace.key()),
	}
	if known, ok := m.roleOf(mustOrZero(a.RoleID)); ok {
		r.Role = known.Name
	}
	if !r.Above {
		r.Entity = mustParse(id.Scope).path()
	}
	m.mu.Lock()
	key, ok := m.identities[g.principal]
	m.mu.Unlock()
	if !ok {
		return r
	}
	r.Identity = mustParse(key).String()
	if o, ok := document[struct {
		ID string `json:"id"`
	}](m, mustParse(key)); ok {
		r.Identity = o.ID // in the letters of its maker
	}
	return r
}

// inertOn returns what is stored without an effect on a namespace or its entities.
func (m *Manager) inertOn(namespace ID) (all []InertResource) {
	for _, key := range m.keys(namespace) {
		id := mustParse(key)
		if id.Provider == serviceBus || strings.EqualFold(id.Type(), roleAssignmentsType) {
			continue
		}
		if o, ok := document[object](m, id); ok {
			if shown, _ := o["id"].(string); shown != "" {
				all = append(all, InertResource{shown, id.Type()})
			}
		}
	}
	return all
}
