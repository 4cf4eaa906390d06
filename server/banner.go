package server

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"

	"minibus/config"
	"minibus/emulator"
	"minibus/internal/sas"
)

// readyLine is the line that Testcontainers modules wait for. It is printed once, when everything is ready (drop-in 2.1).
const readyLine = "Emulator Service is Successfully Up!"

const (
	amqpDefault = 5672
	anyHost     = "localhost"
)

// ConnectionString returns a connection string for clients on this machine, with the key of the administrator's policy.
// Without a bound port clients can't connect with it.
func (a *Server) ConnectionString() string { return a.connection().String() }

// ConnectionTo returns a connection string of a namespace for clients on this machine, with the key of its administrator.
func (a *Server) ConnectionTo(ns *emulator.Namespace) string {
	c := a.connection()
	c.Endpoint = "sb://" + a.Endpoint(ns, "")
	root := sas.Administrator(a.Policies(ns))
	c.KeyName, c.Key = root.Name, root.Primary
	return c.String()
}

// Endpoint implements [control.Server]. Without a host the client is on this machine. The endpoint has the port of the namespace or else
// that of the default one; if the host would then mean another namespace, it has a name of this one instead.
func (a *Server) Endpoint(ns *emulator.Namespace, host string) string {
	name, port := splitPort(a.connection().Host())
	if host != "" {
		name, _ = splitPort(host)
	}
	if own := ns.Options().Port; a.spaces.serves(own) {
		port = strconv.Itoa(own)
	}
	number, _ := strconv.Atoi(port)
	if found, err := a.broker.Find(name, number); err != nil || found != ns {
		name = nameOf(ns, a.config.Settings.NamespaceSuffixes.Names())
	}
	if port == "" || port == strconv.Itoa(amqpDefault) {
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

func (a *Server) connection() sas.Connection {
	host := clientHost(a.config.Settings.Host)
	port := a.ports.amqp
	for _, other := range append([]int{a.ports.http, a.ports.tls}, a.ports.extra...) {
		if port == 0 {
			port = other // they speak AMQP as well
		}
	}
	if port != 0 && port != amqpDefault {
		host = net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(port))
	}
	c := sas.Local(host)
	root := sas.Administrator(a.policies())
	c.KeyName, c.Key = root.Name, root.Primary
	return c
}

// clientHost returns the name by which a client on this machine reaches the bound address.
func clientHost(bound string) string {
	ip := net.ParseIP(bound)
	switch {
	case bound == "" || bound == "all" || bound == "localhost" || ip != nil && ip.IsUnspecified():
		return anyHost
	case ip != nil && ip.To4() == nil:
		return "[" + bound + "]"
	}
	return bound
}

// banner returns the text printed once Minibus is ready, at most nine lines.
func (a *Server) banner(source string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Minibus %s\n", Version())
	c := a.connection()
	if c.Key != sas.DefaultKey {
		c.Key = "..." // the key is the user's own, and output ends up in logs
	}
	fmt.Fprintf(&b, "Connection string: %s\n", c)
	fmt.Fprintf(&b, "Ports: AMQP %s, TLS %s, HTTP %s", portText(a.ports.amqp), portText(a.ports.tls), portText(a.ports.http))
	for _, port := range a.ports.extra {
		fmt.Fprintf(&b, ", %d", port)
	}
	fmt.Fprintf(&b, ", on %s (each speaks all three)\n", hostText(a.config.Settings.Host))
	b.WriteString(namespacesText(a.spaces.served()))
	if a.data.ephemeral {
		b.WriteString("Database: in memory, nothing is kept\n")
	} else {
		fmt.Fprintf(&b, "Database: %s\n", a.data.path)
	}
	fmt.Fprintf(&b, "Entities: %s (%s)\n", summary(a.config.Topology), source)
	b.WriteString(readyLine + "\n")
	return b.String()
}

// maxNamespaces is how many namespaces the banner shows.
const maxNamespaces = 20

// namespacesText returns the line about namespaces with ports of their own, if there are any.
func namespacesText(ports map[string]int) string {
	if len(ports) == 0 {
		return ""
	}
	names := slices.Sorted(maps.Keys(ports))
	var list []string
	for _, name := range names[:min(len(names), maxNamespaces)] {
		list = append(list, name+" "+strconv.Itoa(ports[name]))
	}
	if more := len(names) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return "Namespaces: " + strings.Join(list, ", ") + "\n"
}

func portText(port int) string {
	if port == 0 {
		return "off"
	}
	return strconv.Itoa(port)
}

func hostText(host string) string {
	if host == "" || host == "all" {
		return "all addresses"
	}
	return host
}

// summary returns the numbers of a topology's entities, in words.
func summary(t *config.Topology) string {
	var queues, topics, subscriptions int
	for _, one := range t.All() {
		for _, e := range one.Entities {
			if e.Queue != nil {
				queues++
			} else {
				topics++
				subscriptions += len(e.Topic.Subscriptions)
			}
		}
	}
	text := plural(queues, "queue")
	if topics > 0 {
		text += ", " + plural(topics, "topic") + " with " + plural(subscriptions, "subscription")
	}
	if n := len(t.Others); n > 0 {
		text += ", in " + plural(n+1, "namespace")
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
