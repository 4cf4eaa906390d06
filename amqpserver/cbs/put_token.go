package cbs

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"minibus/internal/amqp"
	"minibus/internal/amqp/message"
	"minibus/internal/printable"
)

const operationPutToken = "put-token"

// putToken holds the content of a put-token request.
type putToken struct {
	audience string    // application property name
	kind     string    // application property type; empty when absent
	token    string    // the body
	expiry   time.Time // application property expiration; zero when absent or 0
}

// parsePutToken reads a request. Every SDK writes it in another way: the expiry is a string of seconds,
// a timestamp or missing, and the token may be binary. Errors are returned as the status to answer.
func parsePutToken(req *message.Message) (putToken, *Status) {
	var t putToken
	operation, bad := textProperty(req, "operation", true)
	if bad != nil {
		return t, bad
	}
	if operation != operationPutToken {
		return t, &Status{
			Code:      statusNotImplemented,
			Condition: amqp.CondNotImplemented,
			Text: fmt.Sprintf("The operation '%s' is not implemented by $cbs; it serves '%s'.",
				operation, operationPutToken),
		}
	}
	if t.audience, bad = textProperty(req, "name", true); bad != nil {
		return t, bad
	}
	if t.kind, bad = textProperty(req, "type", false); bad != nil {
		return t, bad
	}
	if t.expiry, bad = expiration(req); bad != nil {
		return t, bad
	}
	t.token, bad = bodyText(req)
	return t, bad
}

func textProperty(req *message.Message, key string, required bool) (string, *Status) {
	v, _ := req.ApplicationProperty(key)
	if v == nil {
		if required {
			return "", argumentError("The application property '%s' is missing; expected a string.", key)
		}
		return "", nil
	}
	text, ok := amqp.AsString(v)
	if !ok || required && text == "" {
		return "", argumentError("The application property '%s' is %s; expected a string.", key, found(v))
	}
	return text, nil
}

// expiration reads the expiry in its three forms. A client sends zero for a token whose expiry it does not
// know, for example a ready-made signature.
func expiration(req *message.Message) (time.Time, *Status) {
	v, _ := req.ApplicationProperty("expiration")
	if v == nil {
		return time.Time{}, nil
	}
	if at, ok := v.(amqp.Timestamp); ok {
		return time.UnixMilli(int64(at)).UTC(), nil
	}
	seconds, ok := amqp.AsInt64(v)
	if text, isText := amqp.AsString(v); !ok && isText {
		n, err := strconv.ParseInt(text, 10, 64)
		seconds, ok = n, err == nil
	}
	if !ok {
		return time.Time{}, argumentError(
			"The application property 'expiration' is %s; expected a timestamp or a number of seconds.", found(v))
	}
	if seconds == 0 {
		return time.Time{}, nil
	}
	return time.Unix(seconds, 0).UTC(), nil
}

func bodyText(req *message.Message) (string, *Status) {
	if !req.Body.Empty() {
		v, _, err := amqp.Decode(req.Bytes(req.Body))
		if err != nil {
			return "", argumentError("The body of the request cannot be decoded: %v.", err)
		}
		d, _ := v.(amqp.Described)
		if text, ok := amqp.AsString(d.Value); ok {
			return text, nil
		}
	}
	return "", argumentError("The body of the request holds no token; expected an amqp-value section with a string.")
}

// found describes a value for an error text, cut to a length that no valid value reaches.
func found(v any) string {
	const most = 64
	switch v.(type) {
	case amqp.List, amqp.Map, amqp.Array, amqp.Described:
		return "not a simple value"
	}
	text, isText := amqp.AsString(v)
	if !isText {
		text = fmt.Sprint(v)
	}
	text = printable.Clip(text, most)
	if isText {
		text = strconv.Quote(text)
	}
	return text
}

// splitAudience returns the host of an audience, with its port if there is one, and the path, percent-decoded and
// without slashes at its ends. It takes any scheme (SDKs write sb, amqp and amqps) in any case. It keeps sub-paths
// such as "/$management" or "/Subscriptions/sub", and the case of letters. An audience without a scheme is a path
// already. The path is empty if the audience is a whole namespace.
func splitAudience(audience string) (host, path string) {
	rest := strings.TrimSpace(audience)
	if _, after, ok := strings.Cut(rest, "://"); ok {
		host, rest, _ = strings.Cut(after, "/")
	}
	rest, _, _ = strings.Cut(rest, "?")
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	return host, strings.Trim(rest, "/")
}

// address returns the audience as the service repeats it in its texts: always with the scheme sb, and with the host and
// path that the client wrote (ERR-4, DEC-11).
func address(audience string) string {
	host, path := splitAudience(audience)
	return "sb://" + host + "/" + path
}
