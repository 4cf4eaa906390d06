package entitypath

import "strings"

// The fixed segments of the paths of subscriptions and rules.
const (
	Subscriptions = "Subscriptions"
	Rules         = "Rules"
)

// Subscription returns the path of a subscription.
func Subscription(topic, name string) string { return topic + "/" + Subscriptions + "/" + name }

// SplitSubscription splits the path of a subscription; ok is false for other paths. If the path has several segments
// "Subscriptions" the last one counts, and exactly one segment follows it, which may be empty: a/Subscriptions/b/c is
// the path of a queue or topic.
func SplitSubscription(path string) (topic, name string, ok bool) {
	topic, name, ok = cut(path)
	if !ok || strings.Contains(name, "/") {
		return path, "", false
	}
	return topic, name, true
}

// Root returns the topic of a subscription, and any other path unchanged.
func Root(path string) string {
	root, _, _ := SplitSubscription(path)
	return root
}

// IsReserved reports whether a path reads like that of a subscription or of its rules. No queue or topic may have
// such a path: the two could not be distinguished.
func IsReserved(path string) bool {
	_, rest, ok := cut(path)
	_, below, deeper := strings.Cut(rest, "/")
	first, rule, one := strings.Cut(below, "/")
	return ok && (!deeper || strings.EqualFold(first, Rules) && (!one || rule != ""))
}

// cut splits a path at its last segment "Subscriptions" that follows a topic and precedes a slash.
func cut(path string) (topic, rest string, ok bool) {
	for end := strings.LastIndexByte(path, '/'); end > 0; end = strings.LastIndexByte(path[:end], '/') {
		if topic, ok := cutLast(path[:end], Subscriptions); ok && topic != "" {
			return topic, path[end+1:], true
		}
	}
	return path, "", false
}

// cutLast removes the last segment, or several, and the slash before it.
func cutLast(path, segment string) (rest string, ok bool) {
	at := len(path) - len(segment)
	switch {
	case at < 0 || !strings.EqualFold(path[at:], segment):
		return path, false
	case at == 0:
		return "", true
	case path[at-1] != '/':
		return path, false
	}
	return path[:at-1], true
}
