// Package java runs the Java SDK against the built binary.
package java

import (
	"slices"
	"strings"
	"testing"

	"minibus/compat-tests/cases"
	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// runner runs Maven in a directory.
type runner struct {
	dir     string
	environ []string
	command func(string, ...string) (string, []string)
}

// start runs a server that also listens on port 443, where Java's administration client goes, exports the trust store of its
// authority, and returns what runs Maven with the environment that Bus.java reads. The server checks tokens, to show that the SDK's are
// right. It needs a JDK, Maven, its central repository and the right to bind port 443.
func start(t *testing.T, dir string) *runner {
	t.Helper()
	address, command := harness.Localhost(t)
	authority := t.TempDir()
	server := harness.Start(t, harness.Options{CADir: authority, Host: address,
		Args: []string{"--extra-ports", "443", "--auth", "sas", "--root-key", "SAS_KEY_VALUE"}})
	return &runner{dir, append(server.Environ(), trustStore(t, authority)), command}
}

// trustStore exports the trust store of the authority in a directory and returns the variable that names it.
func trustStore(t *testing.T, dir string) string {
	t.Helper()
	return "MINIBUS_TRUST_STORE=" + harness.ExportCA(t, dir, "minibus-ca.p12", "--format", "pkcs12")
}

// test runs the tests that the arguments name, all without arguments.
func (r *runner) test(t *testing.T, args ...string) {
	t.Helper()
	harness.MavenWith(t, r.dir, r.environ, r.command, args...)
}

// TestJavaSDK drives azure-messaging-servicebus: the clients of administration and of the data plane, over every transport.
func TestJavaSDK(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run the Java clients")
	start(t, ".").test(t)
}

// TestOldestJavaSDK does the same with the oldest release that knows the emulator's flag.
func TestOldestJavaSDK(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run the Java clients")
	r := start(t, harness.MavenCopy(t, "."))
	r.environ = append(r.environ, cases.OtherColumn+"=java-oldest")
	r.test(t, "-Dservicebus.version=7.17.8")
}

// TestJavaRestarts drives the SDK while the server is restarted under it, and then without the server's authority.
func TestJavaRestarts(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run the Java clients")
	project, authority := harness.MavenCopy(t, "."), t.TempDir()
	address, command := harness.Localhost(t)
	c := harness.StartForRestarts(t, harness.Options{CADir: authority, Host: address, Args: []string{"--extra-ports", "443"}})
	server := c.Server().Environ()
	harness.MavenWith(t, project, slices.Concat(server, c.Environ(), []string{trustStore(t, authority)}), command, "-Dtest=Restarts")
	harness.MavenWith(t, project, slices.Concat(server, []string{trustStore(t, t.TempDir())}), command, "-Dtest=Distrust")
	if !strings.Contains(c.Server().Log(), "does not trust") {
		t.Error("the log does not say that a client did not trust the certificate")
	}
}

// TestJavaIdentity signs in with DefaultAzureCredential, by the variables of "minibus env --identity" alone.
func TestJavaIdentity(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run the Java clients")
	i := harness.StartIdentities(t)
	harness.MavenWith(t, ".", i.Environ(), i.Program, "-Dtrust=", "-Dtest=Identity")
}

var update = harness.UpdateFlag()

// TestJavaGoldens compares what the SDK sends with the golden files that mgmt replays without Java.
func TestJavaGoldens(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run the Java clients")
	r := start(t, ".")
	harness.Goldens(t, *update, func(dir string) {
		r.environ = append(r.environ, "MINIBUS_GOLDEN="+dir)
		r.test(t, "-Dtest=Recording")
	}, "java-queues.txt", "java-topics.txt")
}
