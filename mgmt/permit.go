package mgmt

import (
	"net/http"

	"minibus/internal/sas"
)

// permit fails unless the request's token allows the operation. It runs before the rest of the request is read, so that a
// client without rights does not learn what exists. Only the feed of nothing is for every valid token.
func (c *call) permit(method string) error {
	if c.target.kind == targetRoot && method == http.MethodGet {
		return nil // the service shows it to every client
	}
	g, err := c.access.verify(c.w, c.r, c.target.entity)
	if err != nil {
		return c.unusable(err)
	}
	c.granted = g
	if g.Claims.Allows(c.needed(method)) {
		return nil
	}
	return c.denied(method)
}

// needed returns the right that an operation needs; 0 means any.
func (c *call) needed(method string) sas.Claims {
	switch {
	case c.target.kind == targetNamespace:
		return 0
	case c.target.kind == targetRules && method == http.MethodGet:
		return sas.Listen
	}
	return sas.Manage
}

// unusable adds the service's words for a list request with bad credentials.
func (c *call) unusable(err error) error {
	p := problemOf(err)
	if k := c.target.kind; p.status == http.StatusUnauthorized && c.r.Header.Get("Authorization") != "" && (k == targetQueues || k == targetTopics) {
		return problemf(p.status, "claim is empty or token is invalid. %s", p.detail)
	}
	return p
}

// operationNames has the service's words for operations that need the right to manage.
var operationNames = map[targetKind]map[string]string{
	targetSubscription: {http.MethodGet: "GetSubscription", http.MethodPut: "CreateOrUpdateSubscription", http.MethodDelete: "DeleteSubscription"},
	targetRule:         {http.MethodGet: "GetRule", http.MethodPut: "CreateOrUpdateRule", http.MethodDelete: "DeleteRule"},

	targetSubscriptions: {http.MethodGet: "EnumerateSubscriptions"},
	targetRules:         {http.MethodGet: "EnumerateRules", http.MethodPut: "CreateOrUpdateRule"},
}

// denied answers a valid token that does not allow the operation (management-rest 5.3).
func (c *call) denied(method string) error {
	if c.target.kind == targetEntity && method == http.MethodGet && c.broker.Kind(c.target.entity) == 0 {
		return nil // there is nothing to hide
	}
	if name := operationNames[c.target.kind][method]; name != "" {
		return problemf(http.StatusUnauthorized, "401 SubCode=40100: Unauthorized : Unauthorized access for '%s' operation on endpoint 'sb://%s%s'. ",
			name, c.r.Host, c.r.URL.EscapedPath())
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

// mayForward fails unless the request may forward to the targets of its description. tracker names the entity.
func (c *call) mayForward(f forwarding, tracker string) error {
	to, deadLetters := f.ForwardTargets()
	if to != "" && !c.access.mayForward(c.r, c.granted, headerForwardTo, to) ||
		deadLetters != "" && !c.access.mayForward(c.r, c.granted, headerDeadLetters, deadLetters) {
		return &problem{status: http.StatusUnauthorized, detail: "SubCode=40100. Unauthorized. ", tracker: tracker}
	}
	return nil
}
