package sas

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"minibus/internal/hostname"
)

// resourcePath returns the decoded lower-case path of a resource, without scheme, host, query, fragment and slashes
// at its ends. It returns false if it can't recognise a host: the rest must not be taken for the whole namespace.
func resourcePath(resource string) (path string, ok bool) {
	_, path, ok = splitResource(resource)
	return path, ok
}

// splitResource returns the host of a resource and its path as resourcePath does.
func splitResource(resource string) (host, path string, ok bool) {
	if i := strings.IndexAny(resource, "?#"); i >= 0 {
		resource = resource[:i]
	}
	scheme, rest, absolute := strings.Cut(resource, "://")
	if !absolute {
		rest = resource
	}
	host, path, _ = strings.Cut(rest, "/")
	if absolute && (scheme == "" || !isHost(host)) || !absolute && !isBareHost(host) {
		return "", "", false
	}
	return host, clean(path), true
}

// isHost reports whether a text can be a host with an optional port. It does not matter which host.
func isHost(host string) bool {
	return host != "" && !strings.ContainsFunc(host, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') &&
			!strings.ContainsRune("-._:[]%", c)
	})
}

// isBareHost reports whether the beginning of a resource without a scheme is a host and can't be the name of an
// entity, which may have dots.
func isBareHost(host string) bool {
	name, port, err := net.SplitHostPort(host)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
		return err == nil && name != "" && isHost(name)
	}
	name = strings.ToLower(strings.Trim(host, "[]"))
	_, err = netip.ParseAddr(name)
	return err == nil || name == "localhost" || strings.HasSuffix(name, hostname.Cloud) && isHost(name)
}

// clean decodes and normalises a path for comparison.
func clean(path string) string {
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	return strings.Trim(strings.ToLower(path), "/")
}

// within reports whether a cleaned path equals another one or lies below it. Every path is within the empty path.
func within(path, above string) bool {
	return above == "" || path == above || strings.HasPrefix(path, above+"/")
}
