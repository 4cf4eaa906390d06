package cli

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/internal/sas"
)

// envFlags are the flags of env.
type envFlags struct{ name, entity, portsFile, namespace string }

// envFormats are the forms in which env writes the variables.
var envFormats = []string{"sh", "powershell", "dotenv", "json", "appsettings", "launchsettings"}

func (a *app) envCommand() *cobra.Command {
	f := &envFlags{}
	c := &cobra.Command{Use: "env [FORMAT]",
		Short: "print the connection string for a shell, a .env file or a .NET project", Args: Arguments("[FORMAT]"),
		Long: `Prints the connection string of the namespace, with its key, as FORMAT: sh (the default), powershell,
dotenv, json, appsettings for an appsettings.json, launchsettings for a launchSettings.json. For an emulator a second
variable, SERVICEBUS_ADMIN_CONNECTION_STRING or NAME_ADMIN, has the string for entities. It does not ask the server.`,
		Example: "  eval \"$(minibus env)\"\n  minibus env powershell | Invoke-Expression\n" +
			"  minibus env dotenv --ports-file ports.json > .env\n" +
			"  minibus env launchsettings --name ConnectionStrings__ServiceBus"}
	p := c.Flags()
	p.StringVar(&f.name, "name", "SERVICEBUS_CONNECTION_STRING",
		"`name` of the variable; for appsettings, of the connection string (default there ServiceBus)")
	p.StringVar(&f.entity, "entity", "", "put this `path` into the string as EntityPath")
	p.StringVar(&f.portsFile, "ports-file", "", "take the port from the `file` that a Minibus wrote with --ports-file")
	p.StringVar(&f.namespace, "namespace", "", "with --ports-file, the port of this `namespace`")
	c.ValidArgs = envFormats
	c.RunE = func(cmd *cobra.Command, args []string) error {
		format := "sh"
		if a.flags.output != "table" {
			format = "json"
		}
		if len(args) > 0 {
			format = strings.ToLower(args[0])
		}
		if format == "appsettings" && !cmd.Flags().Changed("name") {
			f.name = "ServiceBus"
		}
		return a.printEnv(format, f)
	}
	return c
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (a *app) printEnv(format string, f *envFlags) error {
	switch {
	case format != "appsettings" && !variableName.MatchString(f.name):
		return Usage("--name: found %q; allowed: letters, digits and underscores, without a digit at the beginning",
			oneLine(f.name))
	case f.namespace != "" && f.portsFile == "":
		return Usage("--namespace belongs to --ports-file, which has the ports of namespaces")
	}
	target, adminPort, err := a.envTarget(f)
	if err != nil {
		return err
	}
	entity, err := clean(f.entity)
	if err != nil {
		return err
	}
	if entity != "" {
		target.EntityPath = entity
	}
	variables := [][2]string{{f.name, target.String()}}
	if target.Emulator {
		variables = append(variables, [2]string{administration(f.name), withPort(target, adminPort).String()})
	}
	text, err := formatEnv(format, variables)
	if err != nil {
		return err
	}
	_, _ = io.WriteString(a.out.data, text)
	return a.out.push()
}

// administration names the variable for entities.
func administration(name string) string {
	if stem, ok := strings.CutSuffix(name, "_CONNECTION_STRING"); ok {
		return stem + "_ADMIN_CONNECTION_STRING"
	}
	if strings.ToUpper(name) == name {
		return name + "_ADMIN"
	}
	return name + "Admin"
}

// withPort returns the connection string with a port for entities. Without one, the port that the string has serves
// them.
func withPort(c sas.Connection, port string) sas.Connection {
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Port() != "" && port == "" {
		return c
	}
	c.Endpoint = strings.TrimSuffix(c.Endpoint, ":"+u.Port()) + ":" + cmp.Or(port, usualAdmin)
	return c
}

// envTarget is the connection, or the server that wrote the ports file, with the port for entities if it is known.
func (a *app) envTarget(f *envFlags) (c sas.Connection, adminPort string, err error) {
	a.portsFile = f.portsFile
	if err := a.connect(); err != nil || f.portsFile == "" {
		return a.target, a.adminPort, err
	}
	ports, err := config.ReadPorts(f.portsFile)
	if err != nil {
		return c, "", Usage("--ports-file: %v", err)
	}
	if f.namespace != "" {
		port := ports.Namespaces[f.namespace]
		if port == 0 {
			return c, "", failed(exitNotFound, "--namespace: %s has no port for %q", f.portsFile, oneLine(f.namespace))
		}
		ports.AMQP, ports.HTTP = port, port
	}
	c = a.target
	at, adminPort := connectionAt("localhost", ports)
	c.Emulator, c.Endpoint = true, at.Endpoint
	return c, adminPort, nil
}

func formatEnv(format string, variables [][2]string) (string, error) {
	var b strings.Builder
	all := make(map[string]string, len(variables))
	for _, v := range variables {
		name, value := v[0], v[1]
		all[name] = value
		switch format {
		case "sh":
			fmt.Fprintf(&b, "export %s='%s'\n", name, strings.ReplaceAll(value, "'", `'\''`))
		case "powershell":
			fmt.Fprintf(&b, "$env:%s = '%s'\n", name, strings.ReplaceAll(value, "'", "''"))
		case "dotenv":
			fmt.Fprintf(&b, "%s='%s'\n", name, strings.ReplaceAll(value, "'", `\'`))
		}
	}
	var document any
	switch format {
	case "sh", "powershell", "dotenv":
		return b.String(), nil
	case "json":
		document = all
	case "appsettings":
		document = map[string]any{"ConnectionStrings": all}
	case "launchsettings":
		document = map[string]any{"profiles": map[string]any{"minibus": map[string]any{"commandName": "Project",
			"environmentVariables": all}}}
	default:
		return "", Usage("env: found %q; allowed: %s", oneLine(format), strings.Join(envFormats, ", "))
	}
	text, err := encode(document, "  ")
	return string(text), err
}
