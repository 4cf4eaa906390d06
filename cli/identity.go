package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
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

// Identity has the variables with which programs sign in.
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
func (a *app) printIdentity(ctx context.Context, format string, f *envFlags) error {
	if format == "appsettings" {
		return Usage("--identity: a credential reads variables, and appsettings has none; use launchsettings")
	}
	target, err := a.envTarget(f)
	if err != nil {
		return err
	}
	o := f.at
	o.Files, o.CA = true, a.flags.ca
	host := target.Host()
	if f.portsFile == "" {
		host = a.adminHost()
	}
	if o.CADir == "" && target.Emulator {
		otherwise := fmt.Sprintf("save http://%s/minibus/ca.pem and add --ca FILE --dir DIR", visible(host))
		if o.CADir, err = a.authorityDir(ctx, host, otherwise); err != nil && o.CA == "" {
			return err
		}
	}
	found, err := a.env.Identity(o)
	if err != nil {
		return a.about("env --identity", err)
	}
	all := []variable{
		{"IDENTITY_ENDPOINT", "http://" + host + tokenPath},
		{"IDENTITY_HEADER", found.Secret},
		{"AZURE_TOKEN_CREDENTIALS", "ManagedIdentityCredential"},
	}
	unset := ""
	if o.Client != "" {
		all = append(all, variable{"AZURE_CLIENT_ID", o.Client})
	} else {
		unset = withoutClient[format]
	}
	store := "-Djavax.net.ssl.trustStore=" + found.TrustStore
	if strings.ContainsAny(found.TrustStore, " \t") {
		store = `"` + store + `"`
	}
	store += " -Djavax.net.ssl.trustStorePassword=" + found.Password
	if other := strings.TrimSpace(trustOptions.ReplaceAllString(a.variable("JAVA_TOOL_OPTIONS"), "")); other != "" {
		store += " " + other
	}
	all = append(all,
		variable{"SSL_CERT_FILE", found.CA}, variable{"NODE_EXTRA_CA_CERTS", found.CA},
		variable{"REQUESTS_CA_BUNDLE", found.CA},
		variable{"JAVA_TOOL_OPTIONS", store},
		variable{"PYTHONPATH", strings.Join(a.pythonPath(found.Python), string(os.PathListSeparator))})
	text, err := formatEnv(format, all)
	if err != nil {
		return err
	}
	_, _ = io.WriteString(a.out.data, unset+text)
	if a.isLocal && f.portsFile == "" {
		a.noteElsewhere()
	}
	return a.out.push()
}

// withoutClient ends what an earlier --client-id set, in the forms for a shell.
var withoutClient = map[string]string{"sh": "unset AZURE_CLIENT_ID\n",
	"powershell": "Remove-Item Env:AZURE_CLIENT_ID -ErrorAction Ignore\n"}

// trustOptions matches the options of a trust store, with the spaces before them. Java takes the last one.
var trustOptions = regexp.MustCompile(`(?:^|\s+)(?:"-Djavax\.net\.ssl\.trustStore[^"]*"|` +
	`'-Djavax\.net\.ssl\.trustStore[^']*'|-Djavax\.net\.ssl\.trustStore(?:"[^"]*"|'[^']*'|[^\s"'])*)`)

// pythonPath returns PYTHONPATH with the directory first, and without those that env wrote for other Minibuses.
func (a *app) pythonPath(dir string) []string {
	all := []string{dir}
	for _, d := range filepath.SplitList(a.variable("PYTHONPATH")) {
		if filepath.Base(d) != filepath.Base(dir) {
			all = append(all, d)
		}
	}
	return all
}

// authorityDir returns the directory with the CA and identity secret of the Minibus at an address; empty: it is that
// of the variables, or nothing is known because no Minibus answers. It fails if the Minibus has another CA,
// and says what else helps.
func (a *app) authorityDir(ctx context.Context, host, otherwise string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+host+"/minibus/ca.pem", nil)
	if err != nil {
		return "", Usage("%s: %v", a.source, err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", nil // it may start later
	}
	defer func() { _ = answer.Body.Close() }()
	its, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil || answer.StatusCode != http.StatusOK {
		return "", nil //nolint:nilerr // it has no CA of its own
	}
	isIts := func(file string) bool {
		text, err := os.ReadFile(file)
		return err == nil && bytes.Equal(text, its)
	}
	if a.env.Authority != nil {
		if file, err := a.env.Authority(); err == nil && isIts(file) {
			return "", nil
		}
	}
	servers, _ := runningHere() // without a directory for them none is known
	for _, s := range servers {
		if s.CA != "" && isIts(s.CA) {
			return filepath.Dir(s.CA), nil
		}
	}
	return "", failed(exitFailed, "the CA of %s is not in the data directory: add --ca-dir DIR with its directory, "+
		"or %s", visible(host), otherwise)
}

func (a *app) tokenCommand() *cobra.Command {
	var resource, client, dir string
	c := &cobra.Command{Use: "token", Short: "print a token that this Minibus gives to an identity", Args: Arguments(),
		Long: `Prints a token for a resource, as az account get-access-token does: the developer's, who may do
everything, or that of a managed identity. It asks the Minibus, and shows the identity secret of
MINIBUS_IDENTITY_SECRET, of IDENTITY_HEADER or of the Minibus on this machine; with --ca-dir, that of the directory.
With -o json it prints the whole answer.`,
		Example: "  minibus token --resource https://management.azure.com/\n" +
			"  curl -H \"Authorization: Bearer $(minibus token)\" http://localhost:5300/queue.1?api-version=2021-05"}
	c.Flags().StringVar(&resource, "resource", "https://servicebus.azure.net/", "the `audience` of the token")
	c.Flags().StringVar(&client, "client-id", "", "the `id` of a managed identity (default: the developer)")
	c.Flags().StringVar(&dir, "ca-dir", "", "the `directory` of the CA, which has the identity secret (default: that "+
		"of the Minibus on this machine)")
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
		var elsewhere error
		if secret == "" && dir == "" {
			dir, elsewhere = a.authorityDir(cmd.Context(), a.adminHost(), "set MINIBUS_IDENTITY_SECRET")
			if elsewhere != nil {
				secret = "unknown" // enough where tokens are not checked
			}
		}
		if secret == "" || cmd.Flags().Changed("ca-dir") {
			found, err := a.env.Identity(IdentityOptions{CADir: dir})
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
		if m.Token == "" && elsewhere != nil && answer.StatusCode == http.StatusUnauthorized {
			return elsewhere
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
