package cbs

import (
	"fmt"
	"time"

	"minibus/internal/amqp/message"
)

// Policy is what the caller decides about a token.
type Policy struct {
	// Exists reports whether a queue or topic exists. The path has neither host nor sub-path: for
	// "topic/Subscriptions/sub/$management" it is "topic", because a missing subscription is refused at the attach
	// and not here (ERR-4).
	Exists func(path string) bool

	// Authorize checks a token; an error is the refusal, and its text reaches the client. expiry is the zero time
	// when the client named none. A nil Authorize accepts any token and ignores its expiry (DEC-10).
	Authorize func(audience, tokenType, token string, expiry time.Time) error

	// Refused is told of each request that is answered with an error, so that the caller can log it; the text is
	// the one that the client gets, and audience is empty when the request names none. May be nil.
	Refused func(audience, text string)
}

// Grant is what an accepted token entitles its connection to. A later grant for the same path replaces it.
type Grant struct {
	Audience string    // as the client wrote it
	Path     string    // AudiencePath(Audience); empty for the whole namespace
	Expires  time.Time // as the client said; zero when it said nothing
}

// Handle answers one request: resp is the complete encoded response, whose correlation-id is the request's message-id
// with the same type and value. g is nil when the token was refused. Handle keeps nothing of req.
func Handle(req *message.Message, p Policy) (resp []byte, g *Grant) {
	id := correlationID(req)
	t, refused := parsePutToken(req)
	if refused == nil {
		refused = p.check(t)
	}
	if refused != nil {
		if p.Refused != nil {
			p.Refused(t.audience, refused.description)
		}
		return refused.encode(id), nil
	}
	accepted := status{code: statusAccepted, description: "Accepted"}
	return accepted.encode(id), &Grant{Audience: t.audience, Path: AudiencePath(t.audience), Expires: t.expiry}
}

// check applies the policy: the entity first, because a client that asks for a missing entity must learn just that,
// whatever its token is worth. An audience without an entity is the namespace itself, which always exists.
func (p Policy) check(t putToken) *status {
	entity, parent := entityOf(AudiencePath(t.audience))
	if entity != "" && p.Exists != nil && !p.Exists(entity) && (parent == "" || !p.Exists(parent)) {
		return &status{
			code:        statusNotFound,
			condition:   conditionNotFound,
			description: fmt.Sprintf("The messaging entity '%s' could not be found.", address(t.audience)),
		}
	}
	if p.Authorize == nil {
		return nil
	}
	if err := p.Authorize(t.audience, t.kind, t.token, t.expiry); err != nil {
		return &status{code: statusUnauthorized, condition: conditionUnauthorized, description: err.Error()}
	}
	return nil
}
