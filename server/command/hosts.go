package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"minibus/cli"
	"minibus/config"
	"minibus/internal/hostname"
	"minibus/internal/printable"
)

// hostsCommand prints the lines with which the hosts of namespaces lead to Minibus. It is for clients that know no
// other names than the service's.
func (p *program) hostsCommand() *cobra.Command {
	c := &cobra.Command{Use: "hosts [NAME...]",
		Short: "print the lines of a hosts file for clients that know the service's own names only",
		Long: `Prints lines that lead the host NAME.servicebus.windows.net of each namespace to Minibus, ready to be
appended to the hosts file of the system. NAME may also be a whole host. Without NAME it takes the namespaces, with
their aliases, of the configuration that the server would use. It changes no file: the output begins with the command
that appends it. Later, delete the lines.`,
		Example: `  minibus hosts shop                                            print the lines
  minibus hosts shop | sudo tee -a /etc/hosts                   append them on Linux and macOS
  minibus hosts shop | Add-Content $env:SystemRoot\System32\drivers\etc\hosts
                                                                append them on Windows, in PowerShell as administrator
  minibus hosts --compose shop                                  print the aliases of a compose service`}
	compose := c.Flags().Bool("compose", false, "print aliases for a compose file instead")
	cli.WithVariables(c, p.environ)
	settings := cli.ServerFlags(c, p.environ, "config", "host", "limits")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := settings()
		if err != nil {
			return err
		}
		names, err := hostsOf(s, args)
		if err != nil {
			return err
		}
		if *compose {
			return p.print(composeAliases(names))
		}
		line := "minibus hosts"
		if len(args) > 0 {
			line += " " + strings.Join(args, " ")
		}
		for _, name := range []string{"config", "host", "limits"} {
			if f := cmd.Flags().Lookup(name); f.Changed {
				line += " --" + name + " " + cli.ShellWord(f.Value.String())
			}
		}
		return p.print(hostsLines(line, names, config.ClientAddress(s.Host)))
	}
	return c
}

// hostsLines returns the lines for a hosts file. line is the command that prints them.
func hostsLines(line string, names []string, address string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# begin of Minibus: delete these lines when you need them no longer
# append them on Linux and macOS: %s | sudo tee -a /etc/hosts
# append them on Windows, in PowerShell as administrator: %s | Add-Content $env:SystemRoot\System32\drivers\etc\hosts
`, line, line)
	for _, host := range names {
		fmt.Fprintf(&b, "%s %s\n", address, host)
	}
	b.WriteString("# end of Minibus\n")
	return b.String()
}

// hostsOf returns the hosts of the namespaces that the arguments name, or else of those that a Minibus with the
// settings would have.
func hostsOf(s config.Settings, args []string) (names []string, err error) {
	for _, word := range args {
		host := strings.ToLower(word)
		if strings.ContainsAny(word, `/\`) || slices.Contains([]string{".json", ".jsonc"}, filepath.Ext(host)) {
			return nil, cli.Usage("%q is no name of a namespace; a configuration is given with a flag: minibus "+
				"hosts --config %s",
				printable.Clip(word, 60), cli.ShellWord(word))
		}
		if !validHost(host) {
			return nil, cli.Usage("%q is neither the name of a namespace nor a host: these have letters, digits "+
				"and '-', with dots between",
				printable.Clip(word, 60))
		}
		if !strings.Contains(host, ".") {
			host += hostname.Cloud
		}
		names = append(names, host)
	}
	if len(names) == 0 || s.Config != "" {
		configured, err := configuredHosts(s)
		if err != nil {
			return nil, err
		}
		names = append(names, configured...)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// configuredHosts returns the hosts of the namespaces of a Config.json, with their aliases.
func configuredHosts(s config.Settings) (names []string, err error) {
	t := config.DefaultTopology()
	if files := config.Find(s.Config); len(files) > 0 {
		loaded, report, err := config.Load(files, s.Limits)
		if err == nil {
			err = report.Err()
		}
		if err != nil {
			return nil, err
		}
		t = loaded
	}
	for _, ns := range t.All() {
		names = append(names, strings.ToLower(ns.Namespace)+hostname.Cloud)
		for _, alias := range ns.Aliases {
			names = append(names, strings.ToLower(alias))
		}
	}
	return names, nil
}

// validHost reports whether a hosts file may have the name: nothing that ends a line or begins a comment.
func validHost(host string) bool {
	strange := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' }
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "-") != label || strings.ContainsFunc(label, strange) {
			return false
		}
	}
	return len(host) <= 253
}

// composeAliases returns a compose file that gives a service the names, for the containers of its network.
func composeAliases(names []string) string {
	return `# for the service "servicebus": docker compose -f compose.yaml -f THIS-FILE up
services:
  servicebus:
    networks:
      default:
        aliases:
          - ` + strings.Join(names, "\n          - ") + "\n"
}
