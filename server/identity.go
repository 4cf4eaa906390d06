package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/entra"
	"minibus/internal/hostname"
	"minibus/internal/loglimit"
	"minibus/internal/sas"
	"minibus/mgmt/identity"
)

// issuer makes and checks the tokens of identities.
type issuer struct {
	key      func() (*entra.Key, error) // made at its first use: a tenth of a second that few need
	verifier *entra.Verifier
}

// prepareIdentity makes the verifier, and asks the issuer of the settings for its keys.
func (a *Server) prepareIdentity() error {
	a.identity.key = sync.OnceValues(a.identityKey)
	var others []*entra.Issuer
	if address := a.config.Settings.EntraIssuer; address != "" {
		other, err := entra.Discover(context.Background(), http.DefaultClient, address)
		if err != nil {
			return fmt.Errorf("use --entra-issuer: %w", err)
		}
		others = append(others, other)
	}
	a.identity.verifier = entra.NewVerifier(a.identity.key, others...)
	return nil
}

// identityKey opens the key beside the authority, or makes one that ends with the process.
func (a *Server) identityKey() (*entra.Key, error) {
	dir := a.config.Settings.CADir
	if dir == "" {
		if a.data.ephemeral {
			return entra.NewKey()
		}
		dir = a.data.dir()
	}
	key, err := openIdentityKey(dir)
	if err != nil && !a.config.Settings.Auth.Checks() { // nobody asks whether the tokens count after a restart
		a.log.Warn("the key of identity tokens is kept in memory", "reason", err)
		return entra.NewKey()
	}
	return key, err
}

func openIdentityKey(dir string) (*entra.Key, error) {
	key, err := entra.OpenKey(dir)
	if err == nil {
		giveToOwner(dir, entra.KeyFile)
	}
	return key, err
}

// IdentitySecret returns the secret for which a server with the same settings gives tokens. It makes the key that
// yields the secret, if it is missing. In memory only a secret of the settings is known before the start; then, and if
// a server gives tokens to everybody, any text will do.
func IdentitySecret(s config.Settings) (string, error) {
	if s.IdentitySecret != "" {
		return s.IdentitySecret, nil
	}
	dir, err := s.CADir, error(nil)
	switch {
	case dir != "":
	case s.Ephemeral && s.Auth.Checks():
		return "", errors.New("with --ephemeral the identity secret ends with the process: give --identity-secret to " +
			"both, better in MINIBUS_IDENTITY_SECRET")
	case s.Ephemeral:
		return "any", nil
	default:
		dir, err = dataDir(s)
	}
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", err
	}
	key, err := openIdentityKey(dir)
	if err != nil {
		return "", err
	}
	return key.Secret(), nil
}

// issuing returns what gives out tokens.
func (a *Server) issuing() *identity.Service {
	s := a.config.Settings
	return identity.New(identity.Options{
		Key: a.identity.key, Verifier: a.identity.verifier, Open: !s.Auth.Checks(),
		Secret: s.IdentitySecret, Strict: s.Auth == config.AuthEntra, Life: s.IdentityLife,
		Wrong: a.warnOfSecret, Identity: a.managedIdentity,
	})
}

// warnOfSecret logs that a client has shown a wrong identity secret.
func (a *Server) warnOfSecret(r *http.Request) {
	if a.refusals.Take(loglimit.Secret) {
		a.log.Warn("wrong identity secret", "operation", r.Method, "path", sas.Clip(r.URL.Path), "remote", r.RemoteAddr,
			"fix", "use the variables of minibus env --identity for this server")
	}
}

// managedIdentity returns the ids of an identity that was made through Resource Manager.
func (a *Server) managedIdentity(id string) (client, principal string, ok bool) {
	if a.arm == nil {
		return "", "", false
	}
	return a.arm.Identity(id)
}

// developerName is what people see of the developer, instead of an object id.
const developerName = "developer"

// identities returns what checks web tokens for a namespace.
func (a *Server) identities(ns *emulator.Namespace) sas.Identities {
	return func(text string, at sas.Resource, now time.Time) (sas.Grant, error) {
		t, err := a.identity.verifier.Verify(text, now)
		if err != nil {
			return sas.Grant{}, err
		}
		if !t.IsForServiceBus(func(host string) bool { return a.isOwnHost(host) && at.Host != nil && at.Host(host) }) {
			return sas.Grant{}, &sas.TokenError{Reason: sas.Audience, KeyName: t.Object}
		}
		g := sas.Grant{KeyName: t.Object, Web: true, Claims: sas.Manage | sas.Send | sas.Listen,
			Until: t.Expires.Add(entra.Leeway)}
		if t.IsDeveloper() {
			g.KeyName = developerName
		} else {
			g.Claims = a.claims(ns, at.Entity, t.Principals())
		}
		return g, nil
	}
}

// isOwnHost reports whether a token may name a host as its audience. The broker takes an unknown one for the default
// namespace, so that clients can have it in their connection strings; a token for a host of somebody else's is for
// that.
func (a *Server) isOwnHost(host string) bool {
	host = withoutPort(host)
	return hostname.IsLocal(host) || a.isKnownHost(host)
}

func withoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.ToLower(strings.Trim(host, "[]"))
}

// isForManager reports whether a token is for Resource Manager: by Azure's names for it, or by the host of the request
// if that is a name of this Minibus. The client chooses that host, so others don't count; one in the service's domain
// is a namespace, and a token for it is for messages.
func (a *Server) isForManager(t *entra.Token, host string) bool {
	if !a.isOwnHost(host) || strings.HasSuffix(withoutPort(host), hostname.Cloud) {
		return t.IsForManager()
	}
	return t.IsForManager("https://"+host, "http://"+host)
}

// claims returns the rights that roles give to principals on an entity; an empty path is the namespace.
func (a *Server) claims(ns *emulator.Namespace, path string, principals []string) sas.Claims {
	switch {
	case a.config.claims != nil:
		return a.config.claims(ns, path, principals)
	case a.arm == nil:
		return 0
	}
	return a.arm.Claims(ns, path, principals)
}

var errNoBearer = errors.New("the request has no token of the kind Bearer")

// principal returns who sends a request to Resource Manager, as role assignments name it; empty if that is not known.
// Where tokens are checked, it fails unless the token is one of this Minibus for Resource Manager.
func (a *Server) principal(r *http.Request) (string, error) {
	scheme, text, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if text = strings.TrimSpace(text); !strings.EqualFold(scheme, "Bearer") || text == "" {
		return "", errNoBearer
	}
	t, err := a.identity.verifier.Verify(text, time.Now())
	switch {
	case !a.config.Settings.Auth.Checks():
		if err != nil {
			return "", nil // any token will do
		}
		return t.Object, nil
	case err != nil:
		return "", err
	case !t.Own || !a.isForManager(t, r.Host):
		return "", &sas.TokenError{Reason: sas.Audience, KeyName: t.Object}
	}
	return t.Object, nil
}
