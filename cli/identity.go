package cli

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// IdentityOptions say which Minibus programs sign in to, and where the files for that are made.
type IdentityOptions struct {
	CADir  string // directory of the CA; empty: as the variables say
	CA     string // file with the CA certificate; empty: the one in its directory
	Dir    string // for the files; empty: beside the CA certificate
	Client string // id of the managed identity; empty: the developer
	Files  bool   // make the files
}

// Identity is what programs need to sign in.
type Identity struct {
	Secret string // of this Minibus, which clients show for a token

	CA         string // file with the CA certificate
	TrustStore string // the same for Java
	Password   string // of the trust store
	Python     string // directory of the module for Python
}

// tokenPath answers as the managed identity of App Service.
const tokenPath = "/minibus/identity/token"

// printIdentity prints the variables for programs with a credential.
func (a *app) printIdentity(format string, f *envFlags) error {
	if format == "appsettings" {
		return Usage("--identity: a credential reads variables, and appsettings has none; use launchsettings")
	}
	target, err := a.envTarget(f)
	if err != nil {
		return err
	}
	o := f.at
	o.Files, o.CA = true, a.flags.ca
	found, err := a.env.Identity(o)
	if err != nil {
		return a.about("env --identity", err)
	}
	host := target.Host()
	if f.portsFile == "" {
		host = a.adminHost()
	}
	all := []variable{
		{"IDENTITY_ENDPOINT", "http://" + host + tokenPath},
		{"IDENTITY_HEADER", found.Secret},
		{"AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential"},
	}
	if o.Client != "" {
		all = append(all, variable{"AZURE_CLIENT_ID", o.Client})
	}
	store := "-Djavax.net.ssl.trustStore=" + found.TrustStore
	if strings.ContainsAny(found.TrustStore, " \t") {
		store = `"` + store + `"`
	}
	all = append(all,
		variable{"SSL_CERT_FILE", found.CA}, variable{"NODE_EXTRA_CA_CERTS", found.CA},
		variable{"REQUESTS_CA_BUNDLE", found.CA},
		variable{"JAVA_TOOL_OPTIONS", a.beside("JAVA_TOOL_OPTIONS", " ",
			store+" -Djavax.net.ssl.trustStorePassword="+found.Password)},
		variable{"PYTHONPATH", a.beside("PYTHONPATH", string(os.PathListSeparator), found.Python)})
	text, err := formatEnv(format, all)
	if err != nil {
		return err
	}
	_, _ = io.WriteString(a.out.data, text)
	if a.isLocal && f.portsFile == "" {
		a.noteElsewhere()
	}
	return a.out.push()
}

// beside returns a value in front of what a variable has already, unless that has it.
func (a *app) beside(name, separator, value string) string {
	old := a.variable(name)
	switch {
	case old == "":
		return value
	case strings.Contains(separator+old+separator, separator+value+separator):
		return old
	}
	return value + separator + old
}

func (a *app) tokenCommand() *cobra.Command {
	var resource, client string
	c := &cobra.Command{Use: "token", Short: "print a token that this Minibus gives to an identity", Args: Arguments(),
		Long: `Prints a token for a resource, as az account get-access-token does: the developer's, who may do
everything, or that of a managed identity. It asks the Minibus, and shows the identity secret of
MINIBUS_IDENTITY_SECRET, of IDENTITY_HEADER or of the Minibus on this machine. With -o json it prints the whole
answer.`,
		Example: "  minibus token --resource https://management.azure.com/\n" +
			"  curl -H \"Authorization: Bearer $(minibus token)\" http://localhost:5300/queue.1?api-version=2021-05"}
	c.Flags().StringVar(&resource, "resource", "https://servicebus.azure.net/", "the `audience` of the token")
	c.Flags().StringVar(&client, "client-id", "", "the `id` of a managed identity (default: the developer)")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		sender, base, err := a.controlClient()
		if err != nil {
			return err
		}
		query := url.Values{"api-version": {"2019-08-01"}, "resource": {resource}}
		if client != "" {
			query.Set("client_id", client)
		}
		r, err := http.NewRequestWithContext(cmd.Context(), http.MethodGet, base+tokenPath+"?"+query.Encode(), nil)
		if err != nil {
			return Usage("%s: %v", a.source, err)
		}
		secret := cmp.Or(a.variable("MINIBUS_IDENTITY_SECRET"), a.variable("IDENTITY_HEADER"))
		if secret == "" {
			found, err := a.env.Identity(IdentityOptions{})
			if err != nil {
				return a.about("token", err)
			}
			secret = found.Secret
		}
		r.Header.Set("X-IDENTITY-HEADER", secret)
		answer, err := sender.Do(r)
		if err != nil {
			return a.explain(err)
		}
		defer func() { _ = answer.Body.Close() }()
		text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
		if err != nil {
			return a.explain(err)
		}
		var m struct {
			Token string `json:"access_token"`
			Text  string `json:"error_description"`
		}
		if err := json.Unmarshal(text, &m); err != nil || m.Token == "" && m.Text == "" {
			return failed(exitFailed, "%s did not answer with a token (%s); is it a Minibus of this version?", a.host(),
				answer.Status)
		}
		if m.Token == "" {
			return failed(exitFailed, "%s: %s", a.host(), m.Text)
		}
		if a.out.format != formatTable {
			m.Token = strings.TrimSpace(string(text))
		}
		_, _ = io.WriteString(a.out.data, m.Token+"\n")
		return a.out.push()
	}
	return c
}
