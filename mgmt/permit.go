package mgmt

import (
	"net/http"

	"minibus/internal/sas"
)

// permission says what a request to the administration API may do.
type permission struct {
	*request
	access    *handler // checks tokens
	namespace atomNamespace
	granted   sas.Grant // what the request's token allows
}

// do fails unless the request's token allows the operation. It runs before the rest of the request is read, so that a
// client without rights does not learn what exists. Only the feed of nothing is for every valid token.
func (p *permission) do(method string) error {
	if p.target.kind == targetRoot && method == http.MethodGet {
		return nil // the service shows it to every client
	}
	g, err := p.access.verify(p.request, p.target.entity)
	if err != nil {
		return p.unusable(err)
	}
	p.granted = g
	if g.Claims.Allows(p.needed(method)) {
		return nil
	}
	return p.denied(method)
}

// needed returns the right that an operation needs; 0 means any.
func (p *permission) needed(method string) sas.Claims {
	switch {
	case p.target.kind == targetNamespace:
		return 0
	case p.target.kind == targetRules && method == http.MethodGet:
		return sas.Listen
	}
	return sas.Manage
}

// unusable adds the service's words for a list request with bad credentials.
func (p *permission) unusable(err error) error {
	refusal := problemOf(err)
	k := p.target.kind
	hasToken := p.r.Header.Get("Authorization") != ""
	isList := k == targetQueues || k == targetTopics || k == targetOthers
	if refusal.status == http.StatusUnauthorized && hasToken && isList {
		return problemf(refusal.status, "claim is empty or token is invalid. %s", refusal.detail)
	}
	return refusal
}

// operationNames has the service's words for operations that need the right to manage.
var operationNames = map[targetKind]map[string]string{
	targetSubscription: {
		http.MethodGet:    "GetSubscription",
		http.MethodPut:    "CreateOrUpdateSubscription",
		http.MethodDelete: "DeleteSubscription",
	},
	targetRule: {
		http.MethodGet:    "GetRule",
		http.MethodPut:    "CreateOrUpdateRule",
		http.MethodDelete: "DeleteRule",
	},

	targetSubscriptions: {http.MethodGet: "EnumerateSubscriptions"},
	targetRules:         {http.MethodGet: "EnumerateRules", http.MethodPut: "CreateOrUpdateRule"},
}

// denied answers a valid token that does not allow the operation (management-rest 5.3).
func (p *permission) denied(method string) error {
	if p.granted.Claims != 0 && p.target.kind == targetEntity && method == http.MethodGet &&
		p.namespace.Kind(p.target.entity) == 0 {
		return nil // there is nothing to hide
	}
	if name := operationNames[p.target.kind][method]; name != "" {
		return problemf(http.StatusUnauthorized, "401 SubCode=40100: Unauthorized : Unauthorized access for '%s' "+
			"operation on endpoint 'sb://%s%s'. ",
			name, p.r.Host, p.r.URL.EscapedPath())
	}
	switch method {
	case http.MethodPut:
		return problemf(http.StatusUnauthorized, "Authorization failed for specified action: Manage,EntityWrite. ")
	case http.MethodDelete:
		return problemf(http.StatusUnauthorized, "Authorization failed for specified action: Manage,EntityDelete. ")
	}
	return problemf(http.StatusUnauthorized, "Manage,EntityRead claims required for this operation. ")
}

// The headers that carry tokens for the targets of forwarding.
const (
	headerForwardTo   = "ServiceBusSupplementaryAuthorization"
	headerDeadLetters = "ServiceBusDlqSupplementaryAuthorization"
)

// forwarding gives the forwarding targets of a description; an empty path means none.
type forwarding interface {
	ForwardTargets() (forwardTo, deadLetters string)
}

// forward fails unless the request may forward to the targets of its description. tracker names the entity.
func (p *permission) forward(f forwarding, tracker string) error {
	to, deadLetters := f.ForwardTargets()
	if to != "" && !p.access.mayForward(p.request, p.granted, headerForwardTo, to) ||
		deadLetters != "" && !p.access.mayForward(p.request, p.granted, headerDeadLetters, deadLetters) {
		return &problem{status: http.StatusUnauthorized, detail: "SubCode=40100. Unauthorized. ", tracker: tracker}
	}
	return nil
}
