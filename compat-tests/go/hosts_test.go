package compat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

// TestHostsAreAppended to the hosts file by the command line that the output names, and asks the system for the host. A mount for that
// command alone is in the place of the system's file.
func TestHostsAreAppended(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to mount a file")
	const localhost = "127.0.0.1 localhost\n"
	path := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(path, []byte(localhost), 0o644); err != nil { //nolint:gosec // as a hosts file is
		t.Fatal(err)
	}
	script := `mount --bind "$0" /etc/hosts && "$1" hosts --host 127.0.0.9 shop | tee -a /etc/hosts && getent ahostsv4 shop.servicebus.windows.net`
	out, err := harness.Output(nil, "unshare", "--mount", "sh", "-c", script, path, harness.Binary(t))
	if err != nil {
		harness.Lack(t, "mount a file in a namespace: %v\n%s", err, out)
	}
	_, found, _ := strings.Cut(out, "# end of Minibus\n")
	if !strings.Contains(out, "minibus hosts shop --host 127.0.0.9 | sudo tee -a /etc/hosts\n") || !strings.Contains(found, "127.0.0.9") {
		t.Errorf("it prints\n%s", out)
	}
	if text, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(text), localhost+"# begin of Minibus") {
		t.Errorf("the file has\n%s, %v", text, err)
	}
}
