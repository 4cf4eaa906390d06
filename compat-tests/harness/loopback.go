package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

var loopbacks atomic.Int64

// Loopback returns an address of this machine that no other test uses, so that ports which a client insists on are free there. Only
// Linux has more than one.
func Loopback() string {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d", pid>>8&0xff, pid&0xff, loopbacks.Add(1))
}

// Localhost returns an address of this machine that no other test uses, for a server whose clients insist on ports of localhost, and
// what makes a command run where localhost is that address. Where nobody may mount a file, the address is 127.0.0.1, for one test at a
// time.
func Localhost(t testing.TB) (address string, run func(program string, args ...string) (string, []string)) {
	t.Helper()
	if _, err := Output(nil, "unshare", "--mount", "true"); err != nil {
		t.Cleanup(Lock443(t))
		return "127.0.0.1", func(program string, args ...string) (string, []string) { return program, args }
	}
	address = Loopback()
	hosts := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(hosts, []byte(address+" localhost\n"), 0o644); err != nil { //nolint:gosec // as /etc/hosts is
		t.Fatalf("write hosts: %v", err)
	}
	return address, func(program string, args ...string) (string, []string) { return withHosts(hosts, program, args) }
}

// withHosts returns a command that runs a program with a hosts file of its own.
func withHosts(hosts, program string, args []string) (string, []string) {
	return "unshare", append([]string{"--mount", "sh", "-c", `mount --bind "$0" /etc/hosts && exec "$@"`, hosts, program}, args...)
}
