// Package rustfw runs Rust clients of Service Bus against the built binary.
package rustfw

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

func TestMain(m *testing.M) { harness.Main(m) }

// cache returns the path of a file in the user's cache, which all runs share.
func cache(t *testing.T, name string) string {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatalf("find the cache: %v", err)
	}
	return filepath.Join(dir, "minibus-ci", name)
}

// cargo runs cargo and returns what it prints. It compiles with one process, into the cache, and takes the time that it needs.
func cargo(t *testing.T, environ []string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "nice", append([]string{"-n", "19", "cargo"}, args...)...)
	cmd.Env = append(os.Environ(), "CARGO_TARGET_DIR="+cache(t, "cargo-target"), "CARGO_BUILD_JOBS=1")
	cmd.Env = append(cmd.Env, environ...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("cargo %s: %v\n%s\n%s", strings.Join(args, " "), err, out, &stderr)
	}
	return string(out)
}

// start starts a server that checks tokens at an address of its own, since both clients insist on ports, and returns the address and the
// settings of docs/frameworks.md. OpenSSL reads SSL_CERT_FILE.
func start(t *testing.T) (address string, environ []string) {
	t.Helper()
	address = harness.Loopback()
	subscription := func(name string) []harness.Subscription {
		return []harness.Subscription{{Queue: harness.Queue{Name: name}}}
	}
	config := harness.WriteTopology(t,
		[]harness.Queue{{Name: "parcels"}, {Name: "letters"}, {Name: "tours", RequiresSession: true}},
		[]harness.Topic{
			{Name: "orders", Subscriptions: subscription("billing")},
			{Name: "bills", Subscriptions: subscription("paid")},
			{Name: "visits", Subscriptions: []harness.Subscription{{Queue: harness.Queue{Name: "guests", RequiresSession: true}}}},
		})
	server := harness.Start(t, harness.Options{
		Config: config, CADir: t.TempDir(), Ports: harness.Ports{TLS: 5671},
		Args: []string{"--host", address, "--extra-ports", "443", "--auth", "sas", "--root-key", "SAS_KEY_VALUE"},
	})
	return address, []string{
		"SSL_CERT_FILE=" + server.CA(),
		fmt.Sprintf("SERVICE_BUS_CONNECTION_STRING=Endpoint=sb://%s/;SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE", address),
		"MINIBUS_HTTPS=" + net.JoinHostPort(address, "443"),
	}
}

// TestPrograms runs a program with azservicebus, over AMQP, and one with azure_messaging_servicebus, over HTTP.
func TestPrograms(t *testing.T) {
	harness.NeedNightly(t, "to run Rust clients")
	_, environ := start(t)
	t.Log(cargo(t, environ, "test", "--locked"))
}

// TestLive runs the tests that the authors of azservicebus run against Azure. They are not changed: cargo compiles a copy of the crate.
func TestLive(t *testing.T) {
	harness.NeedNightly(t, "to run Rust clients")
	crate := copyOf(t, "azservicebus")
	address, environ := start(t)
	environ = append(environ,
		"SERVICE_BUS_NAMESPACE="+address, "SERVICE_BUS_SAS_KEY_NAME=RootManageSharedAccessKey", "SERVICE_BUS_SAS_KEY=SAS_KEY_VALUE",
		"SERVICE_BUS_QUEUE=parcels", "SERVICE_BUS_SESSION_QUEUE=tours",
		"SERVICE_BUS_TOPIC=orders", "SERVICE_BUS_SUBSCRIPTION=billing",
		"SERVICE_BUS_SESSION_TOPIC=visits", "SERVICE_BUS_SESSION_SUBSCRIPTION=guests",
		"SERVICE_BUS_RULE_FILTER_TEST_TOPIC=bills", "SERVICE_BUS_RULE_FILTER_TEST_SUBSCRIPTION=paid")
	// The test that takes two hours is not asked for.
	out := cargo(t, environ, "test", "--locked", "--manifest-path", filepath.Join(crate, "Cargo.toml"), "--features", "test_e2e",
		"--test", "client_live_tests", "--test", "queue_live_tests", "--test", "topic_live_tests", "--", "--nocapture", "--test-threads", "1")
	t.Log(out)
	// Three tests, and two that consist of 18 and 5 and print a line for each.
	if ok, parts := strings.Count(out, " ... ok\n"), strings.Count(out, "Ok(())\n"); ok < 3 || parts < 23 {
		t.Errorf("%d tests and %d parts of tests passed, want 3 and 23", ok, parts)
	}
}

// copyOf copies the source of a crate that Cargo.lock names into the cache, where its path stays the same, so that cargo compiles it once.
func copyOf(t *testing.T, name string) string {
	t.Helper()
	var metadata struct {
		Packages []struct {
			Name, Version string
			Manifest      string `json:"manifest_path"`
		}
	}
	if err := json.Unmarshal([]byte(cargo(t, nil, "metadata", "--locked", "--format-version", "1")), &metadata); err != nil {
		t.Fatalf("read cargo's metadata: %v", err)
	}
	for _, p := range metadata.Packages {
		if p.Name != name {
			continue
		}
		dir := cache(t, "cargo-"+name+"-"+p.Version)
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			copyDir(t, dir, filepath.Dir(p.Manifest))
		}
		return dir
	}
	t.Fatalf("Cargo.lock does not name %s", name)
	return ""
}

// copyDir copies a directory beside its place and renames it when it is complete; another process may do the same.
func copyDir(t *testing.T, target, source string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		t.Fatalf("make the cache: %v", err)
	}
	half, err := os.MkdirTemp(filepath.Dir(target), "cargo-")
	if err != nil {
		t.Fatalf("make the cache: %v", err)
	}
	defer os.RemoveAll(half)
	if err := os.CopyFS(half, os.DirFS(source)); err != nil {
		t.Fatalf("copy %s: %v", source, err)
	}
	if err := os.Rename(half, target); err != nil {
		if _, missing := os.Stat(target); missing != nil {
			t.Fatalf("keep %s: %v", target, err)
		}
	}
}
