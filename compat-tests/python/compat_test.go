// Package python runs the Python SDK against the built binary.
package python

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
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
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
	python := needPython(t)
	i := harness.StartIdentities(t)
	program, args := i.Program(python, "identity.py")
	harness.Run(t, append(i.Environ(), "PYTHONDONTWRITEBYTECODE=1"), program, args...)
}

// ownNetwork runs lines of a shell in a network of their own, in which only the loopback interface is there, and no other server.
const ownNetwork = `python -c 'import fcntl, socket, struct; fcntl.ioctl(socket.socket(), 0x8914, struct.pack("16sH14x", b"lo", 1))' && exec bash -euo pipefail -c "$0"`

// TestSignInPage does what docs/sign-in.md begins with: the server, the program and the variables, all with the usual ports.
func TestSignInPage(t *testing.T) {
	python := needPython(t)
	if out, err := harness.Output(nil, "unshare", "--net", "true"); err != nil {
		harness.Lack(t, "make a network namespace: %v\n%s", err, out)
	}
	blocks := regexp.MustCompile(`(?m)^    .*\n(?:(?:^\n)*^    .*\n)*`).FindAllString(harness.ReadPage(t, "docs/sign-in.md"), 3)
	for i := range blocks {
		blocks[i] = strings.ReplaceAll("\n"+blocks[i], "\n    ", "\n")
	}
	serve, program, lines := strings.TrimSpace(blocks[0]), blocks[1], regexp.MustCompile(`pip install .*`).ReplaceAllString(blocks[2], "")
	home, bin := t.TempDir(), t.TempDir()
	if err := harness.WriteFiles(home, map[string]string{"app.py": program}); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(harness.Binary(t), filepath.Join(bin, "minibus")); err != nil {
		t.Fatal(err)
	}
	script := "cd\n" + serve + " &\ntrap 'kill $!' EXIT\nuntil minibus healthcheck; do sleep 0.1; done\n" + lines +
		"\nminibus peek queue.1 -c localhost:5671 --auth az\n"
	path := strings.Join([]string{bin, filepath.Dir(python), os.Getenv("PATH")}, string(os.PathListSeparator))
	out := harness.Run(t, []string{"HOME=" + home, "XDG_CACHE_HOME=", "XDG_CONFIG_HOME=", "XDG_DATA_HOME=", "PATH=" + path}, "unshare", "--net", "bash", "-c", ownNetwork, script)
	if !strings.Contains(out, "hello") {
		t.Error("the queue has no message")
	}
}

// TestPythonRestarts drives the SDK while the server is restarted under it.
func TestPythonRestarts(t *testing.T) {
	t.Parallel()
	python := needPython(t)
	c := harness.StartForRestarts(t, harness.Options{})
	run(t, python, append(c.Server().Environ(), c.Environ()...), "run.py", "restarts")
}

var update = harness.UpdateFlag()

// TestPythonGoldens compares what the SDK sends with the golden files that mgmt replays without Python.
func TestPythonGoldens(t *testing.T) {
	t.Parallel()
	python := needPython(t)
	environ := start(t)
	harness.Goldens(t, *update, func(dir string) { run(t, python, environ, "record.py", dir) }, "python-queues.txt", "python-topics.txt")
}
