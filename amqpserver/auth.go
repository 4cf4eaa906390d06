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

// right is something that a link, or a request on it, needs.
type right struct {
	node  node
	claim sas.Claims // empty: any
}

// credentials is what a connection has shown where tokens are checked. It belongs to the loop.
type credentials struct {
	// held are the tokens by the lower-case path that each opens. They are verified again whenever something is asked for, so
	// that a policy that has changed counts at once.
	held map[string]heldToken
	next time.Time // when the first of them ends; zero: none does

	key *namedKey // shown in the SASL layer; nil: none
	by  time.Time // when a token must have been shown; zero: one has been, or none is asked for (ERR-3)
}

// heldToken is a token that was put to $cbs.
type heldToken struct {
	text  string
	until time.Time
}

// namedKey is a key that a client showed as user name and password.
type namedKey struct{ name, key string }

// takeKey takes a policy's name and key as user name and password [RFC 4616]; they stand for tokens that never end. It has to be
// a policy of the namespace, for it is not known yet what for. Where tokens are not checked anything will do.
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

// tokenPolicy is what becomes of a token. The log says more than the client learns: whether a policy is unknown or a key wrong.
func (c *conn) tokenPolicy() cbs.Policy {
	var wrong sas.TokenError
	p := cbs.Policy{
		Exists: c.srv.ns.Exists,
		Refused: func(audience, text string) {
			if !c.srv.options.Refusals.Take(loglimit.Token) {
				return
			}
			log := c.log
			if wrong.Reason != 0 {
				log = log.With("policy", sas.Clip(wrong.KeyName), "token", wrong.Reason.String())
			}
			log.Warn("token refused", "operation", "put-token", "entity", sas.Clip(audience), "reason", sas.Clip(text))
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

// verifyToken checks a token that is put to $cbs for the path of its audience. One that is put for the whole namespace opens
// what it names itself, which may be less: an audience without a path is never refused for being wide (amqp-data-plane 2.3).
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

// remember keeps a token. The number is bounded; where a client puts more, the one that ends first makes room.
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

// dropFirst forgets the token that ends first.
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

// authorize fails with the service's refusal unless the connection has shown what gives it a right (ERR-1). Without a check
// of tokens anybody may do anything (DEC-10).
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
	// Tokens belong to a path and open what lies below it; the next one above is asked last.
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

// allow is authorize for a link, which keeps the right only as long as it lasts.
func (l *link) allow(need right) error {
	if l.s.c.srv.options.Access == nil {
		return nil
	}
	l.rights = append(l.rights, need)
	return l.s.c.authorize(need)
}

// checkTokens does what tokens bring about at their times: a connection that has never shown one is closed, links whose right
// has ended with a token are detached (ERR-3). Both follow the real clock (DEC-35).
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

// recheck detaches a link that has lost a right. The condition and the words are those that the service's users see.
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

// nextDue is when checkTokens has something to do; zero: never.
func (k *credentials) nextDue() time.Time {
	if k.by.IsZero() || !k.next.IsZero() && k.next.Before(k.by) {
		return k.next
	}
	return k.by
}

// arm sets the loop's timer: to a time from now, or to what tokens bring about before.
func (c *conn) arm(wait time.Duration) {
	if due := c.shown.nextDue(); !due.IsZero() {
		wait = min(wait, time.Until(due))
	}
	c.timer.Reset(max(wait, time.Millisecond))
}
