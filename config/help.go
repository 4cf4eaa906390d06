package config

import (
	"fmt"
	"slices"
	"strings"
)

// commandHelp has the help texts of a command.
type commandHelp struct {
	name, usage, short string
	more               string   // in the help of the command itself
	flags              []string // the server's settings that it takes; nil for serve, which takes all
}

var commands = []commandHelp{
	{CommandServe, "[flags]", "serve", `You may leave the word out. Without flags Minibus has queue.1 and topic.1 on ports 5672, 5671 and 5300, and the database in
the user's data directory. It runs until it gets an interrupt or SIGTERM.`, nil},
	{CommandCheck, "config check [FILE]", "check a Config.json; the exit code is 1 if it is wrong", `Prints each mistake with its place and what to do, and warns of accepted settings that may surprise. Without FILE it checks the
configuration that the server would use.`, []string{"config", "limits"}},
	{CommandExport, "export [CONNECTION]", "write the entities of a namespace, in Azure or a Minibus, as a Config.json, Bicep or Terraform", `CONNECTION is a connection string in quotation marks, with a key that has the Manage right. With - instead, export reads it from
standard input, with neither from the variable ` + ConnectionVariable + `. It never writes keys.

  minibus export "$CS" --out Config.json       the entities of the namespace of the connection string CS
  minibus export "$CS" --format bicep          the same for Azure
  minibus export "$CS" --namespace orders      another namespace of the same Minibus`, []string{}},
	{CommandCert, "cert [export]", "show how clients come to trust this Minibus, or write its authority's certificate", `Give it the same --data and --ca-dir as the Minibus in question. It never writes the key.

  minibus cert export --out minibus-ca.pem
  minibus cert export --format pkcs12 --out minibus-ca.p12     a trust store for Java`, []string{"data", "ca-dir", "http-port", "tls-names"}},
	{CommandHosts, "hosts [NAME...]", "print the lines of a hosts file for clients that know the service's own names only", `They lead the host NAME.servicebus.windows.net of each namespace to Minibus. NAME may also be a whole host. Without NAME it takes the
namespaces, with their aliases, of the configuration that the server would use.

  minibus hosts shop                        print the lines
  sudo minibus hosts --write shop           put them into the system's hosts file; other lines stay as they are
  sudo minibus hosts --remove shop          take them out; without NAME all of Minibus
  minibus hosts --compose shop              print the aliases of a compose service`, []string{"config", "host", "limits"}},
	{CommandHealthcheck, "healthcheck", "ask the running Minibus whether it is ready; the exit code is 1 if it is not", `Give it the same flags as the Minibus that it asks.`,
		[]string{"host", "amqp-port", "tls-port", "http-port", "extra-ports", "ports-file"}},
	{CommandVersion, "version", "print the version, commit, date, Go version and platform", "", []string{}},
}

// Help returns the text of minibus --help or, with a topic, the help of one command. The former also has what others returns, about the
// commands that are clients.
func Help(topic string, others ...func() string) string {
	for _, c := range commands {
		if c.name == topic {
			return c.help()
		}
	}
	var b strings.Builder
	b.WriteString("Minibus is a local Azure Service Bus in one binary.\n\nUsage:\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "  minibus %-21s %s\n", c.usage, c.short)
	}
	b.WriteString("  minibus COMMAND --help        more about a command\n")
	for _, other := range others {
		b.WriteString(other())
	}
	b.WriteString(variables)
	writeFlags(&b, func(*setting) bool { return true })
	b.WriteString(`
Examples:
  minibus                                      queue.1 and topic.1 on ports 5672, 5671 and 5300
  minibus --config Config.json --data bus.db   your entities, kept in bus.db
  minibus --ephemeral --amqp-port 0 --tls-port off --http-port 0 --ports-file ports.json
                                               a throw-away instance for a test run
  minibus export "$CS" --out Config.json       the entities of the namespace of the connection string CS; with - instead,
                                               export reads it from standard input, with neither from the
                                               variable SERVICEBUS_CONNECTION_STRING

Minibus ignores ACCEPT_EULA, SQL_SERVER, MSSQL_SA_PASSWORD and SQL_WAIT_INTERVAL, which Microsoft's emulator needs.
`)
	return b.String()
}

const variables = "\nEach of these flags has a variable in the environment: --amqp-port is MINIBUS_AMQP_PORT. A flag wins over its variable.\n"

func (c *commandHelp) help() string {
	var b strings.Builder
	fmt.Fprintf(&b, "minibus %s: %s\n", c.usage, c.short)
	if c.more != "" {
		fmt.Fprintf(&b, "\n%s\n", c.more)
	}
	if writeFlags(&b, c.takes) {
		b.WriteString(variables)
	}
	return b.String()
}

// takes reports whether the command's help lists a setting.
func (c *commandHelp) takes(s *setting) bool {
	if s.command != "" {
		return slices.Contains(strings.Fields(s.command), c.name)
	}
	return c.flags == nil || slices.Contains(c.flags, s.name)
}

// writeFlags lists the flags for which shown is true, by group, and reports whether there are any.
func writeFlags(b *strings.Builder, shown func(*setting) bool) (some bool) {
	group := ""
	for _, s := range table {
		if s.group == "" || !shown(&s) {
			continue
		}
		some = true
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
		fmt.Fprintf(b, "  %-25s %s\n", left, right)
	}
	return some
}

// Words is a command for the completion of command lines.
type Words struct {
	Name, Short string
	Flags       []Flag
}

// Flag is a flag of a command, for the same. Without Arg it is a switch.
type Flag struct{ Name, Arg, Help string }

// AllWords returns the commands here with their flags. The first one is that without a word.
func AllWords() []Words {
	var all []Words
	for _, c := range commands {
		w := Words{Name: c.name, Short: c.short}
		for _, s := range table {
			if s.group != "" && c.takes(&s) {
				w.Flags = append(w.Flags, Flag{s.name, s.arg, s.help})
			}
		}
		all = append(all, w)
	}
	return all
}
