package server

import (
	"maps"

	"minibus/emulator"
	"minibus/export"
	"minibus/internal/entra"
	"minibus/internal/sas"
	"minibus/mgmt/arm"
	"minibus/mgmt/control/api"
)

// resource returns what Resource Manager knows of a namespace.
func (a *Server) resource(ns *emulator.Namespace) (arm.Resource, error) {
	if a.arm == nil {
		return arm.Resource{}, &emulator.Error{Code: emulator.CodeNotFound,
			Text: "This Minibus has no Resource Manager: it was started with --arm off or --control off."}
	}
	return a.arm.Resource(ns), nil
}

// wordsOf returns the rights as answers list them.
func wordsOf(c sas.Claims) []string {
	words := []string{}
	for _, claim := range []sas.Claims{sas.Manage, sas.Send, sas.Listen} {
		if c.Allows(claim) {
			words = append(words, claim.String())
		}
	}
	return words
}

// Resource implements [control.Resources].
func (a *Server) Resource(ns *emulator.Namespace) (*api.Resource, error) {
	known, err := a.resource(ns)
	if err != nil {
		return nil, err
	}
	r := &api.Resource{
		ID: known.ID, Subscription: known.Subscription, ResourceGroup: known.Group, Location: known.Location,
		SKU: known.SKU, Capacity: known.Capacity, Tags: map[string]string{}, DisableLocalAuth: known.KeysAreOff,
		Policies: []api.ResourcePolicy{}, Identities: []api.ResourceIdentity{}, RoleAssignments: []api.RoleAssignment{},
		WithoutEffect: []api.StoredResource{},
	}
	maps.Copy(r.Tags, known.Tags)
	for _, p := range a.Policies(ns) {
		r.Policies = append(r.Policies, api.ResourcePolicy{Name: p.Name, Rights: wordsOf(p.Claims)})
	}
	for _, e := range ns.Configuration().Current() {
		for _, p := range entityPolicies(ns, e.Path) {
			r.Policies = append(r.Policies, api.ResourcePolicy{Name: p.Name, Entity: e.Path, Rights: wordsOf(p.Claims)})
		}
	}
	for _, i := range known.Identities {
		r.Identities = append(r.Identities,
			api.ResourceIdentity{ID: i.ID, PrincipalID: i.Principal, ClientID: i.Client})
	}
	for _, x := range known.Roles {
		if x.Principal == entra.Developer {
			x.Identity = developerName
		}
		r.RoleAssignments = append(r.RoleAssignments, api.RoleAssignment{
			ID: x.ID, Role: x.Role, RoleID: x.RoleID, Rights: wordsOf(x.Rights), PrincipalID: x.Principal,
			PrincipalType: x.PrincipalType, Identity: x.Identity, Scope: x.Scope, Above: x.Above, Entity: x.Entity,
			Description: x.Description,
		})
	}
	for _, s := range known.Inert {
		r.WithoutEffect = append(r.WithoutEffect, api.StoredResource{ID: s.ID, Type: s.Type})
	}
	return r, nil
}

// exported returns what Resource Manager knows of a namespace, for modules that make it. What is assigned above it is
// not theirs to make.
func (a *Server) exported(ns *emulator.Namespace) (*export.Resource, error) {
	known, err := a.resource(ns)
	if err != nil {
		return nil, err
	}
	r := &export.Resource{
		ID: known.ID, Group: known.Group, Location: known.Location, SKU: known.SKU, Capacity: known.Capacity,
		Tags: known.Tags, KeysAreOff: known.KeysAreOff,
	}
	if r.Location == arm.DefaultLocation { // of a namespace that Resource Manager has not made
		r.Location = ""
	}
	for _, i := range known.Identities {
		switch {
		case !i.Assigned: // it only has a role
		case i.ID == "":
			r.System = true
		default:
			r.Identities = append(r.Identities, i.ID)
		}
	}
	for _, p := range a.Policies(ns) {
		r.Access = append(r.Access, export.Access{Name: p.Name, Rights: wordsOf(p.Claims)})
	}
	for _, x := range known.Roles {
		if !x.Above {
			r.Roles = append(r.Roles, export.Role{
				Name: x.Name(), Scope: x.Scope, Entity: x.Entity, Role: x.Role, RoleID: x.RoleID,
				Principal: x.Principal, PrincipalType: x.PrincipalType,
			})
		}
	}
	return r, nil
}
