package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

// secretToken comes from the identity endpoint. Nobody has signed it.
var secretToken = base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." +
	base64.RawURLEncoding.EncodeToString([]byte(`{"aud":"https://servicebus.azure.net","exp":4102444800}`)) + ".c2lnbmF0dXJl"

// signedIn starts a server with TLS and these flags. The commands of the bench sign in to it with an identity, as on a machine in Azure.
// asked counts the tokens.
func signedIn(t *testing.T, args ...string) (b *bench, server *harness.Server, asked *atomic.Int32) {
	t.Helper()
	t.Parallel()
	asked = new(atomic.Int32)
	identity := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resource := r.URL.Query().Get("resource")
		if r.Header.Get("X-Identity-Header") != "header-of-the-test" || resource != "https://servicebus.azure.net/" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		asked.Add(1)
		_ = json.NewEncoder(w).Encode(map[string]string{"access_token": secretToken, "token_type": "Bearer", "resource": resource,
			"expires_on": fmt.Sprint(time.Now().Add(time.Hour).Unix())})
	}))
	t.Cleanup(identity.Close)
	data := filepath.Join(t.TempDir(), "minibus.db")
	server = harness.Start(t, harness.Options{Data: data, Args: args, Config: harness.WriteTopology(t, queue("orders"), nil)})
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	t.Cleanup(cancel)
	return &bench{T: t, ctx: ctx, connection: fmt.Sprintf("localhost:%d", server.Ports.TLS), flags: []string{"--auth", "az", "--ca", server.CA()},
		environ: []string{"IDENTITY_ENDPOINT=" + identity.URL, "IDENTITY_HEADER=header-of-the-test"}}, server, asked
}

// TestSignIn runs commands without a key: those for entities, for messages, of the control API, and export.
func TestSignIn(t *testing.T) {
	b, server, asked := signedIn(t)
	for line := range strings.Lines(`queue create made --max-delivery-count 3      # made
		queue ls                                  # orders
		send made x                               # sent 1 message
		receive made                              # x
		clock show -o json                        # "frozen": false
		history --newest -n 1                     # completed
		status -o json                            # "connectionString": "Endpoint=sb://` + b.connection + `;"
		config diff ` + b.file("same.json", `{"Queues": [{"Name": "orders"}]}`) + ` # the same: 1`) {
		command, want, _ := strings.Cut(strings.TrimSpace(line), "#")
		before := asked.Load()
		if out := b.run(strings.Fields(command)...); !strings.Contains(out, strings.TrimSpace(want)) {
			t.Errorf("%s prints %q, want %q in it", command, out, strings.TrimSpace(want))
		}
		if n := asked.Load() - before; n != 1 {
			t.Errorf("%s asked for %d tokens, want 1", command, n)
		}
	}
	exporting := *b
	exporting.flags = []string{"--auth", "az", "--ca-file", server.CA()}
	if text := exporting.run("export", b.connection); !strings.Contains(text, `"made"`) {
		t.Errorf("export prints %s", text)
	}
	b.fails(2, []string{"env prints a connection string"}, "env")
	b.connection = server.ConnectionString()
	b.fails(2, []string{"a token travels over TLS only"}, "queue", "ls")
	b.connection = strings.Replace(server.ConnectionString(), "UseDevelopmentEmulator=true", "", 1)
	b.connection = strings.Replace(b.connection, fmt.Sprint(server.Ports.AMQP), fmt.Sprint(server.Ports.TLS), 1)
	b.run("queue", "ls") // the key stays unused
}

// TestSignInRefused names what is missing, with the exit code of a wrong key and without the token.
func TestSignInRefused(t *testing.T) {
	harness.NeedAll(t, "to be refused at a sign-in")
	b, server, _ := signedIn(t, "--auth", "sas", "--root-key", "a-key-of-the-test")
	for _, command := range []string{"queue ls", "send orders x", "receive orders", "clock show"} {
		r := b.try(strings.Fields(command)...)
		b.failed(r, 4, []string{"assign a role to the identity"}, command)
		if strings.Contains(r.errors, secretToken) {
			t.Errorf("%s prints the token: %s", command, r.errors)
		}
	}
	exporting := *b
	exporting.flags = []string{"--auth", "az", "--ca-file", server.CA()}
	exporting.fails(1, []string{"reading entities needs the role Azure Service Bus Data Owner"}, "export", b.connection)
	b.environ = []string{"PATH=" + t.TempDir(), "AZURE_TOKEN_CREDENTIALS=dev"}
	for _, command := range []string{"queue ls", "send orders x", "receive orders", "clock show"} {
		b.fails(4, []string{"--auth az found no sign-in: run az login"}, strings.Fields(command)...)
	}
	b.flags = nil
	b.fails(2, []string{"--auth: found"}, "queue", "ls", "--auth", "sas")
	b.fails(2, []string{"to sign in to that namespace without a key, add --auth az"}, "queue", "ls", "-c", "contoso.servicebus.windows.net")
	b.fails(1, []string{"the host of a namespace needs --auth az"}, "export", "contoso.servicebus.windows.net")
}

// TestConfigDiffOfAnotherService compares what only has the administration of Service Bus, as a namespace in Azure, with a file.
func TestConfigDiffOfAnotherService(t *testing.T) {
	harness.NeedAll(t, "to compare with another service")
	b, server, _ := signedIn(t)
	b.run("topic", "create", "events")
	b.run("sub", "create", "events/audit")
	behind := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: fmt.Sprintf("localhost:%d", server.Ports.HTTP)})
	behind.ModifyResponse = func(r *http.Response) error {
		r.Header.Set("Server", "Microsoft-HTTPAPI/2.0")
		return nil
	}
	var refusing atomic.Bool
	azure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refusing.Load() || r.Header.Get("Authorization") == "" || strings.HasPrefix(r.URL.Path, "/$minibus") {
			w.Header().Set("Server", "Microsoft-HTTPAPI/2.0")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		behind.ServeHTTP(w, r)
	}))
	t.Cleanup(azure.Close)
	ca := b.file("azure.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: azure.Certificate().Raw})))
	b.connection, b.flags = strings.TrimPrefix(azure.URL, "https://"), []string{"--auth", "az", "--ca", ca}
	exporting := *b
	exporting.flags = []string{"--auth", "az", "--ca-file", ca}
	same := b.file("same.json", exporting.run("export", b.connection))
	if text := b.run("config", "diff", same, "--prune"); text != "the same: 3\n" {
		t.Errorf("an export differs: %s", text)
	}
	const wanted = `{"Queues": [{"Name": "new"}, {"Name": "orders", "Properties": {"MaxDeliveryCount": 7, "AuthorizationRules":
		[{"KeyName": "shop", "Rights": ["Send"], "PrimaryKey": "a-key-of-the-file", "SecondaryKey": "another-key-of-the-file"}]}}]}`
	r := b.try("config", "diff", b.file("other.json", wanted), "--prune")
	if r.code != 1 || r.out != "+ queue new\n~ queue orders\n    MaxDeliveryCount: 3 -> 7\n- topic events\n- subscription events/Subscriptions/audit\n"+
		"would create 1, change 1, delete 2; the same: 0\n" {
		t.Errorf("config diff: %+v", r)
	}
	policies := b.file("policies.json", strings.Replace(wanted, `"MaxDeliveryCount": 7`, `"MaxDeliveryCount": 3`, 1))
	if r := b.try("config", "diff", policies, "-o", "json"); decode[shownDiff](b, r.out).Summary["keep"] != 1 || !strings.Contains(r.out, "policies of entities are not compared") {
		t.Errorf("policies differ: %+v", r)
	}
	b.fails(2, []string{"wrong.json:1:"}, "config", "diff", b.file("wrong.json", "{"))
	refusing.Store(true)
	b.fails(4, []string{"compare the configuration: ", "access was refused", "Azure Service Bus Data Owner"}, "config", "diff", same)
	refusing.Store(false)
	b.connection = "Endpoint=sb://" + b.connection + ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE"
	b.flags = slices.Delete(b.flags, 0, 2)
	if text := b.run("config", "diff", same); text != "the same: 3\n" {
		t.Errorf("with a key it differs: %s", text)
	}
}
