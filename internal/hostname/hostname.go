package hostname

import (
	"net/netip"
	"strings"
)

// Cloud is the domain of the service's own names. Clients that keep them in their connection strings reach Minibus
// through a hosts file; only the service could give them another address.
const Cloud = ".servicebus.windows.net"

// IsLocal reports whether the form of a host, in lower case and without port, shows that it is local: it has no dot
// (a name in a compose file, or in the machine's network), means this machine [RFC 6761 6.3], is a name of the
// service, or is a private address.
func IsLocal(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return isPrivate(address.Unmap())
	}
	return host != "" && !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") ||
		strings.HasSuffix(host, Cloud)
}

// isPrivate reports whether an address belongs to this machine or to a private network.
func isPrivate(address netip.Addr) bool {
	for _, p := range Private {
		if p.Contains(address.WithZone("")) {
			return true
		}
	}
	return false
}

// Private lists the loopback addresses, and those that any network may use [RFC 1918, 3927, 4193, 4291, 6598].
var Private = []netip.Prefix{
	netip.MustParsePrefix("127.0.0.0/8"),
	netip.MustParsePrefix("10.0.0.0/8"),
	netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("::1/128"),
	netip.MustParsePrefix("fc00::/7"),
	netip.MustParsePrefix("fe80::/10"),
}
