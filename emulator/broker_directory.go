package emulator

import (
	"slices"
	"strings"
	"sync"
)

// directory finds namespaces. Its methods may be called from any goroutine.
type directory struct {
	mu    sync.RWMutex          // never held while waiting
	list  []*Namespace          // by name
	found map[handle]*Namespace // what is committed
	taken map[handle]*Namespace // that, and what is being written
	many  bool                  // there has been more than one namespace in this process

	// ports and aliases of deleted namespaces, until others have them, with the number of their end
	ended map[handle]int64
	ends  []endedHandle // the same in their order, and some that others have
	last  int64         // number of the last end
}

// mostEnded is how many ports and aliases of deleted namespaces are remembered: those that ended last.
const mostEnded = 10_000

// endedHandle is an element of directory.ends. It counts only if ended has its number.
type endedHandle struct {
	handle
	number int64
}

func newDirectory() directory {
	return directory{found: make(map[handle]*Namespace), taken: make(map[handle]*Namespace),
		ended: make(map[handle]int64)}
}

// end remembers that a namespace which had a handle is deleted.
func (d *directory) end(h handle) {
	d.last++
	d.ended[h] = d.last
	d.ends = append(d.ends, endedHandle{h, d.last})
	if len(d.ends) <= mostEnded {
		return
	}
	if first := d.ends[0]; d.ended[first.handle] == first.number {
		delete(d.ended, first.handle)
	}
	d.ends = d.ends[1:]
}

// claim keeps handles for a namespace, until replace or release. It fails, with CodeAlreadyExists, if another one has
// one of them.
func (d *directory) claim(ns *Namespace, handles []handle) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, h := range handles {
		if other := d.taken[h]; other != nil && other != ns {
			return errorf(CodeAlreadyExists, "",
				"The namespace '%s' can't have the %v: the namespace '%s' has it. Choose another one.",
				ns.name, h, other.name)
		}
	}
	for _, h := range handles {
		d.taken[h] = ns
	}
	return nil
}

// release gives up a claim.
func (d *directory) release(ns *Namespace, handles []handle) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, h := range handles {
		if d.found[h] != ns {
			delete(d.taken, h)
		}
	}
}

// replace lets a namespace be found by handles that it has claimed, and by no others. Without any it is no more.
func (d *directory) replace(ns *Namespace, was, will []handle) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, h := range was {
		delete(d.found, h)
		delete(d.taken, h)
		if len(will) == 0 && h.name == "" {
			d.end(h)
		}
	}
	for _, h := range will {
		d.found[h], d.taken[h] = ns, ns
		delete(d.ended, h)
	}
	i, listed := slices.BinarySearchFunc(d.list, ns.name, func(x *Namespace, name string) int {
		return strings.Compare(strings.ToLower(x.name), strings.ToLower(name))
	})
	switch {
	case len(will) == 0:
		d.list = slices.Delete(d.list, i, i+1)
	case !listed:
		d.list = slices.Insert(d.list, i, ns)
		d.many = d.many || len(d.list) > 1
	}
}

func (d *directory) find(h handle) *Namespace {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.found[h]
}

// hasEnded reports whether a port or an alias was that of a namespace which is deleted.
func (d *directory) hasEnded(h handle) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.ended[h] != 0
}

// all returns all namespaces by name.
func (d *directory) all() []*Namespace {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return slices.Clone(d.list)
}

// alone reports whether there has been only one namespace. After the deletion of all others it is still not alone:
// their clients may come back, and mean none that is left.
func (d *directory) alone() bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return !d.many
}

// serviceSuffixes are the domains of the service in its clouds, and the one that means this machine [RFC 6761 6.3].
var serviceSuffixes = []string{"servicebus.windows.net", "servicebus.usgovcloudapi.net",
	"servicebus.chinacloudapi.cn", "servicebus.cloudapi.de", "localhost"}

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

// Find returns the namespace that a connection to a host, or a request for it, means. The host may come with a port;
// port is the one at which the connection arrived. The first of these decides:
//
//  1. The host is an alias of a namespace. For an alias of one of the namespaces that were deleted last, Find fails
//     with CodeNotFound: its clients mean none of the others.
//  2. The host is a name under a suffix of the service, localhost or one of Options.NamespaceSuffixes: the rest is
//     the namespace's name. Without such a namespace Find fails with CodeNotFound, so that a mistyped name does not
//     lead elsewhere.
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
