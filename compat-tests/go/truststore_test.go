package compat

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// java returns the path of a program of the JDK.
func java(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		harness.Lack(t, "find the JDK: %v", err)
	}
	return path
}

// exportStore writes the trust store of an authority that may not exist yet.
func exportStore(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return harness.ExportCA(t, dir, "trusted.p12", append([]string{"--format", "pkcs12"}, args...)...)
}

func TestKeytoolListsTheTrustStore(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run what takes long")
	keytool := java(t, "keytool")
	dir := t.TempDir()
	for password, args := range map[string][]string{"changeit": nil, "another one": {"--password", "another one"}} {
		list, err := exec.Command(keytool, "-list", "-keystore", exportStore(t, dir, args...), "-storepass", password).CombinedOutput()
		if err != nil || !strings.Contains(string(list), "minibus-ca") || !strings.Contains(string(list), "trustedCertEntry") {
			t.Errorf("keytool: %v\n%s", err, list)
		}
	}
}

// In the handshake Java names neither addresses nor names without dots, and still checks them. A foreign name gets no
// certificate.
func TestJavaTrustsEveryName(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to run what takes long")
	program := java(t, "java")
	dir := t.TempDir()
	store := exportStore(t, dir)
	server := harness.Start(t, harness.Options{CADir: dir, Args: []string{"--tls-names", "orders-bus"}})
	names := []string{"localhost", "127.0.0.1", "servicebus", "orders-bus", "host.docker.internal", "bus.example.org", "stranger"}
	hosts := filepath.Join(dir, "hosts")
	if err := os.WriteFile(hosts, []byte("127.0.0.1 "+strings.Join(names, " ")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-Djdk.net.hosts.file=" + hosts, "-Djavax.net.ssl.trustStore=" + store, "-Djavax.net.ssl.trustStorePassword=changeit",
		filepath.Join("testdata", "Probe.java")}
	for _, name := range names {
		args = append(args, fmt.Sprintf("https://%s:%d/health", name, server.Ports.AMQP))
	}
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("run Java: %v\n%s", err, out)
	}
	for _, name := range names {
		if served := strings.Contains(string(out), fmt.Sprintf("https://%s:%d/health 200", name, server.Ports.AMQP)); served == (name == "stranger" || name == "bus.example.org") {
			t.Errorf("%s: served is %v in\n%s", name, served, out)
		}
	}
}
