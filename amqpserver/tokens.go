package amqpserver

import (
	"errors"
	"slices"
	"strings"
	"time"

	"minibus/amqpserver/cbs"
	"minibus/emulator"
	"minibus/internal/amqp"
	"minibus/internal/entitypath"
	"minibus/internal/loglimit"
	"minibus/internal/sas"
)

// right is a claim that a link, or a request on it, needs on a node.
type right struct {
	node  node
	claim sas.Claims // empty: any
}

// credentials holds what a connection has shown where tokens are checked. It belongs to the loop. verify checks a token
// that is put to $cbs; authorize checks the held ones again for each link and each request.
type credentials struct {
	c    *conn
	ring *sas.Ring // of the namespace, from open on; nil: tokens are not checked

	// held has the tokens by the lower-case path that each opens. Every use verifies them again, so a changed policy
	// counts at once.
	held map[string]heldToken
	next time.Time // when the first of them expires; zero: never

	key *namedKey // shown in the SASL layer; nil: none
	jwt string    // web token that was shown there instead; checked, and then held, once the namespace is known
	by  time.Time // deadline for the first token; zero: one was shown, or none is needed (ERR-3)
}

// heldToken is a token that the client put to $cbs.
type heldToken struct {
	text  string
	owner string // the policy, or of a web token whose it is
	web   bool
	until time.Time
}

// namedKey is a key that a client showed as user name and password.
type namedKey struct{ name, key string }

func (k *credentials) checked() bool { return k.c.srv.options.Access != nil }

// takeKey takes the name and key of a policy as user name and password [RFC 4616]. They stand for tokens that never
// expire. The policy must be one of a namespace, since the entity is not known yet; once open has said which namespace,
// keyCounts is asked again. Where tokens are not checked any name and password will do.
func (k *credentials) takeKey(response []byte) bool {
	if !k.checked() {
		return true
	}
	_, rest, _ := strings.Cut(string(response), "\x00")
	name, key, _ := strings.Cut(rest, "\x00")
	if name == jwtUser {
		k.jwt = key
		return key != ""
	}
	k.key = &namedKey{name, key}
	if !slices.ContainsFunc(k.c.srv.broker.Namespaces(), k.keyCounts) {
		return false
	}
	k.markAuthenticated()
	return true
}

// jwtUser is the user name with which Azure's JMS client shows a web token as its password.
const jwtUser = "$jwt"

// takeJWT checks a web token that was shown as a password, and then holds it as one that was put to $cbs.
func (k *credentials) takeJWT() error {
	if k.jwt == "" {
		return nil
	}
	token := k.jwt
	k.jwt = ""
	checked, err := k.verify("", token)
	if err != nil {
		return connErrorf(amqp.CondUnauthorized, "The web token that was shown as a password is refused: %v.", err)
	}
	k.remember(&cbs.Grant{Token: token, Kind: "jwt", Checked: checked})
	return nil
}

// keyCounts reports whether the key that the client has shown, if any, is one of the namespace.
func (k *credentials) keyCounts(ns *emulator.Namespace) bool {
	if k.key == nil {
		return true
	}
	_, ok := k.c.srv.options.Access(ns).Key(k.key.name, k.key.key)
	return ok
}

// policy says how $cbs treats a token. The log says more than the client learns: whether the policy is unknown or the
// key is wrong.
func (k *credentials) policy() cbs.Policy {
	c := k.c
	var wrong sas.TokenError
	var fix string
	p := cbs.Policy{
		Exists:  c.ns.Exists,
		Belongs: c.checkAudience,
		Refused: func(audience, text string) {
			c.noteToken(audience, text, fix)
			kind := loglimit.Token
			line := []any{"operation", "put-token", "entity", sas.Clip(audience), "reason", sas.Clip(text)}
			if wrong.Reason != 0 {
				kind += " " + wrong.Reason.String()
				line = append(line, "policy", sas.Clip(wrong.KeyName), "token", wrong.Reason.String())
			}
			if c.srv.options.Refusals.Take(kind) {
				c.log.Warn("token refused", line...)
			}
		},
	}
	if !k.checked() {
		return p
	}
	p.Authorize = func(path, token string) (cbs.Checked, error) {
		checked, err := k.verify(path, token)
		var refused *sas.TokenError
		if errors.As(err, &refused) {
			wrong = *refused
			fix = fixOf(wrong.Reason, !strings.HasPrefix(token, "SharedAccessSignature"))
			if refused.Reason == sas.Issuer || refused.Reason == sas.KeysOff {
				suffix := strings.Replace(c.trackingSuffix(""), "SystemTracker:"+c.ns.Name(),
					"SystemTracker:NoSystemTracker", 1)
				err = errors.New(err.Error() + suffix)
			}
		}
		return checked, err
	}
	return p
}

// fixOf says what a client needs whose token is refused, if a key with another right doesn't help it.
func fixOf(reason sas.Reason, web bool) string {
	switch {
	case reason == sas.Issuer:
		return "Run the client with the variables of minibus env --identity, or start Minibus with --entra-issuer " +
			"and the issuer of its tokens."
	case reason == sas.KeysOff:
		return "Let the client sign in with an identity: the namespace takes no keys. Or set its disableLocalAuth to " +
			"false."
	case web && reason == sas.Audience:
		return "Let the client ask for a token for https://servicebus.azure.net/.default."
	case web:
		return "Let the client ask Minibus for a new token, with the variables of minibus env --identity."
	case reason == sas.Expired:
		return "Let the client renew its token. If it has just made it, set the clock of its machine."
	}
	return ""
}

// verify checks a token for the path of its audience. A token for the whole namespace opens the path that it names
// itself, which may be less: an audience without a path is never refused as too wide (amqp-data-plane 2.3).
func (k *credentials) verify(path, token string) (cbs.Checked, error) {
	now := time.Now()
	if len(path) > maxNames {
		return cbs.Checked{}, &sas.TokenError{Reason: sas.Audience}
	}
	var g sas.Grant
	var err error
	if path == "" {
		g, err = k.ring.VerifyOwn(token, k.means, now)
		path = g.Path
	} else {
		g, err = k.ring.Verify(token, sas.Resource{Path: path, Entity: entitypath.Entity(path), Host: k.means}, now)
	}
	return cbs.Checked{Path: path, Owner: g.KeyName, Web: g.Web, NoRight: g.Claims == 0, Expires: g.Until}, err
}

// means reports whether a host in a token means the namespace of the connection.
func (k *credentials) means(host string) bool { return !k.c.foreign(host) }

// remember keeps a token. At the limit it drops the token that expires first.
func (k *credentials) remember(g *cbs.Grant) {
	if !k.checked() {
		if unverified := k.c.srv.options.Unverified; g.IsJWT() && unverified != nil {
			unverified()
		}
		return
	}
	if k.held == nil {
		k.held = make(map[string]heldToken)
	}
	path := strings.ToLower(g.Path)
	if _, again := k.held[path]; !again && len(k.held) >= maxTokens {
		var first string
		for held, t := range k.held {
			if first == "" || t.until.Before(k.held[first].until) {
				first = held
			}
		}
		delete(k.held, first)
	}
	k.held[path] = heldToken{text: g.Token, owner: g.Owner, web: g.Web, until: g.Expires}
	k.markAuthenticated()
	if k.next.IsZero() || g.Expires.Before(k.next) {
		k.next = g.Expires
	}
	k.c.armTimer()
	if g.Web {
		k.recheck(path)
	}
}

// authorize fails with the service's refusal unless the connection has shown a token or key that gives it the right
// (ERR-1). If tokens are not checked, every client may do everything (DEC-10).
func (k *credentials) authorize(need right) error {
	if k.ring == nil {
		return nil
	}
	if k.key != nil {
		if claims, ok := k.ring.Key(k.key.name, k.key.key); ok && claims.Allows(need.claim) {
			return nil
		}
	}
	at := sas.Resource{Path: need.node.String(), Entity: need.node.path, Host: k.means}
	now := time.Now()
	// A token opens its path and everything below. Ask from the path upwards.
	for path := strings.ToLower(at.Path); ; path = path[:max(strings.LastIndexByte(path, '/'), 0)] {
		if t, ok := k.held[path]; ok {
			if g, err := k.ring.Verify(t.text, at, now); err == nil && g.Claims.Allows(need.claim) {
				return nil
			}
		}
		if path == "" {
			break
		}
	}
	return &emulator.Error{Code: emulator.CodeUnauthorized, Entity: need.node.path,
		Text: sas.Required(need.claim, k.c.peer.host(k.c.ns.Name()), need.node.path)}
}

// identity returns whose web token opens a path; empty: nobody's.
func (k *credentials) identity(path string) string {
	for path = strings.ToLower(path); ; path = path[:max(strings.LastIndexByte(path, '/'), 0)] {
		if t, ok := k.held[path]; ok && t.web {
			return t.owner
		}
		if path == "" {
			return ""
		}
	}
}

// allow authorizes a link, which keeps the right only until the token expires.
func (l *link) allow(need right) error {
	if !l.s.c.tokens.checked() {
		return nil
	}
	l.rights = append(l.rights, need)
	return l.s.c.tokens.authorize(need)
}

// expire closes a connection that has shown no token in time, and detaches links whose right has expired with a token
// (ERR-3). Both follow the real clock (DEC-35).
func (k *credentials) expire(now time.Time) {
	if !k.by.IsZero() && !now.Before(k.by) {
		k.c.close(connErrorf(amqp.CondUnauthorized,
			"The connection has shown no valid token within %d seconds: put one to %s.",
			int(k.c.srv.options.FirstToken.Seconds()), addressCBS))
		return
	}
	if k.next.IsZero() || now.Before(k.next) {
		return
	}
	k.next = time.Time{}
	for path, t := range k.held {
		if !now.Before(t.until) {
			delete(k.held, path)
		} else if k.next.IsZero() || t.until.Before(k.next) {
			k.next = t.until
		}
	}
	k.recheck("")
}

// recheck detaches the links at a path, or below it, that have lost their right: a token has expired, or the holder of
// a renewed one has lost a role.
func (k *credentials) recheck(path string) {
	for l := range k.c.sessions.links {
		for _, need := range l.rights {
			if l.state != linkAttached {
				break
			}
			at := strings.ToLower(need.node.String())
			if path != "" && at != path && !strings.HasPrefix(at, path+"/") {
				continue
			}
			if err := k.authorize(need); err != nil {
				l.forceDetach("RenewToken", err.Error()+".")
			}
		}
	}
}

// nextDue returns when expire has something to do; zero: never.
func (k *credentials) nextDue() time.Time {
	if k.by.IsZero() || !k.next.IsZero() && k.next.Before(k.by) {
		return k.next
	}
	return k.by
}

// Limits of an unauthenticated connection: one that has not shown a valid token yet, where tokens are checked. There
// may be few of them and they get little, since any client can open one.
const (
	unauthenticatedSessions = 128      // Java begins one for each entity before its first token is put
	unauthenticatedLinks    = 32       // a pair to $cbs, and to the coordinator, which asks for no token
	unauthenticatedAssembly = 0        // bytes of unfinished deliveries beyond the largest single one
	unauthenticatedReplies  = 64 << 10 // bytes written but not sent above which no frame is read
)

// unauthenticated reports whether the connection still has to show a token.
func (k *credentials) unauthenticated() bool { return !k.by.IsZero() }

// limit returns the limit that counts for the connection now.
func (k *credentials) limit(limit, unauthenticated int) int {
	if k.unauthenticated() {
		return unauthenticated
	}
	return limit
}

// limitReason returns the end of a sentence about such a limit.
func (k *credentials) limitReason() string {
	if k.unauthenticated() {
		return ", and can't have more before a token was put to " + addressCBS
	}
	return ""
}

// markAuthenticated notes that the connection has shown a token or key.
func (k *credentials) markAuthenticated() {
	if k.unauthenticated() {
		k.by = time.Time{}
		s := k.c.srv
		s.mu.Lock()
		defer s.mu.Unlock()
		s.removeUnauthenticated(k.c)
	}
}

// errTooManyUnauthenticated ends the oldest of them.
var errTooManyUnauthenticated = amqpError{condition: amqp.CondResourceLimit,
	text: "Too many connections have shown no token yet; the oldest of them is closed. " +
		"Connect again and put a token to " + addressCBS + "."}

// addUnauthenticated counts a new connection. It returns the one to close if there are too many: the oldest, since a
// client with a token shows it at once. The caller holds mu.
func (s *Server) addUnauthenticated(c *conn) (oldest *conn) {
	c.unauthenticatedElement = s.unauthenticated.PushBack(c)
	if most := s.options.MaxUnauthenticated; most > 0 && s.unauthenticated.Len() > most {
		oldest = s.unauthenticated.Front().Value.(*conn)
		s.removeUnauthenticated(oldest)
	}
	return oldest
}

// removeUnauthenticated takes a connection out of the count, if it is in it. The caller holds mu.
func (s *Server) removeUnauthenticated(c *conn) {
	if c.unauthenticatedElement != nil {
		s.unauthenticated.Remove(c.unauthenticatedElement)
		c.unauthenticatedElement = nil
	}
}

// evict closes an unauthenticated connection in favour of a newer one. The close is sent, but the server does not wait
// for the peer's.
func (c *conn) evict() {
	c.evicted.Store(true)
	c.post(func() {
		switch {
		case !c.tokens.unauthenticated(): // it has shown a token meanwhile
		case c.state == stateWaiting:
			c.log.ended("connection", errTooManyUnauthenticated)
			c.dead = errTooManyUnauthenticated
		case c.state == stateOpen:
			c.close(errTooManyUnauthenticated)
			c.state = stateClosed
		}
	})
	c.interrupt()
}
