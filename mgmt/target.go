package mgmt

import (
	"net/url"
	"strings"

	"minibus/internal/entitypath"

	"github.com/google/uuid"
)

// targetKind is the kind of thing that a path of the administration API names.
type targetKind uint8

const (
	targetRoot          targetKind = iota
	targetEntity                   // a queue or a topic
	targetSubscription             // topic/Subscriptions/name
	targetRule                     // topic/Subscriptions/name/Rules/name
	targetNamespace                // $namespaceinfo
	targetQueues                   // $Resources/queues
	targetTopics                   // $Resources/topics
	targetOthers                   // $Resources/EventHubs and other lists that are empty here
	targetSubscriptions            // topic/Subscriptions
	targetRules                    // topic/Subscriptions/name/Rules
	targetNone                     // a path of the service's own, such as that of a dead-letter queue, or of Minibus
)

// target is the entity or list that a request names.
type target struct {
	kind         targetKind
	list         string // title of the feed of targetOthers
	entity       string // path of the queue or topic, decoded
	subscription string
	rule         string
	messages     []string // the runtime API's suffix: messages, messages/head or messages/id/token
	messaging    string   // the path before it, of a queue, topic, subscription or sub-queue
}

// String returns the path, for texts, as the broker names it (DEC-9).
func (t target) String() string {
	s := strings.ToLower(t.entity)
	for _, part := range []string{t.subscription, t.rule} {
		if part != "" {
			s += "|" + part
		}
	}
	return s
}

// parseTarget reads an encoded path. It cuts segments before it decodes them, so that an encoded slash in the id of a
// message or the name of a subscription stays part of it. In the path of a queue or topic an encoded slash counts as
// a plain one, or a client could name a subscription as if it were a queue. Keywords are matched without case.
func parseTarget(escaped string) target {
	segments := strings.Split(strings.TrimPrefix(escaped, "/"), "/")
	if n := len(segments); n > 1 && segments[n-1] == "" {
		segments = segments[:n-1] // a trailing slash
	}
	for i, s := range segments {
		if d, err := url.PathUnescape(s); err == nil {
			segments[i] = d
		}
	}
	if len(segments) == 1 && segments[0] == "" {
		return target{kind: targetRoot}
	}
	if t, ok := reserved(segments); ok {
		return t
	}
	t := named(segments)
	if t.messages == nil && (t.kind == targetEntity || t.kind == targetNone) {
		return named(strings.Split(t.entity, "/"))
	}
	return t
}

// reserved finds the lists and the namespace.
func reserved(segments []string) (target, bool) {
	switch n := len(segments); {
	case n == 1 && strings.EqualFold(segments[0], "$namespaceinfo"):
		return target{kind: targetNamespace}, true
	case n == 2 && strings.EqualFold(segments[0], resources) && strings.EqualFold(segments[1], "queues"):
		return target{kind: targetQueues}, true
	case n == 2 && strings.EqualFold(segments[0], resources) && strings.EqualFold(segments[1], "topics"):
		return target{kind: targetTopics}, true
	case n == 2 && strings.EqualFold(segments[0], resources):
		for _, list := range otherResources {
			if strings.EqualFold(segments[1], list) {
				return target{kind: targetOthers, list: list}, true
			}
		}
	}
	return target{}, false
}

const resources = "$Resources"

// otherResources are lists of what other kinds of namespaces have. Tools that know all kinds ask for them.
var otherResources = []string{"EventHubs", "NotificationHubs", "Relays"}

// isOwn reports whether a path belongs to the service or to Minibus. Any other path names a queue or topic, which does
// not exist if the path begins with $ (DEC-9).
func isOwn(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	for _, own := range []string{resources, "$namespaceinfo", "$cbs", "$minibus"} {
		if strings.EqualFold(first, own) {
			return true
		}
	}
	return entitypath.Entity(path) != path
}

// named finds the entity. A name may contain the keywords; the last ones count.
func named(s []string) target {
	n := len(s)
	is := func(i int, keyword string) bool { return i > 0 && strings.EqualFold(s[i], keyword) }
	join := func(upTo int) string { return strings.Join(s[:upTo], "/") }
	var t target
	switch {
	case is(n-2, entitypath.Rules) && is(n-4, entitypath.Subscriptions):
		t = target{kind: targetRule, entity: join(n - 4), subscription: s[n-3], rule: s[n-1]}
	case is(n-2, entitypath.Subscriptions):
		t = target{kind: targetSubscription, entity: join(n - 2), subscription: s[n-1]}
	case is(n-1, entitypath.Rules) && is(n-3, entitypath.Subscriptions):
		t = target{kind: targetRules, entity: join(n - 3), subscription: s[n-2]}
	case is(n-1, entitypath.Subscriptions):
		t = target{kind: targetSubscriptions, entity: join(n - 1)}
	default:
		t = target{kind: targetEntity, entity: join(n), messages: messagesSuffix(s)}
	}
	if t.messages == nil && n > 3 && is(n-3, "messages") && uuid.Validate(s[n-1]) == nil {
		t.messages = s[n-3:] // the message's id is one of the keywords
	}
	t.messaging = join(n - len(t.messages))
	if isOwn(t.entity) {
		t.kind = targetNone
	}
	return t
}

// messagesSuffix finds the runtime API's suffix of a path, or nil. isRuntime decides by the method whether it is one
// or part of an entity's name. The shortest one counts: no lock token reads "messages" or "head".
func messagesSuffix(s []string) []string {
	for n := 1; n <= min(3, len(s)-1); n++ {
		tail := s[len(s)-n:]
		if strings.EqualFold(tail[0], "messages") && (n != 2 || strings.EqualFold(tail[1], "head")) {
			return tail
		}
	}
	return nil
}
