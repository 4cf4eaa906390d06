package server

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"minibus/config"
	"minibus/internal/sas"
)

// readyLine is what Testcontainers modules wait for; it is printed once, when it is true (drop-in 2.1).
const readyLine = "Emulator Service is Successfully Up!"

const (
	amqpDefault = 5672
	anyHost     = "localhost"
)

// ConnectionString is ready to be used by a client on this machine; with the key of the policy that may most. Without a port
// it has none that could be dialled.
func (a *Server) ConnectionString() string { return a.connection().String() }

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
	root := a.administrator()
	c.KeyName, c.Key = root.Name, root.Primary
	return c
}

// clientHost is the name by which a client on this machine reaches the address that was bound.
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

// banner is what is printed once Minibus is ready, at most eight lines.
func (a *Server) banner(source string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Minibus %s\n", Version())
	c := a.connection()
	if c.Key != sas.DefaultKey {
		c.Key = "..." // it is the user's own, and output ends up in logs
	}
	fmt.Fprintf(&b, "Connection string: %s\n", c)
	fmt.Fprintf(&b, "Ports: AMQP %s, TLS %s, HTTP %s", portText(a.ports.amqp), portText(a.ports.tls), portText(a.ports.http))
	for _, port := range a.ports.extra {
		fmt.Fprintf(&b, ", %d", port)
	}
	fmt.Fprintf(&b, ", on %s (each speaks all three)\n", hostText(a.config.Settings.Host))
	if a.data.ephemeral {
		b.WriteString("Database: in memory, nothing is kept\n")
	} else {
		fmt.Fprintf(&b, "Database: %s\n", a.data.path)
	}
	fmt.Fprintf(&b, "Entities: %s (%s)\n", summary(a.config.Topology), source)
	b.WriteString(readyLine + "\n")
	return b.String()
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

// summary counts what a topology asks for.
func summary(t *config.Topology) string {
	var queues, topics, subscriptions int
	for _, e := range t.Entities {
		if e.Queue != nil {
			queues++
		} else {
			topics++
			subscriptions += len(e.Topic.Subscriptions)
		}
	}
	text := plural(queues, "queue")
	if topics > 0 {
		text += ", " + plural(topics, "topic") + " with " + plural(subscriptions, "subscription")
	}
	return text
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
