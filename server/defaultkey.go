package server

import (
	"errors"
	"net"
	"slices"

	"minibus/config"
	"minibus/internal/sas"
)

// checkKeys looks for the key that every sample uses, where tokens are checked: everyone knows it. So Minibus refuses to start with it
// if it listens for other machines, and warns if it does not.
func (a *Server) checkKeys() error {
	if a.config.Settings.Auth != config.AuthSAS || !slices.ContainsFunc(a.configuredPolicies(), hasDefaultKey) {
		return nil
	}
	for _, l := range a.ports.listeners() {
		if address, ok := l.Addr().(*net.TCPAddr); !ok || !address.IP.IsLoopback() {
			return errors.New("--auth sas with the key " + sas.DefaultKey + ", which everybody knows, would let other machines in: " +
				"choose a key with --root-key, better in MINIBUS_ROOT_KEY, and in the AuthorizationRules of the Config.json, or listen with --host localhost")
		}
	}
	a.log.Warn("--auth sas with the key that everybody knows protects nothing; choose another with --root-key or in the Config.json", "key", sas.DefaultKey)
	return nil
}

// configuredPolicies returns the policies of the namespace and of all entities in the configuration.
func (a *Server) configuredPolicies() []sas.Policy {
	list := a.policies()
	for _, e := range a.config.Topology.Entities {
		switch {
		case e.Queue != nil:
			list = append(list, policiesOf(e.Queue.Admin.AuthorizationRules)...)
		case e.Topic != nil:
			list = append(list, policiesOf(e.Topic.Admin.AuthorizationRules)...)
		}
	}
	return list
}

func hasDefaultKey(p sas.Policy) bool {
	return p.Claims != 0 && (p.Primary == sas.DefaultKey || p.Secondary == sas.DefaultKey)
}
