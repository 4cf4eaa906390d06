package server

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"

	"minibus/config"
	"minibus/emulator"
)

// namespacePorts listens on the ports that namespaces have of their own.
type namespacePorts struct {
	// immutable once the broker is open
	broker  *emulator.Broker
	host    string           // to bind
	numbers config.PortRange // of the settings
	others  *ports           // of the server
	off     bool             // there is no network
	accept  func(net.Listener)
	log     *slog.Logger

	mu    sync.Mutex
	bound map[int]binding // by port
}

// listen binds the port of a namespace, or if that is 0 a free one of the range. The binding has no port if there is
// none to bind.
func (n *namespacePorts) listen(name string, port int) (binding, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.off {
		return binding{port: port}, nil
	}
	if port != 0 {
		b, err := n.bindLocked(port)
		if errors.Is(err, errPortTaken) {
			return b, &emulator.Error{Code: emulator.CodeAlreadyExists, Text: fmt.Sprintf(
				"The namespace '%s' can't have the port %d: Minibus listens there for something else. Choose "+
					"another port.", name, port)}
		}
		if err != nil {
			return b, &emulator.Error{Code: emulator.CodeArgument, Text: fmt.Sprintf(
				"The namespace '%s' can't have the port %d: %v. Choose another port.", name, port, err)}
		}
		return b, nil
	}
	return n.freeLocked(name)
}

// freeLocked binds the first port of the range that no namespace has, and no other program.
func (n *namespacePorts) freeLocked(name string) (binding, error) {
	first, last, free := n.numbers.Ends()
	if free {
		return n.bindLocked(0)
	}
	if last == 0 {
		return binding{}, nil
	}
	taken := make(map[int]bool)
	for _, ns := range n.broker.Namespaces() {
		taken[ns.Options().Port] = true
	}
	for port := first; port <= last; port++ {
		if taken[port] {
			continue
		}
		if b, err := n.bindLocked(port); err == nil {
			return b, nil
		}
	}
	if n.numbers == config.DefaultNamespacePorts {
		return binding{}, nil // clients reach it by its name
	}
	return binding{}, &emulator.Error{Code: emulator.CodeQuotaExceeded, Text: fmt.Sprintf(
		"The namespace '%s' gets no port: all of --namespace-ports %s are taken. Delete a namespace, or start with "+
			"more of them.", name, n.numbers)}
}

var errPortTaken = errors.New("this Minibus listens there already")

func (n *namespacePorts) bindLocked(port int) (binding, error) {
	if _, ok := n.bound[port]; ok || n.others.shared(port) {
		return binding{}, errPortTaken
	}
	b, err := bind(n.host, port)
	if err != nil {
		return b, err
	}
	n.bound[b.port] = b
	return b, nil
}

// serve accepts connections at a port that listen has bound.
func (n *namespacePorts) serve(b binding) {
	for _, l := range b.listeners {
		n.accept(l)
	}
}

// unlisten closes the listeners at a port. Connections that have come through them stay.
func (n *namespacePorts) unlisten(port int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, l := range n.bound[port].listeners {
		_ = l.Close()
	}
	delete(n.bound, port)
}

// closeAll closes all listeners.
func (n *namespacePorts) closeAll() {
	n.mu.Lock()
	ports := slices.Collect(maps.Keys(n.bound))
	n.mu.Unlock()
	for _, port := range ports {
		n.unlisten(port)
	}
}

// served returns the ports that are served by the names of their namespaces.
func (n *namespacePorts) served() map[string]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := make(map[string]int)
	for _, ns := range n.broker.Namespaces() {
		if port := ns.Options().Port; n.bound[port].port != 0 {
			all[ns.Name()] = port
		}
	}
	return all
}

// serves reports whether the port of a namespace is served.
func (n *namespacePorts) serves(port int) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.bound[port].port != 0
}

// serveAll accepts connections at all ports.
func (n *namespacePorts) serveAll() {
	for _, b := range n.bound {
		n.serve(b)
	}
}

// open binds the ports that namespaces have kept, then gives one to each that has none, as long as there are any. A
// port of the configuration must be free. Another one, which Minibus or a request chose, gives way if another
// program has it by now.
func (n *namespacePorts) open(t *config.Topology) error {
	if n.off {
		return nil
	}
	configured := make(map[int]bool)
	for _, one := range t.Others {
		configured[one.Port] = true
	}
	all := n.broker.Namespaces()
	kept := make(map[*emulator.Namespace]bool)
	for _, ns := range all {
		port := ns.Options().Port
		if port == 0 {
			continue
		}
		n.mu.Lock()
		_, err := n.bindLocked(port)
		n.mu.Unlock()
		switch {
		case err == nil:
			kept[ns] = true
		case configured[port]:
			return fmt.Errorf("the port %d of the namespace %s can't be served: %w; stop what has it, or give the "+
				"namespace another Port in Config.json",
				port, ns.Name(), err)
		default:
			n.log.Warn("the port of a namespace is taken; it gets another one", "namespace", ns.Name(), "port", port,
				"error", err)
		}
	}
	for _, ns := range all {
		if kept[ns] || ns == n.broker.Default() {
			continue
		}
		if err := n.give(ns); err != nil {
			return err
		}
	}
	return nil
}

// give gives a port of the range to a namespace. Without a free one it has none.
func (n *namespacePorts) give(ns *emulator.Namespace) error {
	b, err := n.listen(ns.Name(), 0)
	if err != nil {
		n.log.Warn("a namespace has no port of its own", "namespace", ns.Name(), "error", err)
	}
	o := ns.Options()
	if o.Port == b.port {
		return nil
	}
	o.Port = b.port
	if err := n.broker.Update(ns.Name(), o); err != nil {
		return fmt.Errorf("keep the port of the namespace %s: %w", ns.Name(), err)
	}
	return nil
}
