package arm

import (
	"strings"
	"sync"

	"minibus/emulator"
	"minibus/internal/sas"
)

// The operations on data that a role allows or not. The service has no data action of its own for managing entities:
// only a role whose data actions cover everything below the namespace may do that, as Azure Service Bus Data Owner.
const (
	sendAction    = "Microsoft.ServiceBus/namespaces/messages/send/action"
	receiveAction = "Microsoft.ServiceBus/namespaces/messages/receive/action"
	manageAction  = "Microsoft.ServiceBus/namespaces/manage/action"
)

// claims returns the rights that a role gives on the data of a scope. Its actions count for nothing: Owner and
// Contributor manage resources and read no message.
func (p permission) claims() (c sas.Claims) {
	allows := func(action string) bool {
		return matchesAny(p.DataActions, action) && !matchesAny(p.NotDataActions, action)
	}
	if allows(sendAction) {
		c |= sas.Send
	}
	if allows(receiveAction) {
		c |= sas.Listen
	}
	if c == sas.Send|sas.Listen && allows(manageAction) { // Manage implies both
		c |= sas.Manage
	}
	return c
}

// claimsOf returns what any of a role's permissions gives.
func claimsOf(permissions []permission) (c sas.Claims) {
	for _, p := range permissions {
		c |= p.claims()
	}
	return c
}

func matchesAny(patterns []string, action string) bool {
	for _, p := range patterns {
		if matches(strings.ToLower(p), strings.ToLower(action)) {
			return true
		}
	}
	return false
}

// matches compares an action with a pattern in which "*" stands for any text, also for several segments.
func matches(pattern, action string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == action
	}
	action, ok := strings.CutPrefix(action, first)
	for ok {
		var part string
		part, rest, star = strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(action, part)
		}
		_, action, ok = strings.Cut(action, part)
	}
	return false
}

// assignment is the document of a role assignment.
type assignment struct {
	ID            string `json:"id"`
	RoleID        string `json:"roleDefinitionId"` // as it came
	Principal     string `json:"principalId"`
	PrincipalType string `json:"principalType"`
	Description   string `json:"description,omitempty"`
	Delegated     string `json:"delegatedManagedIdentityResourceId,omitempty"`
	Created       int64  `json:"created"` // ms since the Unix epoch
	Updated       int64  `json:"updated"`
	CreatedBy     string `json:"createdBy,omitempty"`
	UpdatedBy     string `json:"updatedBy,omitempty"`
}

// grant is a role assignment as far as rights and duplicates depend on it. Texts are in lower case.
type grant struct {
	key       string // of the assignment
	scope     string // "" is above everything
	role      string // the GUID of the role definition
	principal string // the object id
}

func (a assignment) grant() grant {
	id := mustParse(a.ID)
	return grant{
		key: id.key(), scope: strings.ToLower(id.Scope), role: guidOf(a.RoleID),
		principal: strings.ToLower(a.Principal),
	}
}

// grants hold the role assignments and what custom roles give. They have a lock of their own, since they are asked for
// each token that a client shows.
type grants struct {
	mu          sync.RWMutex
	byName      map[string]grant            // by the GUID that is the assignment's name
	byPrincipal map[string]map[string]grant // by principal, then by the name
	roles       map[string]sas.Claims       // what custom roles give, by their GUID
}

func newGrants() *grants {
	return &grants{
		byName: make(map[string]grant), byPrincipal: make(map[string]map[string]grant),
		roles: make(map[string]sas.Claims),
	}
}

// put adds an assignment, or replaces the one of its name.
func (g *grants) put(a grant) {
	name := guidOf(a.key)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.removeLocked(name)
	g.byName[name] = a
	if g.byPrincipal[a.principal] == nil {
		g.byPrincipal[a.principal] = make(map[string]grant)
	}
	g.byPrincipal[a.principal][name] = a
}

// remove takes an assignment away.
func (g *grants) remove(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.removeLocked(name)
}

func (g *grants) removeLocked(name string) {
	a, ok := g.byName[name]
	if !ok {
		return
	}
	delete(g.byName, name)
	delete(g.byPrincipal[a.principal], name)
	if len(g.byPrincipal[a.principal]) == 0 {
		delete(g.byPrincipal, a.principal)
	}
}

// define says what a custom role gives.
func (g *grants) define(role string, claims sas.Claims) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.roles[role] = claims
}

// undefine forgets a custom role.
func (g *grants) undefine(role string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.roles, role)
}

// find returns the assignment of a name.
func (g *grants) find(name string) (grant, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	a, ok := g.byName[name]
	return a, ok
}

// same returns an assignment of the same role at the same scope to the same principal.
func (g *grants) same(as grant) (grant, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, a := range g.byPrincipal[as.principal] {
		if a.scope == as.scope && a.role == as.role {
			return a, true
		}
	}
	return grant{}, false
}

// uses reports whether a role is assigned.
func (g *grants) uses(role string) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, a := range g.byName {
		if a.role == role {
			return true
		}
	}
	return false
}

// claims returns what the assignments of principals give at a scope.
func (g *grants) claims(scope string, principals []string) (c sas.Claims) {
	scope = strings.ToLower(scope)
	g.mu.RLock()
	defer g.mu.RUnlock()
	for _, principal := range principals {
		for _, a := range g.byPrincipal[strings.ToLower(principal)] {
			if within(scope, a.scope) {
				c |= builtInClaims[a.role] | g.roles[a.role]
			}
		}
	}
	return c
}

// Claims returns what role assignments give to principals, who are known by their object ids, on the data of an
// entity or, with an empty path, of the namespace. A role counts where it is assigned and everywhere below.
func (m *Manager) Claims(ns *emulator.Namespace, path string, principals []string) sas.Claims {
	return m.grants.claims(m.Scope(ns, path), principals)
}

// gives returns what a role gives.
func (g *grants) gives(role string) sas.Claims {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return builtInClaims[role] | g.roles[role]
}
