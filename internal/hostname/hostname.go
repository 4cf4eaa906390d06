package hostname

import (
	"net/netip"
	"strings"
)

// Cloud is the domain of the service's own names. Clients that keep them in their connection strings reach Minibus through a hosts
// file; only the service could give them another address.
const Cloud = ".servicebus.windows.net"

// IsLocal reports whether a host, in lower case and without port, can only be local by its form: it has no dot (a name in a compose file,
// or in the machine's own network), means this machine by the standard [RFC 6761 6.3], is a name of the service, or a private address.
func IsLocal(host string) bool {
	if address, err := netip.ParseAddr(host); err == nil {
		return isPrivate(address.Unmap())
	}
	return host != "" && !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, Cloud)
}

// isPrivate reports whether an address is that of this machine or of a private network.
func isPrivate(address netip.Addr) bool {
	for _, p := range Private {
		if p.Contains(address.WithZone("")) {
			return true
		}
	}
	return false
}

// Private are the loopback addresses, and those that networks may use without asking anybody [RFC 1918, 3927, 4193, 4291, 6598].
var Private = []netip.Prefix{
	netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"),
	netip.MustParsePrefix("192.168.0.0/16"), netip.MustParsePrefix("169.254.0.0/16"), netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("fc00::/7"), netip.MustParsePrefix("fe80::/10"),
}
