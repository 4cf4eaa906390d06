package server

import (
	"minibus/config"
	"minibus/emulator"
	"minibus/internal/sas"
)

// access returns a function that makes the ring that checks tokens for a namespace; nil with --auth any (DEC-10). A
// ring looks up policies and roles on demand, so that a change counts at once. It needs the broker: the front ends
// verify tokens only after the start.
func (a *Server) access() func(*emulator.Namespace) *sas.Ring {
	if !a.config.Settings.Auth.Checks() {
		return nil
	}
	return func(ns *emulator.Namespace) *sas.Ring {
		ring := sas.RingOf(func(path string) []sas.Policy {
			if path == "" {
				return a.Policies(ns)
			}
			return entityPolicies(ns, path)
		})
		var identities sas.Identities
		if a.config.Settings.Auth == config.AuthEntra {
			identities = a.identities(ns)
		}
		return ring.WithIdentities(identities, func() bool { return a.arm != nil && a.arm.LocalAuthDisabled(ns) })
	}
}

// entityPolicies returns the policies of a queue or topic.
func entityPolicies(ns *emulator.Namespace, path string) []sas.Policy {
	entity, err := ns.Entity(path)
	if err != nil {
		return nil
	}
	return policiesOf(entity.Options().Admin.AuthorizationRules)
}

func policiesOf(rules []emulator.AuthorizationRule) []sas.Policy {
	var list []sas.Policy
	for _, r := range rules {
		list = append(list, sas.Policy{Name: r.KeyName, Primary: r.PrimaryKey, Secondary: r.SecondaryKey,
			Claims: sas.ParseClaims(r.Rights)})
	}
	return list
}

// noteUnverified logs once that a token was accepted unchecked.
func (a *Server) noteUnverified() {
	a.noted.Do(func() {
		a.log.Info("a client uses a web token (JWT); it is accepted, but neither its issuer nor its signature is "+
			"checked", "auth", string(config.AuthAny))
	})
}
