package server

import (
	"fmt"
	"slices"
	"strings"

	"minibus/emulator"
	"minibus/internal/sas"
)

// The default namespace has its policies from the configuration, or else the one that every sample uses, until
// Resource Manager changes them. From then on it has a list of its own, as the others have from their beginning. A
// start does what DEC-7 says for other lists: one in the configuration replaces it.

// AuthorizationRules implements [arm.Server].
func (a *Server) AuthorizationRules(ns *emulator.Namespace) []emulator.AuthorizationRule {
	if rules := ns.Options().Policies; ns != a.broker.Default() || len(rules) > 0 {
		return rules
	}
	return a.configuredRules()
}

// Policies implements [control.Server].
func (a *Server) Policies(ns *emulator.Namespace) []sas.Policy {
	return policiesOf(a.AuthorizationRules(ns))
}

// SetAuthorizationRules implements [arm.Server].
func (a *Server) SetAuthorizationRules(ns *emulator.Namespace, rules []emulator.AuthorizationRule) error {
	o := ns.Options()
	o.Policies = rules
	return a.broker.Update(ns.Name(), o)
}

// configuredRules returns the policies of the default namespace as the configuration and the settings have them.
func (a *Server) configuredRules() []emulator.AuthorizationRule {
	var list []emulator.AuthorizationRule
	if a.config.Topology != nil {
		list = a.config.Topology.AuthorizationRules
	}
	if len(list) == 0 {
		list = []emulator.AuthorizationRule{rootRule(sas.DefaultKey)}
	}
	return a.withRootKey(list)
}

func rootRule(key string) emulator.AuthorizationRule {
	return emulator.AuthorizationRule{
		KeyName: sas.DefaultKeyName, PrimaryKey: key, Rights: []string{"Listen", "Manage", "Send"},
	}
}

// withRootKey returns policies with the root key of the settings, if there is one.
func (a *Server) withRootKey(list []emulator.AuthorizationRule) []emulator.AuthorizationRule {
	key := a.config.Settings.RootKey
	if key == "" {
		return list
	}
	list = slices.Clone(list)
	for i, r := range list {
		if strings.EqualFold(r.KeyName, sas.DefaultKeyName) {
			if r.PrimaryKey != key {
				list[i] = rootRule(key)
			}
			return list
		}
	}
	return append(list, rootRule(key))
}

// reconcilePolicies ends what Resource Manager has changed of the default namespace's policies and the configuration
// names: all of them if it has a list, else the root key of the settings.
func (a *Server) reconcilePolicies() error {
	ns := a.broker.Default()
	before := ns.Options().Policies
	if len(before) == 0 {
		return nil
	}
	after := a.withRootKey(before)
	if len(a.config.Topology.AuthorizationRules) > 0 {
		after = nil
	}
	if slices.EqualFunc(before, after, sameRule) {
		return nil
	}
	if err := a.SetAuthorizationRules(ns, after); err != nil {
		return fmt.Errorf("configure the policies of the namespace %s: %w", ns.Name(), err)
	}
	a.log.Info("setting of a namespace changed", "namespace", ns.Name(), "setting", "AuthorizationRules")
	return nil
}
