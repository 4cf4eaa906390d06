package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"

	"minibus/compat-tests/cases"
	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// built builds the program, as go run does.
func built(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "verify"+harness.Exe)
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build verify: %v\n%s", err, out)
	}
	return program
}

// served runs a server with an entity that is not verify's, and returns it, its connection string for TLS, and the variables with which
// a program trusts it.
func served(t *testing.T) (server *harness.Server, connection string, environ []string) {
	t.Helper()
	server = harness.Start(t, harness.Options{Config: harness.WriteConfig(t, harness.Queue{Name: "theirs"}),
		Data: filepath.Join(t.TempDir(), "minibus.db"), Args: []string{"--auth", "sas", "--root-key", "SAS_KEY_VALUE"}})
	connection = strings.Replace(server.ConnectionString(), "UseDevelopmentEmulator=true;", "", 1)
	return server, connection, append(os.Environ(), "SSL_CERT_FILE="+server.CA())
}

// manager is a client of the administration that trusts the server.
func manager(t *testing.T, server *harness.Server, connection string) *admin.Client {
	t.Helper()
	authority, err := os.ReadFile(server.CA())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	client, err := admin.NewClientFromConnectionString(connection, &admin.ClientOptions{
		ClientOptions: azcore.ClientOptions{Transport: &http.Client{Transport: transport}}})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// names lists what is in the namespace.
func names(t *testing.T, server *harness.Server, connection string) []string {
	t.Helper()
	queues, topics, err := (&namespace{admin: manager(t, server, connection)}).entities(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return append(queues, topics...)
}

func TestVerify_EveryBehaviourIsSeenOnMinibus(t *testing.T) {
	harness.NeedAll(t, "to run the tests of the Go SDK once more, in a namespace")
	t.Parallel()
	server, connection, environ := served(t)
	client, err := azservicebus.NewClientFromConnectionString(server.ConnectionString(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close(context.Background()) })
	sender, err := client.NewSender("theirs", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.SendMessage(t.Context(), &azservicebus.Message{Body: []byte("theirs")}, nil); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "seen.json")
	run := exec.Command(built(t), "-out", file, connection)
	run.Env = environ
	out, err := run.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var seen cases.Seen
	if err := json.Unmarshal(text, &seen); err != nil {
		t.Fatal(err)
	}
	tests, err := chosen("../..", "")
	if err != nil {
		t.Fatal(err)
	}
	asked := make(map[string]bool)
	for _, test := range tests {
		for _, id := range test.IDs {
			asked[id] = true
		}
	}
	if len(seen.Cases) != len(asked) || len(seen.Tests) != len(tests) || seen.SDK == "" || seen.Tier == "" {
		t.Errorf("%d behaviours of %d, %d tests of %d, SDK %q, tier %q", len(seen.Cases), len(asked), len(seen.Tests), len(tests), seen.SDK, seen.Tier)
	}
	for _, c := range seen.Cases {
		if !c.OK {
			t.Errorf("%s is not as expected", c.ID)
		}
	}
	for _, secret := range []string{"SAS_KEY_VALUE", server.Addr(), "verify-"} {
		if bytes.Contains(text, []byte(secret)) || bytes.Contains(out[bytes.IndexByte(out, '\n'):], []byte(secret)) {
			t.Errorf("the output or the file contains %q", secret)
		}
	}
	if got := names(t, server, connection); !slices.Equal(got, []string{"theirs"}) {
		t.Errorf("left in the namespace: %q", got)
	}
	receiver, err := client.NewReceiverForQueue("theirs", nil)
	if err != nil {
		t.Fatal(err)
	}
	if theirs, err := receiver.PeekMessages(t.Context(), 10, nil); err != nil || len(theirs) != 1 {
		t.Errorf("the queue that is not verify's has %d messages, want 1: %v", len(theirs), err)
	}
}

// The test that runs waits for more than a minute.
func TestVerify_AnInterruptLeavesNothing(t *testing.T) {
	harness.NeedAll(t, "to interrupt the tests of the Go SDK in a namespace")
	t.Parallel()
	server, connection, environ := served(t)
	run := exec.Command(built(t), "-run", "sess.timeout", connection)
	run.Env = environ
	var out bytes.Buffer
	run.Stdout, run.Stderr = &out, &out
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	for len(names(t, server, connection)) < 2 {
		select {
		case err := <-ended:
			t.Fatalf("ended before it made anything: %v\n%s", err, out.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
	if err := run.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || !strings.Contains(out.String(), "Removed 1 entities") {
		t.Errorf("an interrupted run ended with %v:\n%s", err, out.String())
	}
	if got := names(t, server, connection); !slices.Equal(got, []string{"theirs"}) {
		t.Errorf("left in the namespace: %q", got)
	}
}

func TestVerify_RemovesWhatAnEarlierRunLeft(t *testing.T) {
	t.Parallel()
	server, connection, environ := served(t)
	client := manager(t, server, connection)
	for _, name := range []string{"verify-abcd2345-1-orders", "verify-other234-1-orders"} {
		if _, err := client.CreateQueue(t.Context(), name, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.CreateTopic(t.Context(), "verify-abcd2345-2-prices", nil); err != nil {
		t.Fatal(err)
	}
	program := built(t)
	for prefix, want := range map[string]string{"verify-abcd2345-": "Removed 2 entities", "the": "is no prefix of verify", "verify-": "is no prefix of verify"} {
		run := exec.Command(program, "-remove", prefix, connection)
		run.Env = environ
		if out, _ := run.CombinedOutput(); !strings.Contains(string(out), want) {
			t.Errorf("-remove %s: %s, want %s", prefix, out, want)
		}
	}
	if got := names(t, server, connection); !slices.Equal(got, []string{"theirs", "verify-other234-1-orders"}) {
		t.Errorf("left in the namespace: %q", got)
	}
}

func TestReport_SaysWhatWasSeenAndHidesWhoseItIs(t *testing.T) {
	var out bytes.Buffer
	n := namespace{there: harness.Elsewhere{Prefix: "verify-x-"}, domain: "servicebus.windows.net",
		parsed: harness.Connection{Host: "ours.servicebus.windows.net", Key: "secret"}}
	r := &report{out: &out, hide: n.hide()}
	tests := []cases.Test{{Name: "TestA", IDs: []string{"send.single", "send.batch"}}, {Name: "TestB", IDs: []string{"send.batch"}},
		{Name: "TestD", IDs: []string{"entity.partition"}}}
	events := `{"Action":"run","Test":"TestA"}
{"Action":"output","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Test":"TestA/sub","Output":"    a_test.go:1: verify-x-1-orders at ours.servicebus.windows.net with secret, ours:1\n"}
{"Action":"pass","Test":"TestA/sub"}
{"Action":"pass","Test":"TestA","Elapsed":1.5}
{"Action":"output","Test":"TestB","Output":"    b_test.go:1: wr"}
{"Action":"output","Test":"TestB","Output":"ong\n"}
{"Action":"fail","Test":"TestB"}
{"Action":"skip","Test":"TestD"}
`
	if err := r.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	want := []cases.SeenTest{
		{Name: "TestA", OK: true, Seconds: 1.5, Saw: []string{"sub: a_test.go:1: 1-orders at NAMESPACE with KEY, NAMESPACE:1"}},
		{Name: "TestB", Saw: []string{"b_test.go:1: wrong"}}, {Name: "TestD", Skipped: true}}
	if !reflect.DeepEqual(r.tests, want) {
		t.Errorf("tests %+v, want %+v", r.tests, want)
	}
	seen := judge(tests, r.tests)
	if want := []cases.SeenCase{{ID: "send.batch", Tests: []string{"TestA", "TestB"}}, {ID: "send.single", OK: true, Tests: []string{"TestA"}}}; !reflect.DeepEqual(seen, want) {
		t.Errorf("behaviours %+v, want %+v", seen, want)
	}
	if err := r.summary(tests, seen); err == nil || !strings.Contains(err.Error(), "1 behaviours are not as expected") {
		t.Errorf("the summary ends with %v", err)
	}
	if err := r.summary(append(tests, cases.Test{Name: "TestC"}), seen[1:]); err == nil || !strings.Contains(err.Error(), "1 tests did not end") {
		t.Errorf("without the end of a test the summary ends with %v", err)
	}
	if got := out.String(); !strings.Contains(got, "FAIL   0.0 s  TestB\n             b_test.go:1: wrong\n") || !strings.Contains(got, "FAIL send.batch") {
		t.Errorf("printed:\n%s", got)
	}
}
