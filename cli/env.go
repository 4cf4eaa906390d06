package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"minibus/internal/sas"
)

// envFlags are the flags of env.
type envFlags struct{ name, entity, portsFile, namespace string }

// envFormats are the forms in which env writes the variables.
var envFormats = []string{"sh", "powershell", "dotenv", "json", "appsettings", "launchsettings"}

func (a *app) envCommand() *cobra.Command {
	f := &envFlags{}
	c := &cobra.Command{Use: "env [FORMAT]", Short: "print the connection string for a shell, a .env file or a .NET project", Args: names("[FORMAT]"),
		Long: `Prints the connection string of the namespace, with its key, as FORMAT: sh (the default), powershell, dotenv, json, appsettings for an
appsettings.json, launchsettings for a launchSettings.json. If messages and entities of an emulator are at different ports, a second variable,
with _ADMINISTRATION before its end, has the string for entities. It does not ask the server.`,
		Example: "  eval \"$(minibus env)\"\n  minibus env powershell | Invoke-Expression\n  minibus env dotenv --ports-file ports.json > .env\n" +
			"  minibus env launchsettings --name ConnectionStrings__ServiceBus"}
	p := c.Flags()
	p.StringVar(&f.name, "name", "SERVICEBUS_CONNECTION_STRING", "`name` of the variable; for appsettings, of the connection string (default there ServiceBus)")
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
		return usage("--name: found %q; allowed: letters, digits and underscores, without a digit at the beginning", oneLine(f.name))
	case f.namespace != "" && f.portsFile == "":
		return usage("--namespace belongs to --ports-file, which has the ports of namespaces")
	}
	target, err := a.envTarget(f)
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
	if target.Emulator && !hasPort(target.Host()) {
		target.Endpoint += ":" + adminPort
		variables = append(variables, [2]string{administration(f.name), target.String()})
	}
	text, err := formatEnv(format, variables)
	if err != nil {
		return err
	}
	_, _ = a.out.w.WriteString(text)
	return a.out.push()
}

// administration names the variable for entities.
func administration(name string) string {
	if stem, ok := strings.CutSuffix(name, "_CONNECTION_STRING"); ok {
		return stem + "_ADMINISTRATION_CONNECTION_STRING"
	}
	if strings.ToUpper(name) == name {
		return name + "_ADMINISTRATION"
	}
	return name + "Administration"
}

// envTarget is the connection, or the server that wrote the ports file.
func (a *app) envTarget(f *envFlags) (sas.Connection, error) {
	if err := a.connect(); err != nil {
		return sas.Connection{}, err
	}
	if f.portsFile == "" {
		return a.target, nil
	}
	data, err := os.ReadFile(f.portsFile)
	if err != nil {
		return sas.Connection{}, usage("--ports-file: %v; a Minibus writes it when it is ready", err)
	}
	var ports struct {
		AMQP       int
		Namespaces map[string]int
	}
	if err := json.Unmarshal(data, &ports); err != nil || ports.AMQP == 0 {
		return sas.Connection{}, usage("--ports-file: %s is not what a Minibus writes", f.portsFile)
	}
	port := ports.AMQP
	if f.namespace != "" {
		if port = ports.Namespaces[f.namespace]; port == 0 {
			return sas.Connection{}, failed(exitNotFound, "--namespace: %s has no port for %q", f.portsFile, oneLine(f.namespace))
		}
	}
	c := a.target
	c.Emulator, c.Endpoint = true, "sb://"+net.JoinHostPort("localhost", strconv.Itoa(port))
	return c, nil
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
		document = map[string]any{"profiles": map[string]any{"minibus": map[string]any{"commandName": "Project", "environmentVariables": all}}}
	default:
		return "", usage("env: found %q; allowed: %s", oneLine(format), strings.Join(envFormats, ", "))
	}
	text, err := encode(document, "  ")
	return string(text), err
}
