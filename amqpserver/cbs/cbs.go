package cbs

import (
	"fmt"
	"strings"
	"time"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/entitypath"
)

// Policy is what the caller decides about a token.
type Policy struct {
	// Exists reports whether there is an entity with that path, or a topic of which the path names a subscription: a missing
	// subscription is refused at the attach and not here (ERR-4). The path has neither a host nor nodes such as $management.
	Exists func(path string) bool

	// Authorize checks a token for the path of its audience; an error is the refusal, and its text reaches the client.
	// What it returns becomes the grant's, for what the client says of the expiry is not signed. A nil Authorize accepts
	// any token (DEC-10).
	Authorize func(path, token string) (Checked, error)

	// Refused is told of each request that is answered with an error, so that the caller can log it; the text is
	// the one that the client gets, and audience is empty when the request names none. May be nil.
	Refused func(audience, text string)
}

// Checked is what a token is found to be worth.
type Checked struct {
	Path    string    // what it opens: the audience's path or less
	Expires time.Time // when it ends; zero: the client did not say, and nobody checked
}

// Grant is what an accepted token entitles its connection to. A later grant for the same path replaces it.
type Grant struct {
	Audience string // as the client wrote it
	Kind     string // of the token, as the client says; may be empty
	Token    string
	Checked  // without a check: the path of the audience, empty for the whole namespace, and the expiry that the client says
}

// IsJWT reports whether the token is a web token, whose issuer nobody here can ask. Clients also say so of signatures.
func (g *Grant) IsJWT() bool {
	return strings.HasSuffix(strings.ToLower(g.Kind), "jwt") && !strings.HasPrefix(strings.ToLower(g.Token), "sharedaccesssignature")
}

// Handle answers one request: resp is the complete encoded response, whose correlation-id is the request's message-id
// with the same type and value. g is nil when the token was refused. Handle keeps nothing of req.
func Handle(req *message.Message, p Policy) (resp []byte, g *Grant) {
	id := req.RequestID()
	t, refused := parsePutToken(req)
	var checked Checked
	if refused == nil {
		checked, refused = p.check(t)
	}
	if refused != nil {
		if p.Refused != nil {
			p.Refused(t.audience, refused.description)
		}
		return refused.encode(id), nil
	}
	accepted := status{code: statusAccepted, description: "Accepted"}
	return accepted.encode(id), &Grant{Audience: t.audience, Kind: t.kind, Token: t.token, Checked: checked}
}

// check applies the policy: the token first, so that who has none that counts does not learn what exists. An audience without an entity is
// the namespace itself, which always exists.
func (p Policy) check(t putToken) (Checked, *status) {
	path := audiencePath(t.audience)
	checked := Checked{Path: path, Expires: t.expiry}
	if p.Authorize != nil {
		var err error
		if checked, err = p.Authorize(path, t.token); err != nil {
			return Checked{}, &status{code: statusUnauthorized, condition: amqp.CondUnauthorized, description: err.Error()}
		}
	}
	if entity := entitypath.Entity(path); entity != "" && p.Exists != nil && !p.Exists(entity) {
		return Checked{}, &status{
			code:        statusNotFound,
			condition:   amqp.CondNotFound,
			description: fmt.Sprintf("The messaging entity '%s' could not be found.", address(t.audience)),
		}
	}
	return checked, nil
}
