package compat

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"minibus/compat-tests/harness"
)

const (
	hostsBegin = "# begin of Minibus: minibus hosts --remove takes this out\n"
	hostsEnd   = "# end of Minibus\n"
	shopHosts  = hostsBegin + "127.0.0.1 shop.servicebus.windows.net\n" + hostsEnd
)

// hostsCommand runs minibus hosts and returns its output, all without what the environment says of Minibus.
func hostsCommand(t *testing.T, args ...string) (out, failure string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), harness.Binary(t), append([]string{"hosts"}, args...)...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), stderr.String()
	}
	return stdout.String(), ""
}

// wantHosts runs minibus hosts, which must succeed, and returns its output.
func wantHosts(t *testing.T, args ...string) string {
	t.Helper()
	out, failure := hostsCommand(t, args...)
	if failure != "" {
		t.Fatalf("minibus hosts %q: %s", args, failure)
	}
	return out
}

func writeText(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // as a hosts file is
		t.Fatal(err)
	}
	return path
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("the file has\n%q, want\n%q", got, want)
	}
}

func TestHostsPrints(t *testing.T) {
	t.Parallel()
	config := filepath.Join(t.TempDir(), "Config.json")
	text := `{"UserConfig": {"Namespaces": [
		{"Name": "Shop-1", "Aliases": ["bus.example.org"], "Queues": [{"Name": "q"}]}, {"Name": "depot-1", "Queues": [{"Name": "q"}]}],
		"Logging": {"Type": "File"}}}`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{nil, hostsBegin + "127.0.0.1 sbemulatorns.servicebus.windows.net\n" + hostsEnd},
		{[]string{"shop", "SHOP", "--host", "all"}, shopHosts},
		{[]string{"shop.servicebus.chinacloudapi.cn", "--host", "127.0.0.2"}, hostsBegin + "127.0.0.2 shop.servicebus.chinacloudapi.cn\n" + hostsEnd},
		{
			[]string{"--config", config, "extra"},
			hostsBegin + "127.0.0.1 bus.example.org\n127.0.0.1 depot-1.servicebus.windows.net\n127.0.0.1 extra.servicebus.windows.net\n" +
				"127.0.0.1 shop-1.servicebus.windows.net\n" + hostsEnd,
		},
		{
			[]string{"--compose", "shop", "depot-1"},
			"# for the service \"servicebus\": docker compose -f compose.yaml -f THIS-FILE up\n" +
				"services:\n  servicebus:\n    networks:\n      default:\n        aliases:\n" +
				"          - depot-1.servicebus.windows.net\n          - shop.servicebus.windows.net\n",
		},
	} {
		if got := wantHosts(t, tt.args...); got != tt.want {
			t.Errorf("minibus hosts %q prints\n%s, want\n%s", tt.args, got, tt.want)
		}
	}
}

// Nothing but the block changes: other lines, comments, the kind of lines, a link to the file, its permissions.
func TestHostsChangesItsBlockOnly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ before, written, removed string }{
		"empty":          {"", shopHosts, ""},
		"without an end": {"127.0.0.1 localhost", "127.0.0.1 localhost\n" + shopHosts, "127.0.0.1 localhost\n"},
		"Windows": {
			"# a\r\n127.0.0.1\tlocalhost\r\n", "# a\r\n127.0.0.1\tlocalhost\r\n" + strings.ReplaceAll(shopHosts, "\n", "\r\n"), "# a\r\n127.0.0.1\tlocalhost\r\n",
		},
		"in the middle": {
			"::1 a\n" + hostsBegin + "127.0.0.1 shop.servicebus.windows.net # mine\n" + hostsEnd + "\n::1 b\n",
			"::1 a\n" + shopHosts + "\n::1 b\n", "::1 a\n\n::1 b\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := writeText(t, tt.before)
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(path, link); err != nil {
				t.Fatal(err)
			}
			wantHosts(t, "--write", "--file", link, "shop")
			wantText(t, path, tt.written)
			if out := wantHosts(t, "--write", "--file", link, "shop"); !strings.Contains(out, "nothing to change") {
				t.Errorf("the second time it says %q", out)
			}
			wantText(t, path, tt.written)
			wantHosts(t, "--remove", "--file", link, "shop")
			wantText(t, path, tt.removed)
			wantHosts(t, "--remove", "--file", link)
			wantText(t, path, tt.removed)
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
				t.Errorf("the permissions are %v, %v", info.Mode(), err)
			}
		})
	}
}

// Namespaces of several projects are in one block: each adds and removes its own.
func TestHostsOfSeveralProjects(t *testing.T) {
	t.Parallel()
	path := writeText(t, "")
	wantHosts(t, "--write", "--file", path, "shop")
	wantHosts(t, "--write", "--file", path, "--host", "127.0.0.2", "depot-1")
	both := hostsBegin + "127.0.0.2 depot-1.servicebus.windows.net\n127.0.0.1 shop.servicebus.windows.net\n" + hostsEnd
	wantText(t, path, both)
	wantHosts(t, "--remove", "--file", path, "depot-1", "unknown")
	wantText(t, path, shopHosts)
	wantHosts(t, "--write", "--file", path, "--host", "127.0.0.3", "shop")
	wantText(t, path, strings.ReplaceAll(shopHosts, "127.0.0.1", "127.0.0.3"))
	wantHosts(t, "--write", "--file", path, "depot-1")
	wantHosts(t, "--remove", "--file", path)
	wantText(t, path, "")
}

// A command that is refused changes nothing and says what to do.
func TestHostsRefuses(t *testing.T) {
	t.Parallel()
	other := "# x\n10.0.0.5 db Shop.servicebus.windows.net\n"
	for name, tt := range map[string]struct {
		file string
		args []string
		want string
	}{
		"a line outside": {other, []string{"--write", "shop"}, "line 2 gives shop.servicebus.windows.net the address 10.0.0.5: take that out first"},
		"below the block": {
			shopHosts + other, []string{"--write", "shop"}, "line 5 gives shop.servicebus.windows.net the address 10.0.0.5",
		},
		"a block without an end":  {"::1 a\n" + hostsBegin + "::1 b\n", []string{"--remove"}, "begins in line 2 and has no end"},
		"two blocks":              {shopHosts + shopHosts, []string{"--remove"}, "line 4 begins a second block of Minibus"},
		"no name":                 {"", []string{"--write", "a b"}, `"a b" is neither the name of a namespace nor a host`},
		"a line in a name":        {"", []string{"--write", "a\n10.0.0.1"}, "is neither the name of a namespace nor a host"},
		"a configuration as name": {"", []string{"--write", "Config.json"}, "minibus hosts --config Config.json"},
		"no configuration":        {"", []string{"--write", "--config", "missing.json"}, "missing.json"},
		"both":                    {"", []string{"--write", "--remove"}, "cannot be combined"},
		"compose":                 {"", []string{"--write", "--compose"}, "leave out --write and --remove"},
		"neither":                 {"", []string{"shop"}, "say --write or --remove too"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := writeText(t, tt.file)
			if out, failure := hostsCommand(t, append(tt.args, "--file", path)...); !strings.Contains(failure, tt.want) || out != "" || strings.Count(failure, "\n") > 1 {
				t.Errorf("it says %q and prints %q, want %q", failure, out, tt.want)
			}
			wantText(t, path, tt.file)
		})
	}
	for path, want := range map[string]string{
		t.TempDir():               "it is no file: name a hosts file with --file",
		"/nowhere/at/all/hosts":   "no such file or directory; correct --file",
		"/proc/sys/kernel/osname": "correct --file", // root may not write there either
	} {
		if _, failure := hostsCommand(t, "--write", "shop", "--file", path); !strings.Contains(failure, want) {
			t.Errorf("%s: it says %q, want %q", path, failure, want)
		}
	}
}

// In a container /etc/hosts is a mount, which can't be replaced. The test makes such a mount for the command alone, which finds the file
// without --file, and asks the system for the host.
func TestHostsInAContainer(t *testing.T) {
	t.Parallel()
	harness.NeedAll(t, "to mount a file")
	path := writeText(t, "127.0.0.1 localhost\n# a line that is longer than those that come: it must not stay behind\n")
	script := `mount --bind "$0" /etc/hosts && "$1" hosts --write --host 127.0.0.9 shop && getent ahostsv4 shop.servicebus.windows.net && "$1" hosts --remove`
	out, err := harness.Output(nil, "unshare", "--mount", "sh", "-c", script, path, harness.Binary(t))
	if err != nil {
		harness.Lack(t, "mount a file in a namespace: %v\n%s", err, out)
	}
	if !strings.Contains(out, "127.0.0.9") || !strings.Contains(out, "/etc/hosts now has") || !strings.Contains(out, "no host leads to Minibus any more") {
		t.Errorf("it prints\n%s", out)
	}
	wantText(t, path, "127.0.0.1 localhost\n# a line that is longer than those that come: it must not stay behind\n")
}
