package mgmt

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"minibus/emulator"
	"minibus/internal/loglimit"
	"minibus/internal/sas"
	"minibus/mgmt/control"
	"minibus/mgmt/control/api"
)

// authorize fails unless the request's token gives a claim on an entity; the error is a *problem to answer
// with. The path is the entity's own, without /messages, sub-queues and the like.
func (h *handler) authorize(x *request, need sas.Claims, path string) error {
	_, err := h.granted(x, need, path)
	return err
}

// granted is authorize with what the token gives a right to.
func (h *handler) granted(x *request, need sas.Claims, path string) (sas.Grant, error) {
	g, err := h.verify(x, path)
	if err == nil && !g.Claims.Allows(need) {
		err = problemf(http.StatusUnauthorized, "%s ", sas.Required(need, x.r.Host, path))
	}
	return g, err
}

// everything is the grant of every request where tokens are not checked (DEC-10).
var everything = sas.Grant{Claims: sas.Manage | sas.Send | sas.Listen}

// verify checks the token of a request. Its policy may be that of the request's namespace or, if path is not empty,
// that entity's. The token must be for the request's own path or for a path above it: clients sign the whole address,
// or less.
func (h *handler) verify(x *request, path string) (sas.Grant, error) {
	token := x.r.Header.Get("Authorization")
	if h.options.Access == nil {
		if isBearer(token) && h.options.Unverified != nil {
			h.options.Unverified()
		}
		return everything, nil
	}
	g, err := h.check(x, token, sas.Resource{Path: x.r.URL.Path, Entity: path})
	if err != nil {
		return sas.Grant{}, h.unverified(x.r, err)
	}
	x.w.Header().Del("Connection") // see closing
	return g, nil
}

// check checks a token with the keys of the request's namespace. A token that names another one is refused.
func (h *handler) check(x *request, token string, at sas.Resource) (sas.Grant, error) {
	at.Host = func(host string) bool { return h.means(x, host) }
	ring := h.options.Access(x.ns)
	scheme, _, two := strings.Cut(token, " ")
	isBare := !two && strings.Count(token, ".") == 2 // Go's client leaves the word Bearer out
	if ring.TakesIdentities() && token != "" && !isBearer(token) && !isBare &&
		!strings.EqualFold(scheme, "SharedAccessSignature") {
		return sas.Grant{}, &sas.TokenError{Reason: sas.Malformed, Text: "MalformedToken: Invalid authorization " +
			"header: The request is missing WRAP authorization credentials."}
	}
	return ring.Verify(token, at, time.Now())
}

// controlling lets through requests to the control API: with a token of a policy of the default namespace that may
// manage it, and with each web token, of which gate says what it opens. The document is for all. A request that lasts
// longer than its token ends with it.
func (h *handler) controlling(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := h.request(w, r)
		err := h.useDefault(x)
		var g sas.Grant
		if err == nil {
			g, err = h.verify(x, "")
		}
		if err == nil && !g.Web && !g.Claims.Allows(sas.Manage) {
			err = unmanaged(x)
		}
		switch {
		case r.URL.Path == control.DocumentPath:
		case err != nil:
			control.Refuse(w, refusal(err))
			return
		case h.options.Access != nil:
			r = control.Guarded(r, h.gate(x, g))
		}
		if !g.Until.IsZero() {
			ctx, cancel := context.WithDeadlineCause(r.Context(), g.Until, control.ErrTokenExpired)
			defer cancel()
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

// gate returns what a token opens in the control API, of which g is the grant in the default namespace. A key of the
// default namespace opens all namespaces but those that take no keys. A web token opens those that its holder may
// manage, and what concerns the whole process if the default one is among them.
func (h *handler) gate(x *request, g sas.Grant) control.Gate {
	return func(ns *emulator.Namespace) *api.Error {
		switch {
		case ns == nil || ns == x.ns:
			if g.Claims.Allows(sas.Manage) {
				return nil
			}
		case !g.Web && h.options.Access(ns).KeysAreOff():
			return refusal(h.unverified(x.r, &sas.TokenError{Reason: sas.KeysOff, KeyName: g.KeyName}))
		case !g.Web:
			return nil
		default:
			there := *x
			there.ns = ns
			its, err := h.check(&there, x.r.Header.Get("Authorization"), sas.Resource{Path: x.r.URL.Path})
			if err == nil && its.Claims.Allows(sas.Manage) {
				return nil
			}
		}
		return refusal(unmanaged(x))
	}
}

func unmanaged(x *request) error {
	return problemf(http.StatusUnauthorized, "%s ", sas.Required(sas.Manage, x.r.Host, ""))
}

// refusal is an error as the control API answers it.
func refusal(err error) *api.Error {
	p := problemOf(err)
	return &api.Error{Status: p.status, Detail: withoutSubCode(p.detail)}
}

// closing ends, where tokens are checked, the connection of each request for which verify finds no valid token. So a
// client without one keeps no idle connection.
func (h *handler) closing(next http.Handler) http.Handler {
	if h.options.Access == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		next.ServeHTTP(w, r)
	})
}

// keeping takes back what closing set, for a connection that becomes a WebSocket: its tokens come later, over AMQP.
func keeping(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Del("Connection")
		next.ServeHTTP(w, r)
	})
}

// isBearer reports whether the token is a web token and not a signature.
func isBearer(token string) bool {
	scheme, _, _ := strings.Cut(token, " ")
	return strings.EqualFold(scheme, "Bearer")
}

// unverified logs a refused token and returns the answer, in the service's words (management-rest 5.3). Only the log
// has the reason; the client gets the same answer for an unknown policy and a wrong key.
func (h *handler) unverified(r *http.Request, err error) error {
	var refused *sas.TokenError
	if errors.As(err, &refused) && h.options.Refusals.Take(loglimit.Token+" "+refused.Reason.String()) {
		h.options.Logger.Warn("token refused", "operation", r.Method, "entity", sas.Clip(r.URL.Path), "policy",
			sas.Clip(refused.KeyName),
			"reason", refused.Reason.String())
	}
	return problemf(http.StatusUnauthorized, "%s ", err.Error())
}

// mayForward reports whether a request may make an entity forward to target. That needs the right to manage the
// target too: by the token in the given header or, without one, by the policy of the request's main token
// (management-rest 1.4).
func (h *handler) mayForward(x *request, main sas.Grant, header, target string) bool {
	if h.options.Access == nil {
		return true
	}
	g := main
	if token := x.r.Header.Get(header); token != "" {
		var err error
		if g, err = h.check(x, token, sas.Resource{Path: target, Entity: target, ByName: true}); err != nil {
			_ = h.unverified(x.r, err)
			return false
		}
	} else if g.Web { // its holder's roles at the target count
		var err error
		at := sas.Resource{Path: target, Entity: target}
		if g, err = h.check(x, x.r.Header.Get("Authorization"), at); err != nil {
			return false
		}
	} else if !g.Governs(target) {
		return false
	}
	return g.Claims.Allows(sas.Manage)
}
