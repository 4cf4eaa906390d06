package cbs

import (
	"fmt"
	"strings"
	"time"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/entitypath"
	"minibus/internal/printable"
)

// Policy holds the caller's decisions about a token.
type Policy struct {
	// Exists reports whether there is an entity with that path. For the path of a subscription the topic is enough:
	// the attach refuses a missing subscription, not this node (ERR-4). The path has neither a host nor nodes such as
	// $management.
	Exists func(path string) bool

	// Belongs fails for a token, or an audience's host, of another namespace than the connection's. Its text reaches
	// the client. The host is empty if the audience names none. May be nil.
	Belongs func(host, token string) error

	// Authorize checks a token for the path of its audience. An error is the refusal, and its text reaches the client.
	// The result goes into the grant, because the expiry that the client claims is not signed. A nil Authorize accepts
	// any token (DEC-10).
	Authorize func(path, token string) (Checked, error)

	// Injected returns the refusal of an injected fault for a token of that path; nil: none. May be nil.
	Injected func(path string) *Status

	// Refused is called for each request that is answered with an error, for the caller's log. text is
	// what the client gets; audience is empty if the request names none. May be nil.
	Refused func(audience, text string)
}

// Status is the outcome of a request, as in HTTP. The condition is empty on success.
type Status struct {
	Code      int32
	Condition amqp.Symbol
	Text      string
}

// Checked is the result of checking a token.
type Checked struct {
	Path    string    // what it opens: the audience's path or less
	Owner   string    // the name of its policy, or of a web token whose it is
	Web     bool      // it is a web token, whose rights may change
	NoRight bool      // it is valid and gives no right there, so its holder does not learn what exists
	Expires time.Time // zero: the client named no expiry, and the token was not checked
}

// Grant is an accepted token with what it allows. A later grant for the same path replaces it.
type Grant struct {
	Audience string // as the client wrote it
	Kind     string // of the token, as the client says; may be empty
	Token    string
	Checked  // of an unchecked token: the audience's path, and the expiry that the client claims
}

// IsJWT reports whether the token is a JSON web token, whose issuer we can't ask. Some clients call signatures jwt
// too; those don't count.
func (g *Grant) IsJWT() bool {
	return strings.HasSuffix(strings.ToLower(g.Kind), "jwt") &&
		!strings.HasPrefix(strings.ToLower(g.Token), "sharedaccesssignature")
}

// Handle answers one request. resp is the complete encoded response; its correlation-id is the request's message-id
// with the same type and value. g is nil if the token was refused. Handle keeps nothing of req.
func Handle(req *message.Message, p Policy) (resp []byte, g *Grant) {
	id := req.RequestID()
	t, refused := parsePutToken(req)
	var checked Checked
	if refused == nil {
		checked, refused = p.check(t)
	}
	if refused != nil {
		if p.Refused != nil {
			p.Refused(t.audience, refused.Text)
		}
		return refused.encode(id), nil
	}
	accepted := Status{Code: statusAccepted, Text: "Accepted"}
	return accepted.encode(id), &Grant{Audience: t.audience, Kind: t.kind, Token: t.token, Checked: checked}
}

// check applies the policy. It checks the token first, so that a client without a valid one does not learn what
// exists. An audience without an entity is the namespace itself, which always exists.
func (p Policy) check(t putToken) (Checked, *Status) {
	host, path := splitAudience(t.audience)
	checked := Checked{Path: path, Expires: t.expiry}
	var err error
	if p.Belongs != nil {
		err = p.Belongs(host, t.token)
	}
	if p.Injected != nil && err == nil {
		if r := p.Injected(path); r != nil {
			return Checked{}, r
		}
	}
	if p.Authorize != nil && err == nil {
		checked, err = p.Authorize(path, t.token)
	}
	if err != nil {
		return Checked{}, &Status{Code: statusUnauthorized, Condition: amqp.CondUnauthorized, Text: err.Error()}
	}
	if entity := entitypath.Entity(path); !checked.NoRight && entity != "" && p.Exists != nil && !p.Exists(entity) {
		return Checked{}, &Status{
			Code:      statusNotFound,
			Condition: amqp.CondNotFound,
			Text:      fmt.Sprintf("The messaging entity '%s' could not be found.", address(t.audience)),
		}
	}
	return checked, nil
}

// Status codes, as in HTTP.
const (
	statusAccepted       = 202 // one of the two that .NET takes for success
	statusBadRequest     = 400
	statusUnauthorized   = 401
	statusNotFound       = 404
	statusNotImplemented = 501
)

func argumentError(format string, args ...any) *Status {
	return &Status{Code: statusBadRequest, Condition: amqp.CondArgument, Text: fmt.Sprintf(format, args...)}
}

// maxText bounds a description, in bytes: it repeats the audience, which may have any length.
const maxText = 1024

// encode returns the encoded response. On $cbs the keys are written with dashes, which .NET and Python insist on;
// there is no body.
func (s *Status) encode(correlationID any) []byte {
	text := printable.Clip(s.Text, maxText)
	dst := message.AppendReplyProperties(make([]byte, 0, 128+len(text)), correlationID)
	dst, m := message.BeginApplicationProperties(dst)
	dst = amqp.AppendString(dst, "status-code")
	dst = amqp.AppendInt(dst, s.Code)
	dst = amqp.AppendString(dst, "status-description")
	dst = amqp.AppendString(dst, text)
	pairs := 2
	if s.Condition != "" {
		dst = amqp.AppendString(dst, "error-condition")
		dst = amqp.AppendSymbol(dst, s.Condition)
		pairs++
	}
	return amqp.EndMap(dst, m, pairs)
}
