package server

import (
	"fmt"
	"math"
	"net"
	"slices"

	"minibus/emulator"
	"minibus/internal/sas"
)

// The key that every sample uses protects nothing: everyone knows it. So where tokens are checked Minibus refuses to
// start with it if it listens for other machines, and warns if it does not. It looks in the configuration before any
// file is touched, and in the database before anything is served.

// ownedPolicy is a policy and the queue or topic that has it; empty for the namespace.
type ownedPolicy struct {
	sas.Policy
	entity string
}

// checkConfiguredKeys fails if the configuration has the key and other machines can connect.
func (a *Server) checkConfiguredKeys() error {
	if !a.config.Settings.Auth.Checks() || !a.isExposed() {
		return nil
	}
	return a.refuseDefaultKey(a.configuredPolicies())
}

// checkStoredKeys does the same for the policies that count, which the database may have from an earlier
// configuration or an administration client. If no other machine can connect it warns.
func (a *Server) checkStoredKeys() error {
	if !a.config.Settings.Auth.Checks() || a.config.NoNetwork {
		return nil
	}
	policies := a.storedPolicies()
	if a.isExposed() {
		return a.refuseDefaultKey(policies)
	}
	if i := slices.IndexFunc(policies, hasDefaultKey); i >= 0 {
		a.log.Warn("--auth "+string(a.config.Settings.Auth)+" with the key that everybody knows protects nothing; "+
			"choose another with --root-key or in the Config.json",
			"key", sas.DefaultKey, "policy", sas.Clip(policies[i].Name), "entity", policies[i].entity)
	}
	return nil
}

// isExposed reports whether a port listens for other machines.
func (a *Server) isExposed() bool {
	return slices.ContainsFunc(a.ports.listeners(), func(l net.Listener) bool {
		address, ok := l.Addr().(*net.TCPAddr)
		return !ok || !address.IP.IsLoopback()
	})
}

func (a *Server) refuseDefaultKey(policies []ownedPolicy) error {
	i := slices.IndexFunc(policies, hasDefaultKey)
	if i < 0 {
		return nil
	}
	owner := policies[i].entity
	if owner == "" {
		owner = "the namespace"
	}
	return fmt.Errorf("--auth %s with the key "+sas.DefaultKey+", which everybody knows, in the policy %q of %s "+
		"would let other machines in: choose a key with --root-key, better in MINIBUS_ROOT_KEY, and in the "+
		"AuthorizationRules of the Config.json, or listen with --host localhost",
		a.config.Settings.Auth, sas.Clip(policies[i].Name), owner)
}

// configuredPolicies returns the policies of the namespace and of all entities in the configuration.
func (a *Server) configuredPolicies() []ownedPolicy {
	list := owned("", policiesOf(a.configuredRules()))
	for _, e := range a.config.Topology.Entities {
		switch {
		case e.Queue != nil:
			list = append(list, owned(e.Path, policiesOf(e.Queue.Admin.AuthorizationRules))...)
		case e.Topic != nil:
			list = append(list, owned(e.Path, policiesOf(e.Topic.Admin.AuthorizationRules))...)
		}
	}
	return list
}

// storedPolicies returns the policies of all namespaces and entities of the broker.
func (a *Server) storedPolicies() []ownedPolicy {
	var list []ownedPolicy
	for _, ns := range a.broker.Namespaces() {
		list = append(list, owned("", a.Policies(ns))...)
		for _, kind := range []emulator.EntityKind{emulator.KindQueue, emulator.KindTopic} {
			entities, _ := ns.Entities().Page(kind, 0, math.MaxInt)
			for _, e := range entities {
				list = append(list, owned(e.Path(), policiesOf(e.Options().Admin.AuthorizationRules))...)
			}
		}
	}
	return list
}

func owned(entity string, policies []sas.Policy) []ownedPolicy {
	list := make([]ownedPolicy, len(policies))
	for i, p := range policies {
		list[i] = ownedPolicy{p, entity}
	}
	return list
}

func hasDefaultKey(p ownedPolicy) bool {
	return p.Claims != 0 && (p.Primary == sas.DefaultKey || p.Secondary == sas.DefaultKey)
}
