package sas

import (
	"net/url"
	"strings"
)

// nodes are the names below an entity that belong to it.
var nodes = []string{"/$management", "/$deadletterqueue", "/$transfer"}

// EntityOf strips the nodes that every entity has from a path: of orders/$DeadLetterQueue/$management it leaves orders. Of
// the path of a subscription it leaves all, for a queue's name may have any segments.
func EntityOf(path string) string {
	path = "/" + strings.Trim(path, "/") // so that a path that is nothing but a node loses it too
	for _, node := range nodes {
		if at := len(path) - len(node); at >= 0 && strings.EqualFold(path[at:], node) {
			path = path[:at]
		}
	}
	return strings.TrimPrefix(path, "/")
}

// resourcePath is the lower-case path of a resource: without scheme, host, query, fragment and slashes at its ends, decoded. A
// resource without a scheme is a bare host with an optional path.
func resourcePath(resource string) string {
	if i := strings.IndexAny(resource, "?#"); i >= 0 {
		resource = resource[:i]
	}
	if _, rest, ok := strings.Cut(resource, "://"); ok {
		resource = rest
	}
	_, path, _ := strings.Cut(resource, "/")
	return clean(path)
}

// clean makes paths comparable.
func clean(path string) string {
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	return strings.Trim(strings.ToLower(path), "/")
}

// within reports whether a cleaned path is another one or lies below it. Everything is within the empty path.
func within(path, above string) bool {
	return above == "" || path == above || strings.HasPrefix(path, above+"/")
}
