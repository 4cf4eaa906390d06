package cli

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"minibus/config"
	"minibus/internal/sas"
)

// envFlags are the flags of env.
type envFlags struct {
	name, entity, portsFile, namespace string

	identity bool
	at       IdentityOptions
}

// envFormats are the forms in which env writes the variables.
var envFormats = []string{"sh", "powershell", "dotenv", "json", "appsettings", "launchsettings"}

func (a *app) envCommand() *cobra.Command {
	f := &envFlags{}
	c := &cobra.Command{Use: "env [FORMAT]",
		Short: "print the connection string, or with --identity what a credential needs, for a shell or a file",
		Args:  Arguments("[FORMAT]"),
		Long: `Prints the connection string of the namespace, with its key, as FORMAT: sh (the default), powershell,
dotenv, json, appsettings for an appsettings.json, launchsettings for a launchSettings.json. The string of a Minibus
has its port, and serves clients for messages and for administration. The server isn't asked; a hint on standard error
says if none runs at the usual port, but elsewhere.

With --identity it prints the variables by which DefaultAzureCredential of every SDK gets its tokens from this Minibus,
and by which .NET on Linux, Go, Java, JavaScript and Python trust its certificates. It makes the files that they name,
beside the CA certificate. It asks a running server for its certificate, to find the directory of its CA.`,
		Example: "  eval \"$(minibus env)\"\n  minibus env powershell | Invoke-Expression\n" +
			"  minibus env dotenv --ports-file ports.json > .env\n" +
			"  minibus env launchsettings --name ConnectionStrings__ServiceBus\n" +
			"  eval \"$(minibus env --identity)\""}
	p := c.Flags()
	p.StringVar(&f.name, "name", "SERVICEBUS_CONNECTION_STRING",
		"`name` of the variable; for appsettings, of the connection string (default there ServiceBus)")
	p.StringVar(&f.entity, "entity", "", "put this `path` into the string as EntityPath")
	p.StringVar(&f.portsFile, "ports-file", "", "take the port from the `file` that a Minibus wrote with --ports-file")
	p.StringVar(&f.namespace, "namespace", "", "with --ports-file, the port of this `namespace`")
	p.BoolVar(&f.identity, "identity", false, "print what DefaultAzureCredential needs, instead of a connection string")
	p.StringVar(&f.at.Client, "client-id", "", "with --identity, the `id` of a managed identity that programs are "+
		"to have (default: the developer, who may do everything)")
	p.StringVar(&f.at.CADir, "ca-dir", "", "with --identity, the `directory` of the CA (default as for minibus "+
		"cert, or that of the running server)")
	p.StringVar(&f.at.Dir, "dir", "", "with --identity, write the files into this `directory`")
	c.ValidArgs = envFormats
	c.RunE = func(cmd *cobra.Command, args []string) error {
		format := "sh"
		if a.out.format != formatTable {
			format = "json"
		}
		if len(args) > 0 {
			format = strings.ToLower(args[0])
		}
		if format == "appsettings" && !cmd.Flags().Changed("name") {
			f.name = "ServiceBus"
		}
		if !f.identity {
			return a.printEnv(format, f)
		}
		for _, name := range []string{"name", "entity"} {
			if cmd.Flags().Changed(name) {
				return Usage("--%s belongs to a connection string, and --identity prints none", name)
			}
		}
		return a.printIdentity(cmd.Context(), format, f)
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
	text, err := formatEnv(format, []variable{{f.name, target.String()}})
	if err != nil {
		return err
	}
	_, _ = io.WriteString(a.out.data, text)
	if a.isLocal && f.portsFile == "" {
		a.noteElsewhere()
	}
	return a.out.push()
}

// envTarget returns the connection, or that of the server that wrote the ports file. An emulator's has a port:
// administration clients go elsewhere without one.
func (a *app) envTarget(f *envFlags) (c sas.Connection, err error) {
	a.portsFile = f.portsFile
	if err := a.connect(); err != nil {
		return c, err
	}
	if a.signIn != nil {
		return c, Usage("env prints a connection string, and a namespace to which you sign in has none")
	}
	c = a.target
	if f.portsFile == "" {
		if c.Emulator && !hasPort(c.Host()) {
			c.Endpoint += ":" + strconv.Itoa(usualAMQP)
		}
		return c, nil
	}
	ports, err := config.ReadPorts(f.portsFile)
	if err != nil {
		return c, Usage("--ports-file: %v", err)
	}
	if f.namespace != "" {
		port := ports.Namespaces[f.namespace]
		if port == 0 {
			return c, failed(exitNotFound, "--namespace: %s has no port for %q", f.portsFile, oneLine(f.namespace))
		}
		ports.AMQP = port
	}
	c.Emulator, c.Endpoint = true, connectionAt("localhost", ports).Endpoint
	return c, nil
}

// variable is one of the environment.
type variable struct{ name, value string }

func formatEnv(format string, all []variable) (string, error) {
	var document any
	quoted := map[string]struct{ line, quote string }{
		"sh": {"export %s='%s'\n", `'\''`}, "powershell": {"$env:%s = '%s'\n", "''"}, "dotenv": {"%s='%s'\n", `\'`},
	}
	if q, ok := quoted[format]; ok {
		var text strings.Builder
		for _, v := range all {
			fmt.Fprintf(&text, q.line, v.name, strings.ReplaceAll(v.value, "'", q.quote))
		}
		return text.String(), nil
	}
	values := make(map[string]string, len(all))
	for _, v := range all {
		values[v.name] = v.value
	}
	switch format {
	case "json":
		document = values
	case "appsettings":
		document = map[string]any{"ConnectionStrings": values}
	case "launchsettings":
		document = map[string]any{"profiles": map[string]any{"minibus": map[string]any{"commandName": "Project",
			"environmentVariables": values}}}
	default:
		return "", Usage("env: found %q; allowed: %s", oneLine(format), strings.Join(envFormats, ", "))
	}
	text, err := encode(document, "  ")
	return string(text), err
}
