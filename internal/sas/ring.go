package sas

import (
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"strings"
	"time"

	"minibus/internal/entitypath"
)

// Skew is the difference between two machines' clocks that is tolerated: a token is accepted this long after its
// expiry.
const Skew = time.Minute

// Policy is a shared access policy: a name, two equivalent keys, and the rights that they give. An empty key opens
// nothing.
type Policy struct {
	Name      string
	Primary   string
	Secondary string
	Claims    Claims
}

// Administrator returns the policy for a connection string: the well-known one, else one that may manage, else the
// first.
func Administrator(list []Policy) (best Policy) {
	if len(list) > 0 {
		best = list[0]
	}
	for _, p := range list {
		if strings.EqualFold(p.Name, DefaultKeyName) {
			return p
		}
		if p.Claims.Allows(Manage) && !best.Claims.Allows(Manage) {
			best = p
		}
	}
	return best
}

// Ring looks up the policies of a namespace and of its entities. Many goroutines may use it at once. A check costs
// the same with ten entities as with ten thousand.
type Ring struct {
	policiesOf func(entity string) []Policy
	identities Identities  // nil: web tokens are refused
	keysOff    func() bool // nil: keys are always good
}

// Identities checks a web token (JWT) for a resource. Its grant has the claims of the roles that its holder has there,
// which may be none. The error is a *[TokenError].
type Identities func(token string, at Resource, now time.Time) (Grant, error)

// RingOf makes a ring that asks for the policies at each check, so that a change counts at once. policiesOf returns
// the current ones of a queue or topic, or nil if there is no such entity, and those of the namespace for an empty
// path; it must ignore the case of letters.
func RingOf(policiesOf func(entity string) []Policy) *Ring { return &Ring{policiesOf: policiesOf} }

// WithIdentities returns a ring that also takes web tokens, if check is not nil, and that refuses signatures and keys
// while keysOff holds.
func (r *Ring) WithIdentities(check Identities, keysOff func() bool) *Ring {
	return &Ring{r.policiesOf, check, keysOff}
}

// TakesIdentities reports whether the ring takes web tokens.
func (r *Ring) TakesIdentities() bool { return r.identities != nil }

// KeysAreOff reports whether the ring refuses signatures.
func (r *Ring) KeysAreOff() bool { return r.keysOff != nil && r.keysOff() }

// NewRing makes a ring of the namespace's policies. entity returns the current policies of a queue or topic, or nil if
// there is no such entity; it must ignore the case of letters. entity may be nil.
func NewRing(namespace []Policy, entity func(path string) []Policy) *Ring {
	return RingOf(func(path string) []Policy {
		switch {
		case path == "":
			return namespace
		case entity == nil:
			return nil
		}
		return entity(path)
	})
}

// Resource names what a client shows a token for.
type Resource struct {
	// Path is the whole path of the request, such as orders/$management or orders/messages/head. The token must name
	// that path or one above it.
	Path string

	// Entity is the queue, topic or subscription whose policies count in addition to the namespace's; empty: none.
	// The policies of a topic count for its subscriptions, and for nothing else below it.
	Entity string

	// ByName accepts a token that names the path alone, without a host: SDKs sign such tokens for the target of a
	// forward, which their callers may give as a name.
	ByName bool

	// Host reports whether the host in a token may mean the namespace, as the client wrote it, with a port if that
	// has one. Nil accepts all.
	Host func(host string) bool
}

// Grant holds what a token gives a right to.
type Grant struct {
	KeyName string    // of a web token: whose it is
	Web     bool      // it is a web token's, and the claims may be none
	Scope   string    // lower-case path of the policy's entity; empty: the namespace. Of several the widest with Manage
	Path    string    // lower-case path that the token names; empty for the whole namespace
	Claims  Claims    // of all policies that count; never empty
	Until   time.Time // end of its validity: the token's expiry plus [Skew]
}

// Governs reports whether the grant's right to manage, if it has it, counts for another entity too: the token must
// cover that entity, and the policy must be one of the namespace or of that entity.
func (g Grant) Governs(entity string) bool {
	return within(clean(entity), g.Path) && (g.Scope == "" || slices.Contains(owners(entity), g.Scope))
}

// Verify checks a token at the time now. The error is a *[TokenError].
//
// A signature by either key of a policy counts. The entity, its topic and the namespace may all have a policy with
// the token's key name: each one that could have made the signature counts for what it would allow alone. A policy of
// an entity opens nothing for a token that names more than that entity.
func (r *Ring) Verify(text string, at Resource, now time.Time) (Grant, error) {
	if text == "" {
		return Grant{}, &TokenError{Reason: Missing}
	}
	if web, ok := r.web(text); ok {
		return r.identities(web, at, now)
	}
	t, err := r.parse(text)
	if err != nil {
		return Grant{}, err
	}
	return r.verify(t, at, now)
}

// VerifyOwn checks a token for the resource that it names itself; a web token names the whole namespace. host is as in
// [Resource].
func (r *Ring) VerifyOwn(text string, host func(string) bool, now time.Time) (Grant, error) {
	if web, ok := r.web(text); ok {
		return r.identities(web, Resource{Host: host}, now)
	}
	t, err := r.parse(text)
	if err != nil {
		return Grant{}, err
	}
	path, _ := resourcePath(t.Resource)
	return r.verify(t, Resource{Path: path, Entity: entitypath.Entity(path), Host: host}, now)
}

// web returns the web token that a text is, where such count: what follows the word Bearer, or anything that is not
// called a signature.
func (r *Ring) web(text string) (token string, ok bool) {
	word, rest, two := strings.Cut(strings.TrimSpace(text), " ")
	switch {
	case r.identities == nil || strings.EqualFold(word, scheme):
		return "", false
	case two && strings.EqualFold(word, "Bearer"):
		return strings.TrimSpace(rest), true
	}
	return strings.TrimSpace(text), true
}

// parse reads a signature, unless the namespace takes none.
func (r *Ring) parse(text string) (Token, error) {
	t, err := ParseToken(text)
	switch {
	case err != nil:
		return Token{}, &TokenError{Reason: Malformed}
	case r.KeysAreOff():
		return Token{}, &TokenError{Reason: KeysOff, KeyName: t.KeyName}
	}
	return t, nil
}

func (r *Ring) verify(t Token, at Resource, now time.Time) (Grant, error) {
	refuse := func(reason Reason) (Grant, error) {
		return Grant{}, &TokenError{Reason: reason, KeyName: t.KeyName, Expires: t.Expires}
	}
	found := r.policies(t.KeyName, at.Entity)
	signers := signersOf(t, found)
	switch {
	case len(found) == 0:
		return refuse(UnknownKey)
	case len(signers) == 0:
		return refuse(BadSignature)
	case t.Expires.Add(Skew).Before(now):
		return refuse(Expired)
	}
	named := at.ByName && t.Resource != "" && clean(t.Resource) == clean(at.Path)
	covered, _ := resourcePath(t.Resource) // Covers refuses a resource without one
	if named {
		covered = clean(at.Path)
	}
	g := Grant{Path: covered, Until: t.Expires.Add(Skew)}
	for _, p := range signers {
		g.add(p)
	}
	if !named && (t.Covers(at.Path) != nil || at.Host != nil && !at.Host(t.Host())) || g.Claims == 0 {
		return refuse(Audience)
	}
	return g, nil
}

// add counts a policy that made the token's signature, unless the token names more than the policy's entity. It is
// called with the narrowest scope first.
func (g *Grant) add(p scoped) {
	if !within(g.Path, p.scope) || p.Claims == 0 {
		return
	}
	if g.Claims == 0 || p.Claims.Allows(Manage) {
		g.KeyName, g.Scope = p.Name, p.scope
	}
	g.Claims |= p.Claims
}

// scoped is a policy and the lower-case path of the entity that has it.
type scoped struct {
	Policy
	scope string
}

// policies finds the policies with a key name that count for an entity.
func (r *Ring) policies(keyName, entity string) []scoped {
	var found []scoped
	paths := []string{""}
	if entity != "" {
		paths = append(owners(entity), "")
	}
	for _, path := range paths {
		for _, p := range r.policiesOf(path) {
			if strings.EqualFold(p.Name, keyName) {
				found = append(found, scoped{p, path})
			}
		}
	}
	return found
}

// owners returns the lower-case paths of the entities whose policies count for one: itself, and the topic of a
// subscription.
func owners(entity string) []string {
	entity = strings.Trim(strings.ToLower(entity), "/")
	if topic, _, ok := entitypath.SplitSubscription(entity); ok {
		return []string{entity, topic}
	}
	return []string{entity}
}

// signersOf finds the policies that made the token's signature. It takes the same time for an unknown name.
func signersOf(t Token, found []scoped) []scoped {
	if len(found) == 0 {
		_, _ = t.SignedBy(placeholder), t.SignedBy(placeholder)
		return nil
	}
	signers := found[:0]
	for _, p := range found {
		primary, secondary := t.SignedBy(p.Primary), t.SignedBy(p.Secondary)
		if primary || secondary {
			signers = append(signers, p)
		}
	}
	return signers
}

// placeholder replaces the key if there is none; a match does not count.
const placeholder = "no key at all"

// Key checks a key name and key that a client shows without making a token. It reports whether a policy of the
// namespace has them, and what the policy allows.
func (r *Ring) Key(name, key string) (Claims, bool) {
	if r.keysOff != nil && r.keysOff() {
		return 0, false
	}
	for _, p := range r.policiesOf("") {
		primary, secondary := sameKey(p.Primary, key), sameKey(p.Secondary, key)
		if strings.EqualFold(p.Name, name) && (primary || secondary) {
			return p.Claims, true
		}
	}
	return 0, false
}

// sameKey compares in a time that does not depend on how much is the same.
func sameKey(have, shown string) bool {
	a, b := sha256.Sum256([]byte(have)), sha256.Sum256([]byte(shown))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && have != ""
}
