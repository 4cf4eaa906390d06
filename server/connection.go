package server

import (
	"net"
	"strconv"
	"strings"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/sas"
)

const (
	anyHost = "localhost"

	// nowhere is the port of a server without network. Nothing listens there, so a client that does not use
	// [Server.Dial] fails, and can't reach another server at the usual port.
	nowhere = 1
)

// ConnectionString returns a connection string for clients on this machine, with the key of the administrator's policy.
// Without a bound port clients can't connect with it.
func (a *Server) ConnectionString() string { return a.Connection().String() }

// ConnectionTo returns a connection string of a namespace for clients on this machine, with the key of its
// administrator.
func (a *Server) ConnectionTo(ns *emulator.Namespace) string {
	c := a.Connection()
	c.Endpoint = "sb://" + a.Endpoint(ns, "")
	root := sas.Administrator(a.Policies(ns))
	c.KeyName, c.Key = root.Name, root.Primary
	return c.String()
}

// Endpoint implements [control.Server]. Without a host the client is on this machine. The endpoint has the port of
// the namespace or else that of the default one; if the host would then mean another namespace, it has a name of
// this one instead.
func (a *Server) Endpoint(ns *emulator.Namespace, host string) string {
	name, port := splitPort(a.Connection().Host())
	if host != "" {
		name, _ = splitPort(host)
	}
	if own := ns.Options().Port; a.namespacePorts.serves(own) {
		port = strconv.Itoa(own)
	}
	number, _ := strconv.Atoi(port)
	if found, err := a.broker.Find(name, number); err != nil || found != ns {
		name = nameOf(ns, a.suffixes())
	}
	if port == "" {
		return name
	}
	return net.JoinHostPort(strings.Trim(name, "[]"), port)
}

func splitPort(address string) (host, port string) {
	if _, port, err := net.SplitHostPort(address); err == nil {
		return strings.TrimSuffix(address, ":"+port), port
	}
	return address, ""
}

// nameOf returns a host that means a namespace at any port.
func nameOf(ns *emulator.Namespace, suffixes []string) string {
	if aliases := ns.Options().Aliases; len(aliases) > 0 {
		return aliases[0]
	}
	return strings.ToLower(ns.Name()) + "." + append(suffixes, anyHost)[0]
}

// Connection returns the same in its parts.
func (a *Server) Connection() sas.Connection {
	host := config.ClientHost(a.config.Settings.Host)
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port := a.ports.AMQP
	for _, other := range append([]int{a.ports.HTTP, a.ports.TLS}, a.ports.Extra...) {
		if port == 0 {
			port = other // they speak AMQP as well
		}
	}
	if a.config.NoNetwork {
		port = nowhere
	}
	if port != 0 { // always there: administration clients go to 80 or 443 without it
		host = net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(port))
	}
	c := sas.Local(host)
	root := sas.Administrator(policiesOf(a.configuredRules()))
	if a.broker != nil {
		root = sas.Administrator(a.Policies(a.broker.Default()))
	}
	c.KeyName, c.Key = root.Name, root.Primary
	return c
}
