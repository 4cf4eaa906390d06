package cbs

import (
	"net/url"
	"strings"
)

// splitAudience returns the host of an audience, with its port if there is one, and the path, percent-decoded and
// without slashes at its ends. It takes any scheme (SDKs write sb, amqp and amqps) in any case. It keeps sub-paths such as
// "/$management" or "/Subscriptions/sub", and the case of letters. An audience without a scheme is a
// path already. The path is empty if the audience is a whole namespace.
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
