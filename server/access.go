package server

import (
	"strings"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/sas"
)

// access is what checks tokens; nil where nothing does (DEC-10). The entities' policies are looked up when they are asked
// for, so that a change of them counts at once.
func (a *Server) access() *sas.Ring {
	if a.config.Settings.Auth != config.AuthSAS {
		return nil
	}
	return sas.NewRing(a.policies(), a.entityPolicies)
}

// policies are those of the namespace: what the configuration says, else the one that every sample has; with the root key of
// the settings, if there is one.
func (a *Server) policies() []sas.Policy {
	root := sas.Policy{Name: sas.DefaultKeyName, Primary: sas.DefaultKey, Claims: sas.Manage | sas.Send | sas.Listen}
	var list []sas.Policy
	if a.config.Topology != nil {
		list = policiesOf(a.config.Topology.AuthorizationRules)
	}
	if len(list) == 0 {
		list = []sas.Policy{root}
	}
	if root.Primary = a.config.Settings.RootKey; root.Primary == "" {
		return list
	}
	for i, p := range list {
		if strings.EqualFold(p.Name, root.Name) {
			list[i] = root
			return list
		}
	}
	return append(list, root)
}

// entityPolicies returns the policies of a queue or topic. It is called when the broker is there: adapters ask for rights
// only then.
func (a *Server) entityPolicies(path string) []sas.Policy {
	q, err := a.broker.Entity(path)
	if err != nil {
		return nil
	}
	return policiesOf(q.Options().Admin.AuthorizationRules)
}

func policiesOf(rules []emulator.AuthorizationRule) []sas.Policy {
	var list []sas.Policy
	for _, r := range rules {
		list = append(list, sas.Policy{Name: r.KeyName, Primary: r.PrimaryKey, Secondary: r.SecondaryKey, Claims: sas.ParseClaims(r.Rights)})
	}
	return list
}

// noteUnverified says once that a token was taken on trust.
func (a *Server) noteUnverified() {
	a.noted.Do(func() {
		a.log.Info("a client uses a web token (JWT); it is accepted, but neither its issuer nor its signature is checked", "auth", string(config.AuthAny))
	})
}

// administrator is the policy that the connection string shows: the one that may most.
func (a *Server) administrator() sas.Policy {
	list := a.policies()
	best := list[0]
	for _, p := range list {
		if strings.EqualFold(p.Name, sas.DefaultKeyName) {
			return p
		}
		if p.Claims.Allows(sas.Manage) && !best.Claims.Allows(sas.Manage) {
			best = p
		}
	}
	return best
}
