package amqpserver

import (
	"errors"
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

// credentials holds what a connection has shown where tokens are checked. It belongs to the loop.
type credentials struct {
	// held has the tokens by the lower-case path that each opens. Every use verifies them again, so a changed policy
	// counts at once.
	held map[string]heldToken
	next time.Time // when the first of them expires; zero: never

	key *namedKey // shown in the SASL layer; nil: none
	by  time.Time // deadline for the first token; zero: one was shown, or none is needed (ERR-3)
}

// heldToken is a token that the client put to $cbs.
type heldToken struct {
	text  string
	until time.Time
}

// namedKey is a key that a client showed as user name and password.
type namedKey struct{ name, key string }

// takeKey takes a policy's name and key as user name and password [RFC 4616]; they stand for tokens that never expire. It must be
// a policy of the namespace, since the entity is not known yet. Without a check of tokens any name and password will do.
func (c *conn) takeKey(response []byte) bool {
	ring := c.srv.options.Access
	if ring == nil {
		return true
	}
	_, rest, _ := strings.Cut(string(response), "\x00")
	name, key, _ := strings.Cut(rest, "\x00")
	if _, ok := ring.Key(name, key); !ok {
		return false
	}
	c.shown.key = &namedKey{name, key}
	c.introduce()
	return true
}

// tokenPolicy says how $cbs treats a token. The log says more than the client learns: whether the policy is unknown or the key wrong.
func (c *conn) tokenPolicy() cbs.Policy {
	var wrong sas.TokenError
	p := cbs.Policy{
		Exists: c.srv.ns.Exists,
		Refused: func(audience, text string) {
			kind, line := loglimit.Token, []any{"operation", "put-token", "entity", sas.Clip(audience), "reason", sas.Clip(text)}
			if wrong.Reason != 0 {
				kind += " " + wrong.Reason.String()
				line = append(line, "policy", sas.Clip(wrong.KeyName), "token", wrong.Reason.String())
			}
			if c.srv.options.Refusals.Take(kind) {
				c.log.Warn("token refused", line...)
			}
		},
	}
	if c.srv.options.Access == nil {
		return p
	}
	p.Authorize = func(path, token string) (cbs.Checked, error) {
		checked, err := c.verifyToken(path, token)
		var refused *sas.TokenError
		if errors.As(err, &refused) {
			wrong = *refused
		}
		return checked, err
	}
	return p
}

// verifyToken checks a token for the path of its audience. A token for the whole namespace opens the path that it names
// itself, which may be less: an audience without a path is never refused as too wide (amqp-data-plane 2.3).
func (c *conn) verifyToken(path, token string) (cbs.Checked, error) {
	ring, now := c.srv.options.Access, time.Now()
	if len(path) > maxNames {
		return cbs.Checked{}, &sas.TokenError{Reason: sas.Audience}
	}
	var g sas.Grant
	var err error
	if path == "" {
		g, err = ring.VerifyOwn(token, now)
		path = g.Path
	} else {
		g, err = ring.Verify(token, sas.Resource{Path: path, Entity: entitypath.Entity(path)}, now)
	}
	return cbs.Checked{Path: path, Expires: g.Until}, err
}

// remember keeps a token. At the limit it drops the token that expires first.
func (c *conn) remember(g *cbs.Grant) {
	if c.srv.options.Access == nil {
		if g.IsJWT() && c.srv.options.Unverified != nil {
			c.srv.options.Unverified()
		}
		return
	}
	held := &c.shown
	if held.held == nil {
		held.held = make(map[string]heldToken)
	}
	path := strings.ToLower(g.Path)
	if _, again := held.held[path]; !again && len(held.held) >= maxTokens {
		held.dropFirst()
	}
	held.held[path] = heldToken{text: g.Token, until: g.Expires}
	c.introduce()
	if held.next.IsZero() || g.Expires.Before(held.next) {
		held.next = g.Expires
	}
	c.arm(c.peer.heartbeat() - time.Since(c.out.last))
}

// dropFirst forgets the token that expires first.
func (k *credentials) dropFirst() {
	var first string
	var until time.Time
	for path, t := range k.held {
		if until.IsZero() || t.until.Before(until) {
			first, until = path, t.until
		}
	}
	delete(k.held, first)
}

// authorize fails with the service's refusal unless the connection has shown a token or key that gives it the right (ERR-1). If
// tokens are not checked, every client may do everything (DEC-10).
func (c *conn) authorize(need right) error {
	ring := c.srv.options.Access
	if ring == nil {
		return nil
	}
	if k := c.shown.key; k != nil {
		if claims, ok := ring.Key(k.name, k.key); ok && claims.Allows(need.claim) {
			return nil
		}
	}
	at, now := sas.Resource{Path: need.node.String(), Entity: need.node.path}, time.Now()
	// A token opens its path and everything below. Ask from the path upwards.
	for path := strings.ToLower(at.Path); ; path = path[:max(strings.LastIndexByte(path, '/'), 0)] {
		if t, ok := c.shown.held[path]; ok {
			if g, err := ring.Verify(t.text, at, now); err == nil && g.Claims.Allows(need.claim) {
				return nil
			}
		}
		if path == "" {
			break
		}
	}
	return &emulator.Error{Code: emulator.CodeUnauthorized, Entity: need.node.path,
		Text: sas.Required(need.claim, c.peer.host(c.srv.ns.Name()), need.node.path)}
}

// allow authorizes a link, which keeps the right only until the token expires.
func (l *link) allow(need right) error {
	if l.s.c.srv.options.Access == nil {
		return nil
	}
	l.rights = append(l.rights, need)
	return l.s.c.authorize(need)
}

// checkTokens closes a connection that has shown no token in time, and detaches links whose right has expired with a token
// (ERR-3). Both follow the real clock (DEC-35).
func (c *conn) checkTokens(now time.Time) {
	k := &c.shown
	if !k.by.IsZero() && !now.Before(k.by) {
		c.close(connErrorf(amqp.CondUnauthorized, "The connection has shown no valid token within %d seconds: put one to %s.",
			int(c.srv.options.FirstToken.Seconds()), addressCBS))
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
	for _, s := range c.sessions {
		for _, e := range s.links {
			if e.base().state == linkAttached {
				s.recheck(e)
			}
		}
	}
}

// recheck detaches a link that has lost a right, with the service's condition and words.
func (s *session) recheck(e endpoint) {
	l := e.base()
	for _, need := range l.rights {
		if err := s.c.authorize(need); err != nil {
			s.detach(e, fault{condition: amqp.CondDetachForced, entity: l.entity(),
				text: "The link '" + l.name + "' is force detached. Code: RenewToken. Details: " + err.Error() + "."})
			return
		}
	}
}

// nextDue returns when checkTokens has something to do; zero: never.
func (k *credentials) nextDue() time.Time {
	if k.by.IsZero() || !k.next.IsZero() && k.next.Before(k.by) {
		return k.next
	}
	return k.by
}

// arm sets the loop's timer to wait from now, or to the next deadline of a token if that comes first.
func (c *conn) arm(wait time.Duration) {
	if due := c.shown.nextDue(); !due.IsZero() {
		wait = min(wait, time.Until(due))
	}
	c.timer.Reset(max(wait, time.Millisecond))
}
