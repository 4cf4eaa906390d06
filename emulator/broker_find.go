package emulator

import (
	"slices"
	"strings"
)

// serviceSuffixes are the domains of the service in its clouds, and the one that means this machine [RFC 6761 6.3].
var serviceSuffixes = []string{"servicebus.windows.net", "servicebus.usgovcloudapi.net", "servicebus.chinacloudapi.cn", "servicebus.cloudapi.de", "localhost"}

// suffixesOf returns all domains under which the first label names a namespace, the longest first.
func suffixesOf(more []string) []string {
	all := slices.Clone(serviceSuffixes)
	for _, s := range more {
		if s = canonicalHost(strings.TrimPrefix(s, ".")); s != "" {
			all = append(all, s)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(all)
}

// Find returns the namespace that a connection to a host means, which may come with a port, or a request for it; port is the one at which it
// arrived. The first of these decides:
//
//  1. The host is an alias of a namespace. If that is deleted, and one of the last that were, Find fails with CodeNotFound: its clients
//     mean none of the others.
//  2. The host is a name under a suffix of the service, localhost or one of Options.NamespaceSuffixes: the rest is the namespace's name. If
//     there is none with it, Find fails with CodeNotFound, so that a mistyped name does not lead elsewhere.
//  3. The port belongs to a namespace. If that is deleted, Find fails too: its clients may have kept connections.
//  4. The default one.
//
// As long as there has been no other in this process, everything means the default one. An empty host says nothing.
func (b *Broker) Find(host string, port int) (*Namespace, error) {
	if b.directory.alone() {
		return b.first, nil
	}
	host = canonicalHost(host)
	alias := handle{alias: host}
	if ns := b.directory.find(alias); ns != nil {
		return ns, nil
	}
	if b.directory.hasEnded(alias) {
		return nil, errorf(CodeNotFound, "", "The namespace of the host '%s' could not be found. It is deleted.", host)
	}
	if name, ok := b.label(host); ok {
		return b.Namespace(name)
	}
	if ns := b.directory.find(handle{port: port}); ns != nil {
		return ns, nil
	}
	if b.directory.hasEnded(handle{port: port}) {
		return nil, errorf(CodeNotFound, "", "The namespace of the port %d could not be found. It is deleted.", port)
	}
	return b.first, nil
}

// label returns what stands before a suffix of namespaces. A suffix by itself names none.
func (b *Broker) label(host string) (label string, ok bool) {
	for _, suffix := range b.suffixes {
		if host == suffix {
			return "", false
		}
		if label, ok := strings.CutSuffix(host, "."+suffix); ok && label != "" {
			return label, true
		}
	}
	return "", false
}

// canonicalHost returns a host in lower case, without port and final dot.
func canonicalHost(host string) string {
	if strings.HasPrefix(host, "[") { // an IPv6 address
		host, _, _ = strings.Cut(host[1:], "]")
	} else if before, _, ok := strings.Cut(host, ":"); ok && strings.Count(host, ":") == 1 {
		host = before
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
