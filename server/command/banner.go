package command

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"minibus/internal/sas"
	"minibus/server"
)

// readyLine is the line that Testcontainers modules wait for. It is printed once, when everything is ready (drop-in
// 2.1).
const readyLine = "Emulator Service is Successfully Up!"

// banner returns the text printed once Minibus is ready, at most nine lines.
func banner(a *server.Server, c *server.Config, source string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Minibus %s\n", server.Version())
	connection := a.Connection()
	if connection.Key != sas.DefaultKey {
		connection.Key = "..." // the key is the user's own, and output ends up in logs
	}
	ports := a.Ports()
	if c.Settings.Control != "off" && ports.HTTP != 0 {
		fmt.Fprintf(&b, "Explorer: %s\n", explorerAt(c.Settings, ports))
	}
	fmt.Fprintf(&b, "Connection string: %s\n", connection)
	fmt.Fprintf(&b, "Ports: AMQP %s, TLS %s, HTTP %s", portText(ports.AMQP), portText(ports.TLS), portText(ports.HTTP))
	for _, port := range ports.Extra {
		fmt.Fprintf(&b, ", %d", port)
	}
	fmt.Fprintf(&b, ", on %s (each speaks all three)\n", hostText(c.Settings.Host))
	b.WriteString(namespacesText(ports.Namespaces))
	if file := a.Database(); file == "" {
		b.WriteString("Database: in memory, nothing is kept\n")
	} else {
		fmt.Fprintf(&b, "Database: %s\n", file)
	}
	fmt.Fprintf(&b, "Entities: %s (%s)\n", c.Topology.Summary(), source)
	b.WriteString(readyLine + "\n")
	return b.String()
}

// aligned puts what the lines of a banner say into a column, for a person.
func aligned(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if label, rest, ok := strings.Cut(line, ": "); ok {
			line = fmt.Sprintf("%-*s  %s", len("Connection string"), label, rest)
		}
		b.WriteString(line)
	}
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
