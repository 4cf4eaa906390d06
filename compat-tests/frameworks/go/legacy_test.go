package gofw

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

const legacyPackage = "github.com/Azure/azure-service-bus-go"

const (
	partitionKey     = "expects that a partitioned queue shows a partition key on a message that was sent without one"
	toASubscription  = "forwards to a subscription, which no other source allows (FWD-1)"
	reasonPhrase     = "reads the sub-code of a refusal in the reason phrase of HTTP, which stands for the status only here"
	sessionElsewhere = "receives a deferred message by its number while another connection holds the session, which ends the test here with a lost lock"
)

// legacyFails lists the tests of the client that do not pass, with reasons. The other ones must pass, and these must fail.
var legacyFails = map[string]string{
	"TestErrorMessagesWithMissingPrivileges":                                                            reasonPhrase,
	"TestSB/TestQueueClient/MessageProperties":                                                          partitionKey,
	"TestSB/TestQueueClient/WSS_MessageProperties":                                                      partitionKey,
	"TestSB/TestSubscriptionManager_SubscriptionWithForwarding/TestSubscriptionWithAutoForward":         toASubscription,
	"TestSB/TestSubscriptionManager_SubscriptionWithForwarding/TestSubscriptionWithForwardDeadLetterTo": toASubscription,
	"TestSB/TestIssue127QueueClient/SendMessageToSessionQueueDeferAndThenReceiveDeferredMsg":            sessionElsewhere,
}

// TestLegacy runs the tests of the Go client of before 2021, each in a process of its own with a server of its own: they name entities by the
// second in which they start. They get a token from Entra and look for their namespace in Azure's resource manager first; a proxy brings
// these requests to a stand-in.
func TestLegacy(t *testing.T) {
	harness.NeedNightly(t, "to run the tests of the Go client of before 2021")
	l := buildLegacy(t)
	t.Run("unit", func(t *testing.T) {
		t.Parallel()
		l.run(t, "-test.run", "^Test", "-test.skip", "^TestSB$")
	})
	for _, name := range l.methods {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l.run(t, "-test.run", "^TestSB$", "-testify.m", "^"+name+"$")
		})
	}
}

// legacy is the client's compiled tests and what they need.
type legacy struct {
	dir, binary string
	methods     []string // of the one suite that talks to Service Bus
	proxy       string
	authority   []byte
}

// buildLegacy compiles the client's tests and finds their names.
func buildLegacy(t *testing.T) *legacy {
	t.Helper()
	l := &legacy{binary: filepath.Join(t.TempDir(), "legacy.test")}
	l.dir = strings.TrimSpace(goTool(t, "legacy", "list", "-f", "{{.Dir}}", legacyPackage))
	goTool(t, "legacy", "test", "-c", "-vet=off", "-o", l.binary, legacyPackage)
	sources, err := filepath.Glob(filepath.Join(l.dir, "*_test.go"))
	if err != nil {
		t.Fatalf("find the client's tests: %v", err)
	}
	for _, file := range sources {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("read the client's tests: %v", err)
		}
		for _, match := range regexp.MustCompile(`(?m)^func \(suite \*serviceBusSuite\) (Test\w+)\(\)`).FindAllSubmatch(text, -1) {
			l.methods = append(l.methods, string(match[1]))
		}
	}
	if len(l.methods) == 0 {
		t.Fatal("the client has no suite")
	}
	l.proxy, l.authority = standInForAzure(t)
	return l
}

// legacyConnection returns a connection string for the client. It takes the host apart at the first dot and puts it together again, port and
// all.
func legacyConnection(s *harness.Server, policy string) string {
	return fmt.Sprintf("Endpoint=sb://127.0.0.1:%d/;SharedAccessKeyName=%s;SharedAccessKey=%s-key", s.Ports.TLS, policy, policy)
}

// legacyNamespace is the namespace of the tests, which make their entities.
const legacyNamespace = `{"UserConfig": {"Namespaces": [{
	"Name": "sbemulatorns",
	"AuthorizationRules": [
		{"KeyName": "RootManageSharedAccessKey", "PrimaryKey": "RootManageSharedAccessKey-key", "Rights": ["Manage", "Send", "Listen"]},
		{"KeyName": "NoManage", "PrimaryKey": "NoManage-key", "Rights": ["Listen", "Send"]}
	],
	"Queues": [], "Topics": []
}], "Logging": {"Type": "Console"}}}`

// run runs tests of the client against a server of their own and compares what fails with what is known to fail.
func (l *legacy) run(t *testing.T, args ...string) {
	config := filepath.Join(t.TempDir(), "Config.json")
	if err := os.WriteFile(config, []byte(legacyNamespace), 0o600); err != nil {
		t.Fatalf("write Config.json: %v", err)
	}
	server := harness.Start(t, harness.Options{Config: config, CADir: t.TempDir(), Args: []string{"--auth", "sas"}})
	cmd := exec.CommandContext(t.Context(), l.binary, append(args, "-test.v", "-test.timeout", "8m")...)
	cmd.Dir, cmd.Env = l.dir, append(os.Environ(), l.environ(t, server)...)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	passed, failed := verdicts(string(out), "PASS"), verdicts(string(out), "FAIL")
	switch {
	case len(passed)+len(failed) == 0:
		t.Fatalf("no test ran: %v", err)
	case err != nil && len(failed) == 0:
		t.Errorf("run the client's tests: %v", err)
	}
	for _, name := range passed {
		if _, known := legacyFails[name]; known {
			t.Errorf("%s passes: take it out of the list", name)
		}
	}
	for _, name := range failed {
		outer := slices.ContainsFunc(failed, func(other string) bool { return strings.HasPrefix(other, name+"/") })
		if _, known := legacyFails[name]; !known && !outer {
			t.Errorf("%s does not pass", name)
		}
	}
	if skipped := verdicts(string(out), "SKIP"); len(skipped) > 0 {
		t.Errorf("skipped: %q", skipped)
	}
}

// environ returns the variables that the client's tests want.
func (l *legacy) environ(t *testing.T, server *harness.Server) []string {
	t.Helper()
	trusted, err := os.ReadFile(server.CA())
	if err != nil {
		t.Fatalf("read the authority: %v", err)
	}
	trust := filepath.Join(t.TempDir(), "trusted.pem")
	if err := os.WriteFile(trust, append(trusted, l.authority...), 0o600); err != nil {
		t.Fatalf("write what the tests trust: %v", err)
	}
	return []string{
		"SERVICEBUS_CONNECTION_STRING=" + legacyConnection(server, "RootManageSharedAccessKey"),
		"SERVICEBUS_CONNECTION_STRING_NO_MANAGE=" + legacyConnection(server, "NoManage"),
		"SSL_CERT_FILE=" + trust, "HTTPS_PROXY=" + l.proxy,
		"AZURE_TENANT_ID=tenant", "AZURE_SUBSCRIPTION_ID=subscription", "AZURE_CLIENT_ID=client", "AZURE_CLIENT_SECRET=secret",
		"TEST_SERVICEBUS_RESOURCE_GROUP=group", "TEST_SERVICEBUS_LOCATION=here",
	}
}

// standInForAzure returns the URL of a proxy, behind which every host gives out tokens and says that what is asked for is there, and the
// certificate that the host shows, in PEM.
func standInForAzure(t *testing.T) (proxy string, authority []byte) {
	t.Helper()
	azure := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		answer := "{}"
		if strings.HasSuffix(r.URL.Path, "/oauth2/token") {
			answer = fmt.Sprintf(`{"access_token": "token", "token_type": "Bearer", "expires_in": "3600", "expires_on": "%d"}`, time.Now().Add(time.Hour).Unix())
		}
		_, _ = io.WriteString(w, answer)
	}))
	certificate := certificateFor(t, "login.microsoftonline.com", "management.azure.com")
	azure.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	azure.StartTLS()
	t.Cleanup(azure.Close)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { tunnel(w, azure.Listener.Addr().String()) }))
	t.Cleanup(front.Close)
	return front.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
}

// tunnel answers a CONNECT and copies bytes between the client and an address until one of them is done.
func tunnel(w http.ResponseWriter, address string) {
	behind, err := net.Dial("tcp", address)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer behind.Close()
	client, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer client.Close()
	// Only now: the HTTP server no longer reads what the client answers.
	_, _ = io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n")
	go func() {
		defer behind.Close()
		_, _ = io.Copy(behind, client)
	}()
	_, _ = io.Copy(client, behind)
}

// certificateFor makes a certificate for these hosts that signs itself.
func certificateFor(t *testing.T, hosts ...string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("make a key: %v", err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: hosts, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatalf("make a certificate: %v", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
