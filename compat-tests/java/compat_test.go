// Package java runs the Java SDK against the built binary.
package java

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) {
	code := m.Run()
	harness.Cleanup()
	os.Exit(code)
}

// needJava skips unless MINIBUS_COMPAT=all, since these tests need a JDK, Maven, its central repository and the right to
// bind port 443; continuous integration always sets it.
func needJava(t *testing.T) {
	t.Helper()
	if os.Getenv("MINIBUS_COMPAT") != "all" {
		t.Skip("set MINIBUS_COMPAT=all to run the Java clients")
	}
}

// start runs a server that is on port 443 too, where Java's administration client goes, exports the trust store of its
// authority, and returns the environment that Bus.java reads. It checks tokens, so that the suite shows that the SDK's are right.
func start(t *testing.T) []string {
	t.Helper()
	lockPort443(t)
	dir := t.TempDir()
	ports := harness.Start(t, harness.Options{Args: []string{
		"--ca-dir", dir, "--extra-ports", "443", "--auth", "sas", "--root-key", "SAS_KEY_VALUE",
	}}).Ports
	store := filepath.Join(dir, "minibus-ca.p12")
	export := exec.Command(harness.Binary(t), "cert", "export", "--ca-dir", dir, "--format", "pkcs12", "--out", store)
	if out, err := export.CombinedOutput(); err != nil {
		t.Fatalf("export the trust store: %v\n%s", err, out)
	}
	return append(os.Environ(),
		"MINIBUS_PORT_AMQP="+strconv.Itoa(ports.AMQP), "MINIBUS_PORT_TLS="+strconv.Itoa(ports.TLS), "MINIBUS_TRUST_STORE="+store)
}

// lockPort443 waits until no other run of this suite on this machine has the port.
func lockPort443(t *testing.T) {
	t.Helper()
	file, err := os.OpenFile(filepath.Join(os.TempDir(), "minibus-port-443.lock"), os.O_CREATE|os.O_RDWR, 0o666) //nolint:gosec // the lock is everybody's
	if err != nil {
		t.Fatalf("open the lock of port 443: %v", err)
	}
	t.Cleanup(func() { file.Close() })
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatalf("lock port 443: %v", err)
	}
}

// maven runs the tests that the arguments name, all without. Every version in pom.xml is pinned, so nothing is asked of the
// network once it has been downloaded.
func maven(t *testing.T, env []string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "mvn", append([]string{"--batch-mode", "--quiet", "test"}, args...)...)
	cmd.Env = append(env, "MAVEN_OPTS=-XX:TieredStopAtLevel=1") // it lives for seconds
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Errorf("run mvn: %v", err)
	}
}

// TestJavaSDK drives azure-messaging-servicebus: the clients of administration and of the data plane, over every transport.
func TestJavaSDK(t *testing.T) {
	needJava(t)
	maven(t, start(t))
}

var update = flag.Bool("update", false, "write the golden files of mgmt anew; then let its tests write the answers: go test ./mgmt -update")

// TestJavaGoldens compares what the SDK sends with the golden files that mgmt replays without Java.
func TestJavaGoldens(t *testing.T) {
	needJava(t)
	dir := t.TempDir()
	maven(t, append(start(t), "MINIBUS_GOLDEN="+dir), "-Dtest=Recording")
	for _, name := range []string{"java-queues.txt", "java-topics.txt"} {
		golden, recorded := filepath.Join("../../mgmt/testdata/golden", name), filepath.Join(dir, name)
		if *update {
			copyFile(t, golden, recorded)
		}
		harness.CompareGoldens(t, golden, recorded)
	}
}

func copyFile(t *testing.T, to, from string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err != nil {
		t.Fatalf("read what was recorded: %v", err)
	}
	if err := os.WriteFile(to, text, 0o644); err != nil {
		t.Fatalf("write golden file: %v", err)
	}
}
