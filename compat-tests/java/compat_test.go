// Package java runs the Java SDK against the built binary.
package java

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// start runs a server that also listens on port 443, where Java's administration client goes, exports the trust store of its
// authority, and returns the environment that Bus.java reads. The server checks tokens, to show that the SDK's are right. It needs a
// JDK, Maven, its central repository and the right to bind port 443.
func start(t *testing.T) []string {
	t.Helper()
	harness.NeedAll(t, "to run the Java clients")
	lockPort443(t)
	dir := t.TempDir()
	server := harness.Start(t, harness.Options{CADir: dir, Args: []string{"--extra-ports", "443", "--auth", "sas", "--root-key", "SAS_KEY_VALUE"}})
	return append(server.Environ(), "MINIBUS_TRUST_STORE="+harness.ExportCA(t, dir, "minibus-ca.p12", "--format", "pkcs12"))
}

// lockPort443 waits until no other run of this suite on this machine has the port.
func lockPort443(t *testing.T) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(os.TempDir(), "minibus-port-443.lock"), os.O_CREATE|os.O_RDWR, 0o666) //nolint:gosec // shared by all users
	if err != nil {
		t.Fatalf("open the lock of port 443: %v", err)
	}
	t.Cleanup(func() { file.Close() })
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatalf("lock port 443: %v", err)
	}
}

// maven runs the tests that the arguments name, all without arguments. Every version in pom.xml is pinned, so Maven does not ask the
// network again after the first download.
func maven(t *testing.T, environ []string, args ...string) {
	t.Helper()
	environ = append(environ, "MAVEN_OPTS=-XX:TieredStopAtLevel=1") // it lives for seconds
	harness.Run(t, environ, "mvn", append([]string{"--batch-mode", "--quiet", "test"}, args...)...)
}

// TestJavaSDK drives azure-messaging-servicebus: the clients of administration and of the data plane, over every transport.
func TestJavaSDK(t *testing.T) { maven(t, start(t)) }

var update = harness.UpdateFlag()

// TestJavaGoldens compares what the SDK sends with the golden files that mgmt replays without Java.
func TestJavaGoldens(t *testing.T) {
	environ := start(t)
	harness.Goldens(t, *update, func(dir string) { maven(t, append(environ, "MINIBUS_GOLDEN="+dir), "-Dtest=Recording") }, "java-queues.txt", "java-topics.txt")
}
