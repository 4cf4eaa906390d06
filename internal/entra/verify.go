package entra

import (
	"crypto/rsa"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"minibus/internal/hostname"
	"minibus/internal/sas"
)

// Leeway is the difference between two machines' clocks that is tolerated: a token counts this long before and after
// the time that it names.
const Leeway = 5 * time.Minute

const (
	// maxToken bounds the length of a token, in bytes. Those with two hundred groups stay far below.
	maxToken = 32 << 10
	// maxKept bounds the tokens that are kept as verified. Their texts may have 32 MiB then.
	maxKept = 1000
)

// Verifier checks tokens.
type Verifier struct {
	own     func() (*Key, error) // makes the key at the first use
	issuers []*Issuer

	// kept has the verified tokens by their texts, so that a client that shows the same one again and again pays for
	// one signature. The time and what depends on it are checked each time.
	mu   sync.Mutex
	kept map[string]*Token
}

// NewVerifier makes a verifier of this Minibus's own tokens and those of other issuers.
func NewVerifier(own func() (*Key, error), others ...*Issuer) *Verifier {
	return &Verifier{own: own, issuers: others, kept: make(map[string]*Token)}
}

// Verify checks the form, signature, issuer and time of an access token; for whom it is remains to be checked. The
// error is a *[sas.TokenError].
func (v *Verifier) Verify(text string, now time.Time) (*Token, error) {
	return v.verify(KindAccess, text, now)
}

// VerifyRefresh is Verify for a refresh token.
func (v *Verifier) VerifyRefresh(text string, now time.Time) (*Token, error) {
	return v.verify(KindRefresh, text, now)
}

func (v *Verifier) verify(kind, text string, now time.Time) (*Token, error) {
	v.mu.Lock()
	t := v.kept[text]
	v.mu.Unlock()
	if t == nil || kind != KindAccess {
		var err error
		if t, err = v.read(kind, text); err != nil {
			return nil, err
		}
	}
	switch name := t.holder(); {
	case t.Expires.Add(Leeway).Before(now):
		return nil, &sas.TokenError{Reason: sas.Expired, KeyName: name, Expires: t.Expires}
	case t.NotBefore.Add(-Leeway).After(now):
		return nil, &sas.TokenError{Reason: sas.Malformed, KeyName: name,
			Text: "MalformedToken: The token is not valid yet."}
	}
	if kind == KindAccess {
		v.mu.Lock()
		if len(v.kept) >= maxKept {
			clear(v.kept)
		}
		v.kept[text] = t
		v.mu.Unlock()
	}
	return t, nil
}

func malformed(why string) error {
	return &sas.TokenError{Reason: sas.Malformed, Text: "MalformedToken: " + why}
}

// read checks all but the time. It takes RS256 only: a token must not choose how it is checked.
func (v *Verifier) read(kind, text string) (*Token, error) {
	if len(text) > maxToken {
		return nil, malformed("The token is too long.")
	}
	var c claims
	var issuer *Issuer // nil: this Minibus
	unknown := false
	parser := jwt.NewParser(jwt.WithValidMethods([]string{algorithm}), jwt.WithoutClaimsValidation(),
		jwt.WithStrictDecoding())
	parsed, err := parser.ParseWithClaims(text, &c, func(t *jwt.Token) (any, error) {
		id, _ := t.Header["kid"].(string)
		var key *rsa.PublicKey
		key, issuer = v.keyOf(id)
		if unknown = key == nil; unknown {
			return nil, errors.New("nobody here has that key")
		}
		return key, nil
	})
	switch {
	case unknown && !v.mayKnow(c.Issuer):
		return nil, &sas.TokenError{Reason: sas.Issuer, KeyName: c.Issuer}
	case errors.Is(err, jwt.ErrTokenMalformed):
		return nil, malformed("The token is not a web token (JWT) that can be read.")
	case err != nil:
		return nil, &sas.TokenError{Reason: sas.BadSignature, KeyName: c.Issuer}
	}
	t := c.token(issuer == nil)
	_, critical := parsed.Header["crit"]
	typ, _ := parsed.Header["typ"].(string)
	switch {
	case !isOf(issuer, t):
		return nil, &sas.TokenError{Reason: sas.Issuer, KeyName: c.Issuer}
	case t.Expires.IsZero() || t.Object == "" || critical:
		return nil, malformed("The token lacks exp or oid, or has an extension that is not known.")
	case !isKind(kind, typ, t.Own):
		return nil, malformed("The token is of another kind.")
	}
	return t, nil
}

// keyOf returns the key with an id, and whose it is.
func (v *Verifier) keyOf(id string) (*rsa.PublicKey, *Issuer) {
	if own, err := v.own(); err == nil && own.id == id {
		return &own.private.PublicKey, nil
	}
	for _, i := range v.issuers {
		if key := i.keys[id]; key != nil {
			return key, i
		}
	}
	return nil, nil
}

// isOf reports whether a token names the issuer that has signed it. This Minibus has many names.
func isOf(issuer *Issuer, t *Token) bool {
	if issuer == nil {
		return t.Tenant != "" && strings.HasSuffix(t.Issuer, "/"+t.Tenant+"/v2.0")
	}
	return t.Issuer == issuer.Name
}

func isKind(kind, typ string, own bool) bool {
	if own {
		return typ == kind
	}
	return kind == KindAccess // other issuers call them JWT, at+jwt, or nothing
}

// mayKnow reports whether a token with an unknown key may once have been ours, as after a restart in memory, or
// claims to be of an issuer that is known.
func (v *Verifier) mayKnow(issuer string) bool {
	for _, i := range v.issuers {
		if i.Name == issuer {
			return true
		}
	}
	u, err := url.Parse(issuer)
	return issuer == "" || err == nil && hostname.IsLocal(strings.ToLower(u.Hostname()))
}

// holder names who holds the token, for the log.
func (t *Token) holder() string { return t.Object }

// The audiences of Service Bus, without the slash that may end them.
var serviceBus = map[string]bool{"https://servicebus.azure.net": true, "https://servicebus.chinacloudapi.cn": true,
	"https://servicebus.usgovcloudapi.net": true}

// IsForServiceBus reports whether a token is for Service Bus: for all its namespaces, or for a host that means the
// namespace in question.
func (t *Token) IsForServiceBus(means func(host string) bool) bool {
	for _, a := range t.Audience {
		a = strings.TrimSuffix(a, "/")
		if serviceBus[strings.ToLower(a)] {
			return true
		}
		u, err := url.Parse(a)
		if err == nil && (u.Scheme == "https" || u.Scheme == "sb") && u.Host != "" && u.Path == "" && means != nil &&
			means(u.Host) {
			return true
		}
	}
	return false
}

// The audiences of Azure Resource Manager.
var manager = map[string]bool{"https://management.azure.com": true, "https://management.core.windows.net": true}

// IsForManager reports whether a token is for Azure Resource Manager, at one of its own addresses or at one of bases.
func (t *Token) IsForManager(bases ...string) bool {
	for _, a := range t.Audience {
		a = strings.ToLower(strings.TrimRight(a, "/"))
		if manager[a] || slices.ContainsFunc(bases, func(b string) bool { return strings.EqualFold(a, b) }) {
			return true
		}
	}
	return false
}
