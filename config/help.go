package config

import (
	"fmt"
	"strings"
)

// Help is the text of minibus --help.
func Help() string {
	var b strings.Builder
	b.WriteString(`Minibus is a local Azure Service Bus in one binary.

Usage:
  minibus [flags]               serve
  minibus config check [FILE]   check a Config.json, exit code 1 if it is wrong
  minibus export [CONNECTION]   write the entities of a namespace, Azure's or a Minibus's, as a Config.json, Bicep or Terraform
  minibus cert [export]         say how clients trust the certificates of this Minibus, or write its authority's certificate
  minibus healthcheck           ask the running Minibus whether it is ready, exit code 1 if not
  minibus version               print the version

Every flag has a twin in the environment: --amqp-port is MINIBUS_AMQP_PORT. A flag wins over the environment.
`)
	writeSettings(&b)
	b.WriteString(`
Examples:
  minibus                                      queue.1 and topic.1 on ports 5672, 5671 and 5300
  minibus --config Config.json --data bus.db   your entities, kept in bus.db
  minibus --ephemeral --amqp-port 0 --tls-port off --http-port 0 --ports-file ports.json
                                               a throw-away instance for a test run
  minibus export "$CS" --out Config.json       the entities of the namespace that the connection string CS belongs to;
                                               - reads it from standard input, nothing takes SERVICEBUS_CONNECTION_STRING

ACCEPT_EULA, SQL_SERVER, MSSQL_SA_PASSWORD and SQL_WAIT_INTERVAL, which Microsoft's emulator needs, are accepted and ignored.
`)
	return b.String()
}

// writeSettings lists the flags, under the headings of their groups.
func writeSettings(b *strings.Builder) {
	group := ""
	for _, s := range table {
		if s.group == "" {
			continue
		}
		if s.group != group {
			group = s.group
			fmt.Fprintf(b, "\n%s:\n", group)
		}
		left := "--" + s.name
		if s.arg != "" {
			left += " " + s.arg
		}
		right := s.help
		if s.initial != "" {
			right += " (default " + s.initial + ")"
		}
		fmt.Fprintf(b, "  %-22s %s\n", left, right)
	}
}
