package harness

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// ownName is the default namespace's own name in the cloud's domain.
const ownName = DefaultSpace + ".servicebus.windows.net"

// Identities is a server that checks the tokens of identities, where clients with a credential look for it: at the ports 5671 and 443
// of localhost. Four managed identities have been made through Resource Manager.
type Identities struct {
	*Server
	address string
	hosts   string            // the file that names it
	token   string            // for Resource Manager
	all     map[string]string // variables
}

// The built-in roles on data.
const (
	roleOwner    = "090c5cfd-751d-490a-894a-3ce6f1109419"
	roleSender   = "69a216fc-b8fb-44d8-bc22-1f3c2cd27a39"
	roleReceiver = "4f6d3b9b-027b-4f4c-9142-0e5a2a2247e0"
)

// StartIdentities starts the server. It needs the right to mount a file, and on Linux only.
func StartIdentities(t testing.TB, args ...string) *Identities {
	t.Helper()
	if out, err := Output(nil, "unshare", "--mount", "true"); err != nil {
		Lack(t, "mount a file in a namespace: %v\n%s", err, out)
	}
	i := &Identities{address: Loopback(), hosts: filepath.Join(t.TempDir(), "hosts"), all: make(map[string]string)}
	lines := fmt.Sprintf("%s localhost %s\n", i.address, ownName)       // at 127.0.0.1 the port 5671 may be another server's
	if err := os.WriteFile(i.hosts, []byte(lines), 0o644); err != nil { //nolint:gosec // as /etc/hosts is
		t.Fatalf("write hosts: %v", err)
	}
	i.Server = Start(t, Options{Data: filepath.Join(t.TempDir(), "minibus.db"), Alone: true, Ports: Ports{TLS: 5671},
		Config: WriteTopology(t, []Queue{{Name: "orders"}, {Name: "orders2"}, {Name: "received"}}, []Topic{{Name: "events", Subscriptions: []Subscription{{Queue: Queue{Name: "all"}}, {Queue: Queue{Name: "other"}}}}}),
		Args:   append([]string{"--host", i.address, "--extra-ports", "443", "--auth", "entra", "--root-key", "a-key-of-the-test"}, args...)})
	i.all["IDENTITY_TEST_SERVER"] = net.JoinHostPort(i.address, strconv.Itoa(i.Ports.HTTP))
	var printed map[string]string
	if err := json.Unmarshal([]byte(i.minibus(t, "env", "json", "--identity")), &printed); err != nil {
		t.Fatalf("read what env prints: %v", err)
	}
	maps.Copy(i.all, printed)
	i.token = strings.TrimSpace(i.minibus(t, "token", "--resource", "https://management.azure.com/"))
	i.identity(t, "OWNER", map[string]string{"": roleOwner})
	i.identity(t, "SENDER", map[string]string{"/queues/orders": roleSender})
	i.identity(t, "RECEIVER", map[string]string{"/topics/events/subscriptions/all": roleReceiver, "/queues/orders": roleReceiver, "/queues/received": roleReceiver})
	i.identity(t, "NOBODY", nil)
	i.all["AZURE_CLIENT_ID"] = i.all["IDENTITY_TEST_OWNER"]
	i.all["IDENTITY_TEST_ASSERTION"] = filepath.Join(t.TempDir(), "assertion")
	if err := os.WriteFile(i.all["IDENTITY_TEST_ASSERTION"], []byte(i.all["IDENTITY_HEADER"]+"\n"), 0o600); err != nil {
		t.Fatalf("write the assertion: %v", err)
	}
	open := Start(t, Options{Alone: true}) // it gives tokens to everybody, so also where no secret can be shown
	i.all["IDENTITY_TEST_OPEN"] = fmt.Sprintf("http://127.0.0.1:%d", open.Ports.HTTP)
	i.all["IDENTITY_TEST_MINIBUS"] = Binary(t)
	i.all["IDENTITY_TEST_HOSTS"] = "localhost," + ownName
	i.all["PATH"] = developerTools(t) + string(os.PathListSeparator) + os.Getenv("PATH")
	return i
}

// developerTools makes a directory with scripts that stand for az and azd, for the commands with which the SDKs ask them for a token.
// They ask "minibus token", whose tokens are the developer's.
func developerTools(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for name, script := range map[string]string{
		"az": `case "$*" in
"account get-access-token -o json --resource $6" | "account get-access-token --output json --resource $6") ;;
*) echo "the arguments of az are $*" >&2; exit 2 ;;
esac
token=$("$IDENTITY_TEST_MINIBUS" token --connection "$IDENTITY_TEST_SERVER" --resource "$6") || exit
printf '{"accessToken": "%s", "expiresOn": "%s", "expires_on": %s, "tokenType": "Bearer"}' \
  "$token" "$(date -d 'now + 1 hour' '+%Y-%m-%d %H:%M:%S.000000')" "$(date -d 'now + 1 hour' +%s)"
`,
		"azd": `case "$*" in
"auth token -o json --no-prompt --scope $7" | "auth token --output json --no-prompt --scope $7") ;;
*) echo "the arguments of azd are $*" >&2; exit 2 ;;
esac
token=$("$IDENTITY_TEST_MINIBUS" token --connection "$IDENTITY_TEST_SERVER" --resource "${7%/.default}") || exit
printf '{"token": "%s", "expiresOn": "%s"}' "$token" "$(date -u -d 'now + 1 hour' +%Y-%m-%dT%H:%M:%SZ)"
`,
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // it is run
			t.Fatalf("write %s: %v", name, err)
		}
	}
	return dir
}

// minibus runs a command against the server.
func (i *Identities) minibus(t testing.TB, args ...string) string {
	t.Helper()
	out, err := Output([]string{"MINIBUS_DATA=" + i.options.Data}, Binary(t),
		append(args, "--connection", i.all["IDENTITY_TEST_SERVER"])...)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return out
}

// identity makes a managed identity with roles, by where in the namespace they count.
func (i *Identities) identity(t testing.TB, name string, roles map[string]string) {
	t.Helper()
	const subscription = "/subscriptions/00000000-0000-0000-0000-000000000000"
	const group = subscription + "/resourceGroups/minibus"
	var made struct {
		Properties struct{ ClientID, PrincipalID string }
	}
	answer := i.Manage(t, http.MethodPut, group+"/providers/Microsoft.ManagedIdentity/userAssignedIdentities/"+strings.ToLower(name), `{"location": "eastus"}`)
	if err := json.Unmarshal([]byte(answer), &made); err != nil {
		t.Fatal(err)
	}
	i.all["IDENTITY_TEST_"+name] = made.Properties.ClientID
	for scope, role := range roles {
		id := fmt.Sprintf("%s/providers/Microsoft.ServiceBus/namespaces/%s%s/providers/Microsoft.Authorization/roleAssignments/%s", group, DefaultSpace, scope, uuid.NewString())
		i.Manage(t, http.MethodPut, id, fmt.Sprintf(`{"properties": {"principalId": "%s", "roleDefinitionId": "%s/providers/Microsoft.Authorization/roleDefinitions/%s"}}`,
			made.Properties.PrincipalID, subscription, role))
	}
}

// Manage sends a request to Resource Manager, which must succeed, and returns the answer.
func (i *Identities) Manage(t testing.TB, method, id, body string) string {
	t.Helper()
	return Manage(t, i.all["IDENTITY_TEST_SERVER"], i.token, method, id, body)
}

// Manage sends a request to the Resource Manager of a server, which must succeed, and returns the answer.
func Manage(t testing.TB, server, token, method, id, body string) string {
	t.Helper()
	address := "http://" + server + id + "?api-version=2024-11-30"
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Body.Close() }()
	text, _ := io.ReadAll(w.Body)
	if w.StatusCode >= 300 {
		t.Fatalf("%s %s: %s\n%s", method, id, w.Status, text)
	}
	return string(text)
}

// Environ returns what "minibus env --identity" prints, with the id of the owner, whom a program then is, and for the test the ids of
// the others and the hosts of the server.
func (i *Identities) Environ() (environ []string) {
	for name, value := range i.all {
		environ = append(environ, name+"="+value)
	}
	return environ
}

// Program returns a command that runs a program where the server has its own name.
func (i *Identities) Program(program string, args ...string) (string, []string) {
	return withHosts(i.hosts, program, args)
}
