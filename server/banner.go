package server

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"minibus/config"
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

// banner returns the text printed once Minibus is ready, at most eight lines.
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

// summary returns the numbers of a topology's entities, in words.
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
