// Package python runs the Python SDK against the built binary.
package python

import (
	"path/filepath"
	"testing"

	"minibus/compat-tests/cases"
	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// needPython returns the interpreter with what the tests need. That takes Python 3.11 and the package registry.
func needPython(t *testing.T) string {
	t.Helper()
	harness.NeedAll(t, "to run the Python clients")
	return harness.Python(t, ".")
}

// run runs a script with an environment that bus.py reads.
func run(t *testing.T, python string, environ []string, args ...string) {
	t.Helper()
	harness.Run(t, append(environ, "PYTHONDONTWRITEBYTECODE=1"), python, args...)
}

// start runs a server with a database, beside which it keeps the certificate of its authority, and returns its environment.
func start(t *testing.T, args ...string) []string {
	t.Helper()
	return harness.Start(t, harness.Options{Data: filepath.Join(t.TempDir(), "minibus.db"), Args: args}).Environ()
}

// TestPythonSDK drives azure-servicebus: the clients of administration and of the data plane, over every transport, against a server
// that checks tokens.
func TestPythonSDK(t *testing.T) {
	python := needPython(t)
	run(t, python, start(t, "--auth", "sas", "--root-key", "SAS_KEY_VALUE"), "run.py")
}

const (
	noAuthority = "its asynchronous administration client takes no authority of one's own"
	notWaiting  = "it does not wait for the answer to a settlement, and the test looks at once"
	fromStart   = "each call of its peek begins anew"
)

// without lists the tests that the oldest release can't pass, with reasons.
var without = map[string]string{
	"test_admin_aio": noAuthority, "test_transports.Asynchronous": noAuthority, "test_websockets.Asynchronous": noAuthority,
	"test_messages.Messages.test_peek_pages": fromStart, "test_parity.Receiving.test_every_state": fromStart,
	"test_parity.Receiving.test_peek_many_large_ones":  fromStart,
	"test_parity.Receiving.test_settle_many":           notWaiting,
	"test_admin_queues.Queues.test_runtime_properties": notWaiting, "test_admin_topics.Subscriptions.test_runtime_properties": notWaiting,
	"test_sessions.Sessions.test_listing":               "it lists no sessions",
	"test_admin_queues.Queues.test_authorization_rules": "it does not read the type of a policy",
	"test_settlement.Settlement.test_drained_receiver":  "it leaves what it had fetched ahead locked",
}

// TestOldestPythonSDK does the same with the oldest release that knows the emulator's flag. Its administration client takes the authority from the
// environment only, and the asynchronous one takes none.
func TestOldestPythonSDK(t *testing.T) {
	harness.NeedNightly(t, "to run the oldest release of the Python client")
	python := harness.Python(t, "oldest")
	server := harness.Start(t, harness.Options{
		Data: filepath.Join(t.TempDir(), "minibus.db"), Args: []string{"--auth", "sas", "--root-key", "SAS_KEY_VALUE"},
	})
	environ := append(server.Environ(), cases.OtherColumn+"=python-oldest", "MINIBUS_AGAIN=1", "REQUESTS_CA_BUNDLE="+server.CA())
	args := []string{"run.py"}
	for name := range without {
		args = append(args, "-"+name)
	}
	run(t, python, environ, args...)
}

// TestPythonIdentity signs in with DefaultAzureCredential, by the variables of "minibus env --identity" alone.
func TestPythonIdentity(t *testing.T) {
	python := needPython(t)
	i := harness.StartIdentities(t)
	program, args := i.Program(python, "identity.py")
	harness.Run(t, append(i.Environ(), "PYTHONDONTWRITEBYTECODE=1"), program, args...)
}

// TestPythonRestarts drives the SDK while the server is restarted under it.
func TestPythonRestarts(t *testing.T) {
	python := needPython(t)
	c := harness.StartForRestarts(t, harness.Options{})
	run(t, python, append(c.Server().Environ(), c.Environ()...), "run.py", "restarts")
}

var update = harness.UpdateFlag()

// TestPythonGoldens compares what the SDK sends with the golden files that mgmt replays without Python.
func TestPythonGoldens(t *testing.T) {
	python := needPython(t)
	environ := start(t)
	harness.Goldens(t, *update, func(dir string) { run(t, python, environ, "record.py", dir) }, "python-queues.txt", "python-topics.txt")
}
